// The reducer of a Chat Completions stream: (state, chunk) → neutral events. It changes the state
// it is given and nothing else; bytes, lines and [DONE] are the reader's work.
import { isPlain } from '../../../../runtime/http/json-pieces.ts';
import type { FinishReason, ModelEvent } from '../../../model/events.ts';
import { addTo } from '../../../model/lists.ts';
import { sameUsage, type UsageReport } from '../../../model/usage.ts';
import { isMembers, type Members, wordOf } from '../../../transport/members.ts';
import { plainFailure } from '../../../transport/refusal.ts';
import type { ClientFormat } from '../contract.ts';
import { isEnding, isOpen, meaningOf } from '../endings.ts';
import { readLoosePart } from '../loose-parts.ts';
import { readAnnotations } from './annotations.ts';
import { streamFailure } from './failure.ts';
import { readStopSequence, reasonOf } from './finish.ts';
import { TurnMembers } from './returned.ts';
import { emptyToolCalls, endCalls, readToolCall, type ToolCallState } from './tool-calls.ts';
import { readUsage } from './usage.ts';

export interface ChatStreamState {
  started: boolean;
  /** The newest words are a text, which can be cited for. */
  worded: boolean;
  /** There is text, a refusal or a call. */
  answered: boolean;
  finished: boolean;
  /** What the choice has whose reason waits for what follows. */
  ending: Members | null;
  failed: boolean;
  streamId: string;
  toolCalls: ToolCallState;
  usage: UsageReport | null;
  /** Its client is shown members that only this format has. */
  readonly own: boolean;
  /** Its client was shown empty reasoning. */
  unreasoned: boolean;
  /** For a client of another format, which carries what the server wants back. */
  readonly turn: TurnMembers | null;
  /** Logprobs stand with the text that they are of: its client speaks Responses. */
  readonly scored: boolean;
}

/** `clientFormat`: whose answer it is. `server`: whose turn it is, for who carries it. */
export function emptyChatStream(clientFormat?: ClientFormat, server?: string): ChatStreamState {
  return {
    started: false,
    worded: false,
    answered: false,
    finished: false,
    ending: null,
    failed: false,
    streamId: 'stream',
    toolCalls: emptyToolCalls(server),
    usage: null,
    own: clientFormat === 'chat',
    unreasoned: false,
    turn: server === undefined ? null : new TurnMembers(server),
    scored: clientFormat === 'responses',
  };
}

/** Members that have an event of their own; `role` never changes. */
const deltaMembers: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'reasoning_content',
  'reasoning',
  'annotations',
]);
const choiceMembers: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'finish_reason']);

/** The text of a chunk that means one text delta and nothing else, once the stream has begun. */
export function soleText(chunk: unknown): string | null {
  if (!isMembers(chunk) || isSet(chunk.error) || isSet(chunk.usage)) return null;
  const { choices } = chunk;
  if (!Array.isArray(choices) || choices.length !== 1) return null;
  const choice: unknown = choices[0];
  if (!isMembers(choice) || !isMembers(choice.delta) || (choice.index ?? 0) !== 0) return null;
  for (const name in choice) {
    if (name !== 'index' && name !== 'delta' && isSet(choice[name])) return null;
  }
  const { delta } = choice;
  for (const name in delta) {
    if (name !== 'role' && name !== 'content' && !isIdle(name, delta[name])) return null;
  }
  return typeof delta.content === 'string' && delta.content !== '' ? delta.content : null;
}

/** Reads one parsed `data:` payload. */
export function readChunk(state: ChatStreamState, chunk: unknown): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (!isMembers(chunk)) return events;
  if (isSet(chunk.error)) {
    state.failed = true;
    events.push({ type: 'failure', failure: streamFailure(chunk.error) });
    return events;
  }
  const choices = Array.isArray(chunk.choices) ? chunk.choices : null;
  if (choices === null && !isMembers(chunk.usage)) return events;
  begin(state, chunk, events);
  for (const choice of choices ?? []) {
    if (isMembers(choice) && (choice.index ?? 0) === 0) readChoice(state, choice, events);
  }
  readUsageOnce(state, chunk.usage, events);
  return events;
}

