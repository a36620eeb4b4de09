// Decides what is answered, apart from any wire format: pieces of text or tool calls, why it ends,
// and the usage that is reported. Every family renders the same plan.
import { citedAnswer } from './citing.ts';
import type { Directive, PlannedCall } from './directive.ts';
import { instanceOf } from './instance.ts';
import { judgePage } from './judging.ts';
import { describePictures } from './sight/describe.ts';
import type { ShownPicture } from './sight/pictures.ts';

export interface Plan {
  /** Reasoning pieces before anything else: ` r0 r1 …`. */
  reasoningCount: number;
  /** Native searches before the text. */
  searchCount: number;
  pieceCount: number;
  piece(index: number): string;
  /** Tools that are called instead of an answer. */
  calls: readonly PlannedCall[];
  end: 'stop' | 'length' | 'tool_calls' | 'stop_sequence' | 'refusal';
  stopSequence: string | null;
  usage: PlanUsage;
}

/** Input includes what was read from or written to a cache; output includes reasoning. */
export interface PlanUsage {
  inputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  reasoningTokens: number;
}

export interface PlanInput {
  directive: Directive;
  inputTokens: number;
  declaredTools: readonly string[];
  /** The tool that the request insists on, if any. */
  forced: ForcedCall | null;
  /** How many tool results came after the directive. */
  toolResultCount: number;
  /** The JSON Schema asked for; `{}` for any object; null for plain text. */
  schema: unknown;
  outputTokensMax: number | null;
  /** Null: the provider's own search is not declared. */
  searchCountMax: number | null;
  stopSequences: readonly string[];
  /** Some formats say a refusal in words; in others the answer just ends. */
  refusalIsSpoken: boolean;
  /** What the user said, message by message; null: another's. */
  texts: readonly (string | null)[];
  /** What the model sees. */
  pictures(): readonly ShownPicture[];
}

export interface ForcedCall {
  name: string;
  schema: unknown;
}

export const refusalText = 'I cannot help with that.';

const tokenTexts: string[] = [];
const jsonPieceLength = 12;

/** ` t<i>`: the text of numbered token i. */
function tokenText(index: number): string {
  const known = tokenTexts[index];
  if (known !== undefined) return known;
  const text = ` t${index}`;
  if (index < 65_536) tokenTexts[index] = text;
  return text;
}

export function planAnswer(input: PlanInput): Plan {
  const { directive } = input;
  const calls = nextRound(input);
  if (calls.length > 0) {
    return {
      reasoningCount: directive.reasoningTokens,
      searchCount: 0,
      pieceCount: 0,
      piece: tokenText,
      calls,
      end: 'tool_calls',
      stopSequence: null,
      usage: usageOf(input, calls.length),
    };
  }
  const pieces = answerPieces(input);
  const wanted = pieces === null ? directive.tokens : pieces.length;
  const count = Math.min(wanted, input.outputTokensMax ?? wanted);
  const plan: Plan = {
    reasoningCount: directive.reasoningTokens,
    searchCount:
      directive.refusal !== null ? 0 : Math.min(wantedSearches(input), input.searchCountMax ?? 0),
    pieceCount: count,
    piece: pieces === null ? tokenText : (index) => pieces[index] ?? '',
    calls: [],
    end: count < wanted ? 'length' : directive.refusal !== null ? 'refusal' : 'stop',
    stopSequence: null,
    usage: usageOf(input, count),
  };
  return input.stopSequences.length === 0 ? plan : stopped(plan, input);
}

/** The whole text of a plan. */
export function planText(plan: Plan): string {
  let text = '';
  for (let index = 0; index < plan.pieceCount; index += 1) text += plan.piece(index);
  return text;
}

/** The whole reasoning of a plan. */
export function reasoningText(plan: Plan): string {
  let text = '';
  for (let index = 0; index < plan.reasoningCount; index += 1) text += ` r${index}`;
  return text;
}

