// What a server of this format says of its turn besides words and calls. A client of another format
// is told of it once, in front of what follows. It goes back in the members that it came in.
import type { ModelEvent } from '../../../model/events.ts';
import { mergeExtra } from '../../../model/extra.ts';
import { grown } from '../../../model/flat.ts';
import type { Message } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';

/** What has an event of its own, and what is shown: nobody wants it back. */
const shown: ReadonlySet<string> = new Set([
  '__proto__',
  'annotations',
  'audio',
  'citations',
  'content',
  'function_call',
  'images',
  'logprobs',
  'prompt_token_ids',
  'refusal',
  'role',
  'search_results',
  'token_ids',
  'tool_calls',
  'videos',
]);
/** Words by which servers name what is to come back. Of other members words are mere marks. */
const wanted = /reason|think|thought|signature|encrypted|opaque/;
/** Characters of JSON: a client sends all of its turns again, in requests of a few MiB. */
const charactersMax = 1_048_576;

export class TurnMembers {
  readonly server: string;
  #members: Members = {};
  /** There is more than empty words. */
  #says = false;
  /** Something was told of this turn. */
  #told = false;

  /** `server`: see `serverName`. */
  constructor(server: string) {
    this.server = server;
  }

  /** A delta of the message, or all of it. */
  add(delta: Members): void {
    for (const name of Object.keys(delta)) {
      const value = delta[name];
      if (shown.has(name) || value === null || value === undefined) continue;
      if (typeof value === 'string') this.#addWords(name, value);
      else if (typeof value === 'object' && Object.keys(value).length > 0) {
        mergeExtra(this.#members, { [name]: value });
        this.#says = true;
      }
    }
  }

  /** A part of the content that is a thought: servers that think in parts take them back so. */
  addThought(part: Members): void {
    this.#members.content ??= [];
    const parts = this.#members.content as Members[];
    const last = parts.at(-1);
    if (last !== undefined && last.type === part.type)
      parts[parts.length - 1] = joinedThought(last, part);
    else parts.push({ ...part });
    this.#says = true;
  }

  /**
   * Something else follows, or the answer ends. Servers that want reasoning back with their calls
   * want it too where it was empty: `called` tells that a call follows.
   */
  tell(called: boolean, events: ModelEvent[]): void {
    const isWanted = called && !this.#told && Object.keys(this.#members).length > 0;
    if (!this.#says && !isWanted) return;
    const members = this.#members;
    this.#members = {};
    this.#says = false;
    this.#told = true;
    if (JSON.stringify(members).length > charactersMax) return;
    events.push({ type: 'reasoning_end', format: 'chat', value: { server: this.server, members } });
  }

  #addWords(name: string, words: string): void {
    if (!wanted.test(name)) return;
    const before = this.#members[name];
    this.#members[name] = typeof before === 'string' ? grown(before, words) : words;
    if (words !== '') this.#says = true;
  }
}

/** One thought of two that follow each other: their words grow, the rest is that of the last. */
function joinedThought(before: Members, part: Members): Members {
  const joined = { ...before };
  for (const [name, value] of Object.entries(part)) {
    const known = before[name];
    if (name === '__proto__' || value === null) continue;
    if (Array.isArray(known) && Array.isArray(value)) joined[name] = joinedTexts(known, value);
    else if (writtenMembers.has(name) && typeof known === 'string') {
      joined[name] = grown(known, String(value));
    } else joined[name] = value;
  }
  return joined;
}

const writtenMembers: ReadonlySet<string> = new Set(['reasoning', 'text', 'thinking']);

function joinedTexts(before: readonly unknown[], added: readonly unknown[]): unknown[] {
  const joined = [...before];
  for (const one of added) {
    const last = joined.at(-1);
    const isWritten = isMembers(last) && isMembers(one) && last.type === one.type;
    if (isWritten && typeof last.text === 'string' && typeof one.text === 'string') {
      joined[joined.length - 1] = { ...last, ...one, text: grown(last.text, one.text) };
    } else joined.push(one);
  }
  return joined;
}

/** Thoughts stand in front of the words. */
function withThoughts(thoughts: readonly unknown[], content: unknown): unknown[] {
  if (Array.isArray(content)) return [...thoughts, ...content];
  const isWorded = typeof content === 'string' && content !== '';
  return isWorded ? [...thoughts, { type: 'text', text: content }] : [...thoughts];
}

/** Writes into a message what the server wants back with it, in as many parts as it was told. */
export function giveBack({ returned = [] }: Message, server: string, encoded: Members): void {
  const thoughts: unknown[] = [];
  for (const { server: owner, members } of returned) {
    if (owner !== server) continue;
    for (const [name, value] of Object.entries(members)) {
      const before = encoded[name];
      if (name === 'content') {
        if (Array.isArray(value)) thoughts.push(...(value as unknown[]));
      } else if (typeof before === 'string' && typeof value === 'string')
        encoded[name] = before + value;
      else mergeExtra(encoded, { [name]: value });
    }
  }
  if (thoughts.length > 0) encoded.content = withThoughts(thoughts, encoded.content);
}
