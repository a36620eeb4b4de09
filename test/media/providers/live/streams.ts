// What the tests of both live families do to a stream: unknown members and messages, repetitions,
// other kinds of frames. None of it may change what a session hears.
import type { LiveCodec, LiveEvent, LiveSetup } from '../../../../media/providers/live/contract.ts';

export type Message = Record<string, unknown>;

export const plainSetup: LiveSetup = {
  instructions: 'Be brief.',
  voice: 'marin',
  context: [],
  tools: [],
};

/** A tone is as good as any audio: `length` samples that no other seed gives. */
export function pcm(seed: number, length = 240): Buffer {
  const bytes = Buffer.alloc(length * 2);
  for (let index = 0; index < length; index += 1) {
    bytes.writeInt16LE(((index * 7919 + seed * 104_729) % 60_001) - 30_000, index * 2);
  }
  return bytes;
}

export function asText(message: Message): string {
  return JSON.stringify(message);
}

/** Members that no version of the format has, at every level. */
export function withUnknownMembers(message: Message): Message {
  return withExtras(message) as Message;
}

function withExtras(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withExtras);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, withExtras(member)] as const);
  return { x_new: { a: [1, null, 'é"\\'] }, ...Object.fromEntries(entries), x_last: 1.5e3 };
}

/** Audio by its bytes in hex, so that differences are readable. */
export function summary(events: readonly LiveEvent[]): unknown[] {
  return events.map((event) =>
    event.type === 'audio' ? { ...event, pcm: Buffer.from(event.pcm).toString('hex') } : event,
  );
}

export function readAll(codec: LiveCodec, frames: readonly (string | Uint8Array)[]) {
  const read = frames.map((frame) => codec.read(frame));
  return {
    events: summary(read.flatMap(({ events }) => events)),
    replies: read.flatMap(({ replies }) => [...replies]),
  };
}

export function parsed(messages: readonly string[]): Message[] {
  return messages.map((message) => JSON.parse(message) as Message);
}