/** The fragments in which the arguments of a call are streamed; joined they are the arguments. */
export function argumentFragments(call: PlannedCall): string[] {
  const [first = '', ...rest] = Array.from(call.argumentText);
  return [first, ...cut(rest.join(''))];
}

/** Words of a text: what the simulator calls input tokens. */
export function countWords(text: string): number {
  let count = 0;
  let inWord = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const space = code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x3000;
    if (!space && !inWord) count += 1;
    inWord = !space;
  }
  return count;
}

/** The first round of declared tools whose results have not come yet; none: the answer is due. */
function nextRound(input: PlanInput): readonly PlannedCall[] {
  let earlierCalls = 0;
  for (const round of input.directive.rounds) {
    const calls = round.filter(({ name }) => input.declaredTools.includes(name));
    if (calls.length === 0) continue;
    if (input.toolResultCount <= earlierCalls) return calls;
    earlierCalls += calls.length;
  }
  const { forced, toolResultCount, directive } = input;
  if (forced === null || toolResultCount > 0 || directive.refusal !== null) return [];
  return [forcedCall(forced)];
}

/** A tool that must be called is called with what its schema wants. */
function forcedCall({ name, schema }: ForcedCall): PlannedCall {
  return { name, argumentText: JSON.stringify(instanceOf(schema ?? { type: 'object' })) };
}

/** A model that is given nothing but a search uses it; beside other tools it is told to. */
function wantedSearches({ directive, declaredTools }: PlanInput): number {
  return directive.searchCount ?? (declaredTools.length === 0 ? 1 : 0);
}

/** Null: numbered tokens. */
function answerPieces(input: PlanInput): string[] | null {
  const { directive, schema } = input;
  if (directive.refusal !== null) {
    return words(input.refusalIsSpoken ? refusalText : (directive.text ?? ''));
  }
  if (directive.text !== null) return words(directive.text);
  if (directive.json === 'bad' || directive.json === 'repair')
    return cut(JSON.stringify({ simulated_violation: [null] }));
  if (directive.json === null && schema === null) {
    const citing = directive.citing === 'repair' ? 'unsupported' : directive.citing;
    const cited = citedAnswer(input.texts, citing);
    return cited === null ? null : words(cited);
  }
  const made =
    describePictures(input.pictures(), schema, directive.sight === 'wrong') ??
    judgePage(input.texts, schema, directive.judging);
  return cut(JSON.stringify(made ?? instanceOf(schema ?? { type: 'object' })));
}

/** Ends a plan before the first stop sequence that its text would contain. */
function stopped(plan: Plan, input: PlanInput): Plan {
  const text = planText(plan);
  let end = text.length;
  let stopSequence: string | null = null;
  for (const sequence of input.stopSequences) {
    const found = sequence === '' ? -1 : text.indexOf(sequence);
    if (found < 0 || found >= end) continue;
    end = found;
    stopSequence = sequence;
  }
  if (stopSequence === null) return plan;
  const pieces: string[] = [];
  for (let start = 0; start < end; start += plan.piece(pieces.length - 1).length) {
    pieces.push(plan.piece(pieces.length).slice(0, end - start));
  }
  return {
    ...plan,
    pieceCount: pieces.length,
    piece: (index) => pieces[index] ?? '',
    end: 'stop_sequence',
    stopSequence,
    usage: usageOf(input, pieces.length),
  };
}

function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function cut(text: string): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += jsonPieceLength) {
    pieces.push(characters.slice(start, start + jsonPieceLength).join(''));
  }
  return pieces;
}

function usageOf(input: PlanInput, emittedTokens: number): PlanUsage {
  const { directive, inputTokens } = input;
  if (directive.fault === 'zero_usage') {
    return {
      inputTokens: 0,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
    };
  }
  const cachedTokens = Math.min(directive.cachedTokens, inputTokens);
  return {
    inputTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(directive.cacheWriteTokens, inputTokens - cachedTokens),
    outputTokens: emittedTokens + directive.reasoningTokens,
    reasoningTokens: directive.reasoningTokens,
  };
}
