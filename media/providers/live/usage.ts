// Token reports of live sessions: which of a total is speech and which is text, when the report
// does not say it all.
import type { LiveUsage } from './contract.ts';

export const noLiveUsage: LiveUsage = {
  inputSpeechTokens: 0,
  inputTextTokens: 0,
  outputSpeechTokens: 0,
  outputTextTokens: 0,
};

/**
 * Several times the window of any model: what is reported beyond it is a provider's mistake, and
 * charges of it would not fit into the ledger.
 */
const tokensMax = 10_000_000;

/** Null: not a count of what one call can have. */
export function countOf(value: unknown): number | null {
  const isCount = typeof value === 'number' && value >= 0 && value <= tokensMax;
  return isCount ? Math.floor(value) : null;
}

/** A total that no call can have had: the others of its report would bill a part. */
export function isImpossible(total: unknown): boolean {
  return total !== undefined && total !== null && countOf(total) !== total;
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