/** Whether the end of the body is the end of the answer. */
export function isWhole({ finished, ending }: ChatStreamState): boolean {
  return finished || ending !== null;
}

/** What [DONE], or the end of a body after a finish reason, still has to say. */
export function endOfAnswer(state: ChatStreamState): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (state.finished) endCalls(state.toolCalls, false, state.streamId, events);
  else if (state.ending !== null) readEnd(state, state.ending, events);
  else finish(state, state.toolCalls.calls.length > 0 ? 'tool_calls' : 'stop', null, events);
  return events;
}

function finish(
  state: ChatStreamState,
  reason: FinishReason,
  stopSequence: string | null,
  events: ModelEvent[],
): void {
  state.finished = true;
  // Of an answer that was cut, the arguments may have been still to come.
  endCalls(state.toolCalls, reason === 'tool_calls', state.streamId, events);
  state.turn?.tell(false, events);
  events.push({ type: 'finish', reason, ...(stopSequence === null ? {} : { stopSequence }) });
}

function textEvent(text: string): ModelEvent & { type: 'text' } {
  return { type: 'text', text, plain: isPlain(text) };
}

function begin(state: ChatStreamState, chunk: Members, events: ModelEvent[]): void {
  if (state.started) return;
  state.started = true;
  if (typeof chunk.id === 'string') state.streamId = chunk.id.slice(0, 64);
  events.push({ type: 'start' });
}

function readChoice(state: ChatStreamState, choice: Members, events: ModelEvent[]): void {
  // A whole completion has `message` where a chunk has `delta`.
  const delta = isMembers(choice.delta) ? choice.delta : choice.message;
  const before = events.length;
  if (isMembers(delta)) readDelta(state, delta, events, state.scored ? scoresOf(choice) : null);
  const isShown = state.turn === null && isMembers(delta);
  const extraDelta = isShown ? membersBeside(delta, deltaMembers) : null;
  const extraChoice = membersBeside(choice, choiceMembers);
  if (extraDelta !== null || extraChoice !== null) {
    const isAlone = state.own && events.length === before && saysSomething(extraDelta);
    events.push({
      type: 'extra',
      format: 'chat',
      delta: extraDelta ?? {},
      choice: extraChoice ?? {},
      ...(isAlone ? { alone: true } : {}),
    });
  }
  const reason = reasonOf(choice);
  if (state.finished || !isEnding(reason)) return;
  if (isOpen(reason, { called: state.toolCalls.calls.length > 0 })) state.ending = choice;
  else readEnd(state, choice, events);
}

/** Some servers tell in the choice what went wrong. */
function readEnd(state: ChatStreamState, choice: Members, events: ModelEvent[]): void {
  const called = state.toolCalls.calls.length > 0;
  const told = reasonOf(choice);
  const reason = meaningOf(told, { called, answered: state.answered || called });
  if (reason !== 'failed') {
    finish(state, reason, readStopSequence(choice), events);
    return;
  }
  state.failed = true;
  const failure = isMembers(choice.error)
    ? streamFailure(choice.error)
    : plainFailure('cut', `the answer ended with ${wordOf(told)}`);
  events.push({ type: 'failure', failure });
}

