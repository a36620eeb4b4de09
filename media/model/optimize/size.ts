// What messages weigh, by the same rule as the estimate that holds are made of: bytes / 4, and 4 a
// message. Parts that are no text weigh nothing here, for the optimizer never changes them.
import { Buffer } from 'node:buffer';
import type { Message } from '../request.ts';

const BYTES_PER_TOKEN = 4;
const BYTES_PER_MESSAGE = 4 * BYTES_PER_TOKEN;

/** UTF-8 bytes of text and tool calls, and 16 for the message itself. */
export function messageBytes(message: Message): number {
  let bytes = BYTES_PER_MESSAGE;
  for (const part of message.parts) if (part.type === 'text') bytes += Buffer.byteLength(part.text);
  for (const call of message.toolCalls) {
    bytes += Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments);
  }
  return bytes;
}

export function bytesOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageBytes(message), 0);
}

export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Characters of text: what decides whether a thread has to do it. Costs no pass over the text. */
export function textCharacters(messages: readonly Message[]): number {
  let characters = 0;
  for (const { parts, toolCalls } of messages) {
    for (const part of parts) if (part.type === 'text') characters += part.text.length;
    for (const call of toolCalls) characters += call.arguments.length;
  }
  return characters;
}
