// Token reports of live sessions: which of a total is speech and which is text, when the report
// does not say it all.
import type { LiveUsage } from './live-contract.ts';

export const noLiveUsage: LiveUsage = {
  inputSpeechTokens: 0,
  inputTextTokens: 0,
  outputSpeechTokens: 0,
  outputTextTokens: 0,
};

/** Null: not a count. */
export function countOf(value: unknown): number | null {
  const isCount = typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
  return isCount ? Math.floor(value) : null;
}

/**
 * What the parts leave unexplained of the total is of the kind that they do not name: speech when
 * they name neither (this is a voice session), text when they name both (images among it).
 */
export function splitTokens(
  total: number | null,
  speech: number | null,
  text: number | null,
): { speech: number; text: number } {
  const rest = Math.max(0, (total ?? 0) - (speech ?? 0) - (text ?? 0));
  if (speech === null) return { speech: rest, text: text ?? 0 };
  return { speech, text: (text ?? 0) + rest };
}
