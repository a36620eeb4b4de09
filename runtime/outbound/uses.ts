// Every use of the outbound guard on one screen: what may be fetched, how much of it and how long.
// A new use is a constant here. It can only be narrower than the guard, which a test sees to.
import type { OutboundUse } from './contract.ts';

const MIB = 1_048_576;

export const outboundUses = {
  /** A finished video, from its provider's host or `media_hosts`. */
  generatedVideo: { name: 'generated_video', bytesMax: 256 * MIB, totalMs: 120_000 },
  /** A video on the web that a user wants described. */
  analysedSource: { name: 'analysed_source', bytesMax: 256 * MIB, totalMs: 120_000 },
  /** A page that somebody wants a reward for; read by code and shown to a model. */
  rewardPage: {
    name: 'reward_page',
    bytesMax: 512 * 1_024,
    totalMs: 15_000,
    schemes: 'https',
    redirectsMax: 3,
  },
  /** What an app says about itself at its client id; read before a person is asked. */
  clientDocument: {
    name: 'client_document',
    bytesMax: 5 * 1_024,
    totalMs: 5_000,
    schemes: 'https',
    redirectsMax: 0,
  },
  /** A remote MCP server that a person added: today its URL is judged, and nothing is asked. */
  mcpServer: {
    name: 'mcp_server',
    bytesMax: 2 * MIB,
    totalMs: 30_000,
    schemes: 'https',
    ports: 'high',
    redirectsTo: 'same_origin',
  },
} as const satisfies Record<string, OutboundUse>;
