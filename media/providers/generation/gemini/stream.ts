// The reducer of a generateContent stream: (state, event) → neutral events. It changes the state it
// is given and nothing else. The format has no terminator: how the answer ended is known when the
// body has ended, as sources and usage may follow the finish reason.
import { randomBytes } from 'node:crypto';
import { isPlain } from '../../../../runtime/http/json-pieces.ts';
import type { ModelEvent } from '../../../model/events.ts';
import { sameUsage, type UsageReport } from '../../../model/usage.ts';
import { isMembers, type Members, wordOf } from '../../../transport/members.ts';
import { plainFailure } from '../../../transport/refusal.ts';
import type { ClientFormat } from '../contract.ts';
import { isEnding, meaningOf } from '../endings.ts';
import { unread } from '../loose-parts.ts';
import { errorOf, streamFailure } from './failure.ts';
import {
  addText,
  emptyGrounding,
  endGrounding,
  type GroundingState,
  readCitations,
  readGrounding,
  searchCalls,
  startText,
} from './grounding.ts';
import { readScores } from './scores.ts';
import { emptyToolCalls, readFunctionCall, type ToolCallState } from './tool-calls.ts';
import { countsOutput, readUsage } from './usage.ts';

export interface GeminiStreamState {
  started: boolean;
  failed: boolean;
  /** The last one seen: early models repeat STOP in every event. */
  finishReason: unknown;
  /** The prompt was refused: there will be no answer. */
  blocked: boolean;
  modelVersion: string;
  toolCalls: ToolCallState;
  grounding: GroundingState;
  inText: boolean;
  /** There is text or a call. */
  answered: boolean;
  /** As it came last, reported or not. */
  usageMetadata: unknown;
  usage: UsageReport | null;
  newId(): string;
  /** Whose answer it is: clients of OpenAI's formats are told logprobs. */
  readonly clientFormat: ClientFormat | undefined;
}

export function emptyGeminiStream(
  newId: () => string = randomIds(),
  clientFormat?: ClientFormat,
): GeminiStreamState {
  return {
    started: false,
    failed: false,
    finishReason: null,
    blocked: false,
    modelVersion: '',
    toolCalls: emptyToolCalls(),
    grounding: emptyGrounding(),
    inText: false,
    answered: false,
    usageMetadata: null,
    usage: null,
    newId,
    clientFormat,
  };
}

/** One random prefix for all calls of an answer, made when the first one needs it. */
function randomIds(): () => string {
  let prefix: string | null = null;
  return () => {
    prefix ??= `call_${randomBytes(12).toString('hex')}`;
    return prefix;
  };
}

/** Members of an event, of its candidate, and of a part that give no event beside a text. */
const silentMembers: ReadonlySet<string> = new Set(['modelVersion', 'responseId', 'createTime']);
const silentCandidateMembers: ReadonlySet<string> = new Set(['index', 'safetyRatings']);

/**
 * The text of an event that means one text delta and nothing else, once the stream has begun;
 * `counted`: but for running counts.
 */
export function soleText(event: unknown, counted = false): string | null {
  if (!isMembers(event)) return null;
  for (const name in event) {
    if (name === 'candidates' || silentMembers.has(name)) continue;
    if (!counted || name !== 'usageMetadata') return null;
  }
  const { candidates } = event;
  if (!Array.isArray(candidates) || candidates.length !== 1) return null;
  const candidate: unknown = candidates[0];
  if (!isMembers(candidate) || (candidate.index ?? 0) !== 0) return null;
  for (const name in candidate) {
    if (name !== 'content' && !silentCandidateMembers.has(name)) return null;
  }
  const { content } = candidate;
  if (!isMembers(content) || !Array.isArray(content.parts) || content.parts.length !== 1) {
    return null;
  }
  const part: unknown = content.parts[0];
  if (!isMembers(part) || typeof part.text !== 'string' || part.text === '') return null;
  return Object.keys(part).length === 1 ? part.text : null;
}

/** Reads one parsed `data:` payload. */
export function readEvent(state: GeminiStreamState, event: unknown): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (!isMembers(event)) return events;
  const error = errorOf(event);
  if (error !== null) {
    state.failed = true;
    events.push({ type: 'failure', failure: streamFailure(error) });
    return events;
  }
  const { candidates, promptFeedback, usageMetadata, modelVersion } = event;
  const isOurs = Array.isArray(candidates) || isMembers(promptFeedback) || isMembers(usageMetadata);
  if (!isOurs) return events;
  if (!state.started) {
    state.started = true;
    events.push({ type: 'start' });
  }
  if (typeof modelVersion === 'string') state.modelVersion = modelVersion;
  if (isMembers(promptFeedback) && isEnding(promptFeedback.blockReason)) state.blocked = true;
  for (const candidate of Array.isArray(candidates) ? candidates : []) {
    if (isMembers(candidate) && (candidate.index ?? 0) === 0) {
      readCandidate(state, candidate, events);
    }
  }
  if (isMembers(usageMetadata)) readCounts(state, usageMetadata, events);
  return events;
}

