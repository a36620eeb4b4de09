// The conversation of one Realtime session: items in order, and the tokens that each counts.
import { countWords } from '../answer.ts';
import { isMembers, type Members, membersOf } from '../members.ts';
import { invalidValue, missingParameter, type RealtimeError } from './failure.ts';

export interface Item {
  id: string;
  /** As it goes out; bytes of audio are never in it. */
  body: Members;
  textTokens: number;
  audioTokens: number;
  /** Of an answer: audio that was sent. Null: not an answer that speaks. */
  audioMs: number | null;
}

export class Conversation {
  readonly #items: Item[] = [];

  /** Id of the item before the one that is added next. */
  get lastId(): string | null {
    return this.#items.at(-1)?.id ?? null;
  }

  get textTokens(): number {
    return this.#items.reduce((sum, item) => sum + item.textTokens, 0);
  }

  get audioTokens(): number {
    return this.#items.reduce((sum, item) => sum + item.audioTokens, 0);
  }

  find(id: unknown): Item | null {
    return this.#items.find((item) => item.id === id) ?? null;
  }

  /** `after`: an id; `root` for the start; null for the end. The id before it, or undefined. */
  add(item: Item, after: string | null = null): string | null | undefined {
    if (after === null) {
      const last = this.lastId;
      this.#items.push(item);
      return last;
    }
    const at = after === 'root' ? 0 : this.#items.findIndex(({ id }) => id === after) + 1;
    if (at === 0 && after !== 'root') return undefined;
    this.#items.splice(at, 0, item);
    return this.#items[at - 1]?.id ?? null;
  }

  remove(id: unknown): boolean {
    const at = this.#items.findIndex((item) => item.id === id);
    if (at >= 0) this.#items.splice(at, 1);
    return at >= 0;
  }

  /** Name of the call that an output belongs to, or null. */
  callOf(callId: unknown): string | null {
    const call = this.#items.find(
      ({ body }) => body.type === 'function_call' && body.call_id === callId,
    );
    return typeof call?.body.name === 'string' ? call.body.name : null;
  }
}

const contentTypes: Readonly<Record<string, readonly string[]>> = {
  system: ['input_text'],
  user: ['input_text'],
  assistant: ['output_text'],
};

/** An item that the client sends; the id is the client's if it gave one. */
export function readItem(
  value: unknown,
  freshId: () => string,
  conversation: Conversation,
): Item | { error: RealtimeError } {
  if (!isMembers(value)) return { error: missingParameter('item') };
  const id = typeof value.id === 'string' && value.id !== '' ? value.id : freshId();
  if (conversation.find(id) !== null) return { error: invalidValue('item.id', 'a fresh id') };
  const base = { id, object: 'realtime.item', type: value.type, status: 'completed' };
  if (value.type === 'message') return readMessage(value, base);
  if (value.type === 'function_call_output') {
    const { call_id: callId, output } = value;
    if (typeof output !== 'string') return { error: invalidValue('item.output', 'a string') };
    if (conversation.callOf(callId) === null) {
      return { error: invalidValue('item.call_id', 'the call_id of a function call') };
    }
    return plain(id, { ...base, call_id: callId, output }, countWords(output));
  }
  if (value.type === 'function_call') {
    const { name, arguments: written, call_id: callId } = value;
    if (typeof name !== 'string') return { error: invalidValue('item.name', 'a string') };
    if (typeof written !== 'string') return { error: invalidValue('item.arguments', 'a string') };
    const body = { ...base, name, arguments: written, call_id: callId };
    return plain(id, body, callTokensOf(name, written));
  }
  return {
    error: invalidValue('item.type', "'message', 'function_call' or 'function_call_output'"),
  };
}

/** One for each word of the name and the arguments. */
export function callTokensOf(name: string, argumentText: string): number {
  return countWords(name) + countWords(argumentText);
}

function plain(id: string, body: Members, textTokens: number): Item {
  return { id, body, textTokens, audioTokens: 0, audioMs: null };
}

function readMessage(value: Members, base: Members): Item | { error: RealtimeError } {
  const allowed = contentTypes[String(value.role)];
  if (allowed === undefined) {
    return { error: invalidValue('item.role', "'system', 'user' or 'assistant'") };
  }
  const content = membersOf(value.content);
  if (content.length === 0) return { error: invalidValue('item.content', 'a non-empty array') };
  const at = content.findIndex(
    (part) => !allowed.includes(String(part.type)) || typeof part.text !== 'string',
  );
  if (at >= 0) {
    return { error: invalidValue(`item.content[${at}].type`, `'${allowed.join("' or '")}'`) };
  }
  const body = { ...base, role: value.role, content };
  return plain(String(base.id), body, countWords(textOf(content)));
}

export function textOf(content: readonly Members[]): string {
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join(' ');
}
