// Tool-call fragments of a stream → neutral calls in order of appearance. Servers leave indexes
// out, repeat them for different calls, repeat ids, or send the name in pieces; so a call is opened
// only when its arguments begin, or when nothing can follow any more.
import type { ModelEvent } from '../../../model/events.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { uniqueId } from '../call-ids.ts';

interface Call {
  id: string | null;
  name: string;
  opened: boolean;
  /** Some of its arguments were reported. */
  told: boolean;
  /** Its arguments are free text, whose end is told once. */
  custom: boolean;
  ended: boolean;
  /** Members that only this format has, as far as they came before it was opened. */
  own: Members | null;
}

export interface ToolCallState {
  calls: Call[];
  /** Positions of the last call with an index, and with an id: an answer may have thousands. */
  byIndex: Map<number, number>;
  byId: Map<string, number>;
  /** How many calls, from the first on, were reported. */
  openedCount: number;
  /** Ids that they were reported with. */
  given: Set<string>;
  /** The server's name, where the client carries what it wants back with its calls. */
  server: string | null;
}

export function emptyToolCalls(server: string | null = null): ToolCallState {
  return {
    calls: [],
    byIndex: new Map(),
    byId: new Map(),
    openedCount: 0,
    given: new Set(),
    server,
  };
}

/** Reads one element of `delta.tool_calls`, or the old `delta.function_call` as `{function}`. */
export function readToolCall(
  state: ToolCallState,
  fragment: unknown,
  streamId: string,
  events: ModelEvent[],
): void {
  if (!isMembers(fragment)) return;
  const custom = isMembers(fragment.custom) ? fragment.custom : null;
  const called = custom ?? (isMembers(fragment.function) ? fragment.function : {});
  const name = typeof called.name === 'string' ? called.name : '';
  const text = argumentsText(custom === null ? called.arguments : called.input);
  const index = findCall(state, fragment, name);
  const call = state.calls[index];
  if (call === undefined) return;
  if (!call.opened) {
    if (name !== call.name) call.name += name;
    if (custom !== null) call.custom = true;
    keepOwn(call, fragment);
  }
  if (text === '') return;
  openCalls(state, index, streamId, events);
  call.told = true;
  events.push({ type: 'tool_arguments', index, text });
}

/**
 * Nothing can follow any more. `isWhole`: nothing was cut off, and a call without arguments takes
 * none, which is no JSON. They come right behind it: who tells many calls has ended it by then.
 */
export function endCalls(
  state: ToolCallState,
  isWhole: boolean,
  streamId: string,
  events: ModelEvent[],
): void {
  for (const [index, call] of state.calls.entries()) {
    openCalls(state, index, streamId, events);
    if (!isWhole) continue;
    if (call.custom) {
      if (!call.ended) events.push({ type: 'tool_end', index });
      call.ended = true;
    } else if (!call.told) events.push({ type: 'tool_arguments', index, text: '{}' });
    call.told = true;
  }
}

/** Opens every call up to this index that is not open yet. */
function openCalls(
  state: ToolCallState,
  lastIndex: number,
  streamId: string,
  events: ModelEvent[],
): void {
  for (; state.openedCount <= lastIndex; state.openedCount += 1) {
    const index = state.openedCount;
    const call = state.calls[index];
    if (call === undefined) return;
    call.opened = true;
    const named = call.id ?? nameCall(state, index, `call_${streamId}_${index}`);
    const id = uniqueId(state.given, named, index);
    const { name, own } = call;
    const event: ModelEvent = { type: 'tool_call', index, id, name };
    if (own !== null && state.server !== null) {
      event.returned = { server: state.server, members: own };
    } else if (own !== null) event.native = { format: 'chat', value: own };
    if (call.custom) event.freeText = true;
    events.push(event);
  }
}

/** Position of the call that the fragment belongs to; a new one is added when there is none. */
function findCall(state: ToolCallState, fragment: Members, name: string): number {
  const { calls } = state;
  const id = typeof fragment.id === 'string' && fragment.id !== '' ? fragment.id : null;
  const upstreamIndex = Number.isSafeInteger(fragment.index) ? (fragment.index as number) : null;
  const known =
    upstreamIndex === null ? findWithoutIndex(state, id) : (state.byIndex.get(upstreamIndex) ?? -1);
  const call = calls[known];
  // The same index with another id and a name is another call: some servers count every call as 0.
  const another = id !== null && call !== undefined && call.id !== null && call.id !== id;
  if (call !== undefined && !(another && name !== '')) {
    if (call.id === null && id !== null && !call.opened) nameCall(state, known, id);
    return known;
  }
  const added: Call = {
    id: null,
    name: '',
    opened: false,
    told: false,
    custom: false,
    ended: false,
    own: null,
  };
  const position = calls.push(added) - 1;
  if (upstreamIndex !== null) state.byIndex.set(upstreamIndex, position);
  if (id !== null) nameCall(state, position, id);
  return position;
}

function nameCall({ calls, byId }: ToolCallState, position: number, id: string): string {
  const call = calls[position];
  if (call !== undefined) call.id = id;
  byId.set(id, Math.max(position, byId.get(id) ?? 0));
  return id;
}

const knownMembers: ReadonlySet<string> = new Set([
  '__proto__',
  'custom',
  'function',
  'id',
  'index',
  'type',
]);

const functionMembers: ReadonlySet<string> = new Set(['__proto__', 'arguments', 'name']);

/** Some servers sign the call, others the function in it. */
function keepOwn(call: Call, fragment: Members): void {
  call.own = withOthers(call.own, fragment, knownMembers);
  if (!isMembers(fragment.function)) return;
  const before = isMembers(call.own?.function) ? call.own.function : null;
  const inner = withOthers(before, fragment.function, functionMembers);
  if (inner === null) return;
  call.own ??= {};
  call.own.function = inner;
}

function withOthers(
  before: Members | null,
  members: Members,
  known: ReadonlySet<string>,
): Members | null {
  let others = before;
  for (const name of Object.keys(members)) {
    const value = members[name];
    if (known.has(name) || value === null || value === undefined) continue;
    others ??= {};
    others[name] = value;
  }
  return others;
}

function findWithoutIndex({ calls, byId }: ToolCallState, id: string | null): number {
  return id === null ? calls.length - 1 : (byId.get(id) ?? -1);
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isMembers(value) ? JSON.stringify(value) : '';
}
