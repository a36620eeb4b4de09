// Names of tools as a provider takes them. One that it refuses is shortened, its characters are
// replaced, and a hash of all of it stands at its end. So the same name is always told in the same
// way, and two that begin alike stay two.
import { createHash } from 'node:crypto';
import type { ModelEvent } from '../../../model/events.ts';
import type { GenerationRequest, Message } from '../../../model/request.ts';

export interface NameRule {
  /** What is taken as it is. */
  taken: RegExp;
  /** A character that is not. */
  foreign: RegExp;
  /** What the first character may be; left out: as the others. */
  first?: RegExp;
  lengthMax: number;
}

/** Chat Completions and Responses (their reference: `function.name`). */
export const openaiNames: NameRule = {
  taken: /^[a-zA-Z0-9_-]{1,64}$/,
  foreign: /[^a-zA-Z0-9_-]/g,
  lengthMax: 64,
};

/** Messages (its reference: `tools.name`). */
export const messagesNames: NameRule = {
  taken: /^[a-zA-Z0-9_-]{1,128}$/,
  foreign: /[^a-zA-Z0-9_-]/g,
  lengthMax: 128,
};

/** Gemini's reference says 128; its servers have refused what is longer than 64. */
export const geminiNames: NameRule = {
  taken: /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/,
  foreign: /[^A-Za-z0-9_.:-]/g,
  first: /^[A-Za-z_]/,
  lengthMax: 64,
};

/** The names that are told in another form, and by it again. */
export interface NameMap {
  readonly told: ReadonlyMap<string, string>;
  readonly meant: ReadonlyMap<string, string>;
}

const hashLength = 8;

/** Null: every name of the request, of its history too, is taken as it is. */
export function namesFor(request: GenerationRequest, rule: NameRule): NameMap | null {
  let odd: Set<string> | null = null;
  const look = (name: string) => {
    if (rule.taken.test(name)) return;
    odd ??= new Set();
    odd.add(name);
  };
  for (const { name } of request.tools) look(name);
  for (const { toolCalls } of request.messages) for (const { name } of toolCalls) look(name);
  const { toolChoice } = request;
  if (typeof toolChoice === 'object' && toolChoice !== null) look(toolChoice.name);
  return odd === null ? null : mapOf(odd, new Set(request.tools.map(({ name }) => name)), rule);
}

function mapOf(odd: ReadonlySet<string>, taken: Set<string>, rule: NameRule): NameMap {
  const told = new Map<string, string>();
  const meant = new Map<string, string>();
  for (const name of odd) {
    let short = shortened(name, rule, 0);
    for (let more = 1; taken.has(short); more += 1) short = shortened(name, rule, more);
    taken.add(short);
    told.set(name, short);
    meant.set(short, name);
  }
  return { told, meant };
}

/** `more`: that of how many names it must not be. */
function shortened(name: string, rule: NameRule, more: number): string {
  const hash = createHash('sha256').update(name).update('+'.repeat(more)).digest('hex');
  const clean = name.replace(rule.foreign, '_');
  const begun = rule.first?.test(clean) === false ? `_${clean}` : clean;
  return `${begun.slice(0, rule.lengthMax - hashLength - 1)}_${hash.slice(0, hashLength)}`;
}

/** The request with the names that are told. */
export function withNames(request: GenerationRequest, { told }: NameMap): GenerationRequest {
  const { tools, toolChoice, messages } = request;
  const isChosen = typeof toolChoice === 'object' && toolChoice !== null;
  return {
    ...request,
    tools: tools.map((tool) => renamed(tool, told)),
    toolChoice: isChosen ? renamed(toolChoice, told) : toolChoice,
    messages: messages.map((message): Message => {
      const { toolCalls } = message;
      if (!toolCalls.some(({ name }) => told.has(name))) return message;
      return { ...message, toolCalls: toolCalls.map((call) => renamed(call, told)) };
    }),
  };
}

function renamed<T extends { name: string }>(named: T, names: ReadonlyMap<string, string>): T {
  const name = names.get(named.name);
  return name === undefined ? named : { ...named, name };
}

/** The events of an answer with the names that the client gave. Changes the events themselves. */
export function tellMeant(events: ModelEvent[], { meant }: NameMap): ModelEvent[] {
  for (const event of events) {
    if (event.type === 'tool_call') event.name = meant.get(event.name) ?? event.name;
  }
  return events;
}