function readDelta(
  state: ChatStreamState,
  delta: Members,
  events: ModelEvent[],
  logprobs: unknown[] | null,
): void {
  const reasoning = stringOf(delta.reasoning_content);
  const named = stringOf(delta.reasoning);
  if (reasoning !== '') events.push({ type: 'reasoning', text: reasoning });
  else if (named !== '') events.push({ type: 'reasoning', text: named, member: 'reasoning' });
  if (reasoning + named !== '') state.worded = false;
  else if (delta.reasoning_content === '') emptyReasoning(state, events);
  if (Array.isArray(delta.content)) readParts(state, delta.content, events);
  const text = stringOf(delta.content);
  const isCall = isMembers(delta.function_call) || listed(delta.tool_calls).length > 0;
  const refusal = stringOf(delta.refusal);
  if (state.turn !== null) {
    state.turn.add(delta);
    if (isCall || text + refusal !== '') state.turn.tell(isCall, events);
  }
  if (text !== '') {
    state.worded = true;
    state.answered = true;
    const event = textEvent(text);
    events.push(logprobs === null ? event : { ...event, logprobs });
  }
  const { annotations } = delta;
  if (Array.isArray(annotations)) addTo(events, readAnnotations(annotations, state.worded));
  if (refusal !== '') {
    state.answered = true;
    events.push({ type: 'refusal', text: refusal });
  }
  if (isCall || refusal !== '') state.worded = false;
  for (const fragment of listed(delta.tool_calls)) {
    readToolCall(state.toolCalls, fragment, state.streamId, events);
  }
  if (isMembers(delta.function_call)) {
    const fragment = { index: -1, function: delta.function_call };
    readToolCall(state.toolCalls, fragment, state.streamId, events);
  }
}

/** Servers want it back with a call where it was empty, too: a client of the format is shown so. */
function emptyReasoning(state: ChatStreamState, events: ModelEvent[]): void {
  if (!state.own || state.unreasoned) return;
  state.unreasoned = true;
  events.push({ type: 'extra', format: 'chat', delta: { reasoning_content: '' }, choice: {} });
}

/** Logprobs as Responses has them: every token has its bytes there. Null: none were told. */
function scoresOf({ logprobs }: Members): unknown[] | null {
  const content = isMembers(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : [];
  const scores = content.filter(isMembers).map(({ top_logprobs: top, ...score }) => ({
    ...withBytes(score),
    top_logprobs: Array.isArray(top) ? top.filter(isMembers).map(withBytes) : [],
  }));
  return scores.length === 0 ? null : scores;
}

function withBytes(score: Members): Members {
  const bytes = score.bytes ?? [...Buffer.from(stringOf(score.token))];
  return { ...score, bytes };
}

function readUsageOnce(state: ChatStreamState, reported: unknown, events: ModelEvent[]): void {
  const usage = readUsage(reported);
  if (usage === null || (state.usage !== null && sameUsage(usage, state.usage))) return;
  state.usage = usage;
  events.push({ type: 'usage', usage });
}

/** Content is a string, or with some servers a list of parts. */
function readParts(state: ChatStreamState, parts: readonly unknown[], events: ModelEvent[]): void {
  for (const part of parts) {
    const read = readLoosePart(part);
    if (read.type === 'unread') {
      events.push(read);
      continue;
    }
    const { type, text } = read;
    if (type === 'reasoning' && isMembers(part)) state.turn?.addThought(part);
    if (text === '') continue;
    state.worded = type === 'text';
    if (type === 'reasoning') events.push({ type, text });
    else {
      state.answered = true;
      state.turn?.tell(false, events);
      events.push(type === 'text' ? textEvent(text) : { type, text });
    }
  }
}

function membersBeside(members: Members, known: ReadonlySet<string>): Members | null {
  let beside: Members | null = null;
  for (const name of Object.keys(members)) {
    const value = members[name];
    if (known.has(name) || !isSet(value) || name === '__proto__') continue;
    beside ??= {};
    beside[name] = value;
  }
  return beside;
}

/** Pictures and thinking in members of servers' own are lists or objects; marks are words. */
function saysSomething(extra: Members | null): boolean {
  return Object.values(extra ?? {}).some(
    (value) => typeof value === 'object' && value !== null && Object.keys(value).length > 0,
  );
}

/** A member that gives no event: unset, or a known one that is empty. */
function isIdle(name: string, value: unknown): boolean {
  if (!isSet(value)) return true;
  return deltaMembers.has(name) && (value === '' || (Array.isArray(value) && value.length === 0));
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : none;
}

const none: readonly unknown[] = [];

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
