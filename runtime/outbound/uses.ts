// Every use of the outbound guard on one screen: what may be fetched, how much of it and how long.
// A new use is a constant here. It can only be narrower than the guard, which a test sees to.
import type { OutboundUse } from './contract.ts';

const MIB = 1_048_576;

export const outboundUses = {
  /** A finished video, from its provider's host or `media_hosts`. */
  generatedVideo: { name: 'generated_video', bytesMax: 256 * MIB, totalMs: 120_000 },
  /** A video on the web that a user wants described. */
  analysedSource: { name: 'analysed_source', bytesMax: 256 * MIB, totalMs: 120_000 },
} as const satisfies Record<string, OutboundUse>;