/** Running counts of an event. */
export function readCounts(
  state: GeminiStreamState,
  usageMetadata: Members,
  events: ModelEvent[],
): void {
  state.usageMetadata = usageMetadata;
  if (countsOutput(usageMetadata)) reportUsage(state, events);
}

/** A text delta that was recognised without reading its event. */
export function readText(state: GeminiStreamState, text: string, plain: boolean): ModelEvent {
  noteText(state, text);
  return { type: 'text', text, plain };
}

/** For what may cite it. */
export function noteText(state: GeminiStreamState, text: string): void {
  if (!state.inText) startText(state.grounding);
  state.inText = true;
  state.answered = true;
  addText(state.grounding, text);
}

/** Whether the end of the body is the end of the answer. */
export function isWhole(state: GeminiStreamState): boolean {
  return state.finishReason !== null || state.blocked;
}

/** What the end of a whole answer still has to say. */
export function endOfAnswer(state: GeminiStreamState): ModelEvent[] {
  const events: ModelEvent[] = [];
  endGrounding(state.grounding, events);
  reportUsage(state, events);
  const reason = state.finishReason ?? 'STOP';
  const called = state.toolCalls.count > 0;
  const meaning = meaningOf(reason, { called, answered: state.answered || called });
  const ended = state.blocked ? 'content_filter' : meaning;
  if (ended === 'failed') {
    state.failed = true;
    const failure = plainFailure('cut', `the answer ended with ${wordOf(reason)}`);
    events.push({ type: 'failure', failure });
    return events;
  }
  events.push({ type: 'finish', reason: ended });
  return events;
}

function readCandidate(state: GeminiStreamState, candidate: Members, events: ModelEvent[]): void {
  const { content, finishReason } = candidate;
  for (const part of isMembers(content) && Array.isArray(content.parts) ? content.parts : []) {
    if (isMembers(part)) readPart(state, part, events);
  }
  tellScores(state.clientFormat, candidate.logprobsResult, events);
  readGrounding(state.grounding, candidate.groundingMetadata, events);
  readCitations(state.grounding, candidate.citationMetadata, events);
  if (isEnding(finishReason)) state.finishReason = finishReason;
}

/** They are of the words of the same candidate: those of Responses stand with them. */
function tellScores(
  clientFormat: ClientFormat | undefined,
  result: unknown,
  events: ModelEvent[],
): void {
  const scores = readScores(result);
  const last = events.at(-1);
  if (scores === null || last?.type !== 'text') return;
  if (clientFormat === 'responses') last.logprobs = scores;
  if (clientFormat !== 'chat') return;
  const choice = { logprobs: { content: scores, refusal: null } };
  events.push({ type: 'extra', format: 'chat', delta: {}, choice });
}

/** What a part has beside the member that says its kind. */
const besideParts: ReadonlySet<string> = new Set([
  'mediaResolution',
  'partMetadata',
  'text',
  'thought',
  'thoughtSignature',
  'videoMetadata',
]);

/** A part may be of a kind that has no neutral form: code that ran there, an image. */
function readPart(state: GeminiStreamState, part: Members, events: ModelEvent[]): void {
  const { text } = part;
  if (part.functionCall !== undefined) {
    state.inText = false;
    readFunctionCall(state.toolCalls, part, state.newId, events);
  } else if (typeof text !== 'string' || text === '') {
    const kind = Object.keys(part).find((name) => !besideParts.has(name));
    if (kind !== undefined) events.push(unread(kind));
  } else if (part.thought === true) {
    state.inText = false;
    events.push({ type: 'reasoning', text });
  } else {
    events.push(readText(state, text, isPlain(text)));
  }
}

/** Once for each change. */
function reportUsage(state: GeminiStreamState, events: ModelEvent[]): void {
  const calls = searchCalls(state.grounding, state.modelVersion);
  const usage = readUsage(state.usageMetadata, calls);
  if (usage === null || (state.usage !== null && sameUsage(usage, state.usage))) return;
  state.usage = usage;
  events.push({ type: 'usage', usage });
}
