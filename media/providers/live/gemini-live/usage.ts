// `usageMetadata` of live messages → what each report adds. It counts a model call, with earlier
// turns in its prompt; it is no running total of the session.
import { isMembers } from '../../../transport/members.ts';
import type { LiveUsage } from '../contract.ts';
import { countOf, isImpossible, noLiveUsage, splitTokens } from '../usage.ts';

/**
 * Live probes of others (pydantic-ai#7269: three turns on two models) show one report a turn, of
 * that turn alone. Whether several reports of a turn add up is not documented: we take those of
 * one model call as running counts, the largest of which is valid, and calls as ended by the turn
 * and by tool results, after which the model is called again. Each report is told as its difference
 * to the one before, so that a cut loses nothing.
 */
export class UsageCounter {
  #counted: LiveUsage = noLiveUsage;
  #promptTokens: number | null = null;
  #isCallOver = false;
  #hasContent = false;

  /** The model said something, and no report of it came yet. */
  get isOwed(): boolean {
    return this.#hasContent && this.#counted === noLiveUsage;
  }

  /** The next content is of another model call. */
  endCall(): void {
    this.#isCallOver = true;
  }

  /** The model says something. True: the call before is over, and its report did not come. */
  content(): boolean {
    const isUnreported = this.#isCallOver && this.isOwed;
    if (this.#isCallOver) this.#begin();
    this.#hasContent = true;
    return isUnreported;
  }

  /** Null: not a report, or nothing new in it. Zeros that are told are a report. */
  add(usageMetadata: unknown): LiveUsage | null {
    const usage = readUsage(usageMetadata);
    if (usage === null || !isMembers(usageMetadata)) return null;
    const promptTokens = countOf(usageMetadata.promptTokenCount);
    if (this.#isCallOver && this.#isOfNextCall(promptTokens)) this.#begin();
    const isFirst = this.#promptTokens === null && this.#counted === noLiveUsage;
    const added = difference(usage, this.#counted);
    this.#counted = largest(usage, this.#counted);
    this.#promptTokens = promptTokens;
    return isFirst || Object.values(added).some((tokens) => tokens > 0) ? added : null;
  }

  /** A late report of the call that is over is its first one, or has the same prompt. */
  #isOfNextCall(promptTokens: number | null): boolean {
    return this.#promptTokens !== null && promptTokens !== this.#promptTokens;
  }

  #begin(): void {
    this.#isCallOver = false;
    this.#hasContent = false;
    this.#counted = noLiveUsage;
    this.#promptTokens = null;
  }
}

const totals = [
  'promptTokenCount',
  'responseTokenCount',
  'candidatesTokenCount',
  'totalTokenCount',
  'thoughtsTokenCount',
  'toolUsePromptTokenCount',
];

/** Thoughts and what tools gave the model are text. Null: no counts at all, or impossible ones. */
function readUsage(usage: unknown): LiveUsage | null {
  if (!isMembers(usage) || totals.some((name) => isImpossible(usage[name]))) return null;
  const prompt = countOf(usage.promptTokenCount);
  // The second name is Vertex AI's.
  const response = countOf(usage.responseTokenCount) ?? countOf(usage.candidatesTokenCount);
  const total = countOf(usage.totalTokenCount);
  const input = split(prompt, usage.promptTokensDetails);
  const output = split(response, usage.responseTokensDetails ?? usage.candidatesTokensDetails);
  if (prompt === null && response === null) {
    const counted = input.speech + input.text + output.speech + output.text;
    // Of a total alone nobody knows what it costs; one of zero is told.
    if (total === null || (total > 0 && counted === 0)) return null;
  }
  return {
    inputSpeechTokens: input.speech,
    inputTextTokens: input.text + (countOf(usage.toolUsePromptTokenCount) ?? 0),
    outputSpeechTokens: output.speech,
    outputTextTokens: output.text + (countOf(usage.thoughtsTokenCount) ?? 0),
  };
}

function split(total: number | null, details: unknown): { speech: number; text: number } {
  const found: { AUDIO: number | null; TEXT: number | null } = { AUDIO: null, TEXT: null };
  for (const detail of Array.isArray(details) ? details : []) {
    if (!isMembers(detail)) continue;
    const { modality, tokenCount } = detail;
    if (modality !== 'AUDIO' && modality !== 'TEXT') continue;
    found[modality] = (found[modality] ?? 0) + (countOf(tokenCount) ?? 0);
  }
  return splitTokens(total, countOf(found.AUDIO), countOf(found.TEXT));
}

function difference(usage: LiveUsage, counted: LiveUsage): LiveUsage {
  return combine(usage, counted, (now, before) => Math.max(0, now - before));
}

function largest(usage: LiveUsage, counted: LiveUsage): LiveUsage {
  return combine(usage, counted, Math.max);
}

function combine(
  one: LiveUsage,
  other: LiveUsage,
  of: (one: number, other: number) => number,
): LiveUsage {
  return {
    inputSpeechTokens: of(one.inputSpeechTokens, other.inputSpeechTokens),
    inputTextTokens: of(one.inputTextTokens, other.inputTextTokens),
    outputSpeechTokens: of(one.outputSpeechTokens, other.outputSpeechTokens),
    outputTextTokens: of(one.outputTextTokens, other.outputTextTokens),
  };
}
