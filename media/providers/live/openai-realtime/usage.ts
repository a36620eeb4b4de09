// `usage` of a response → what it adds. It is told per response and is no running total: earlier
// turns count again as input of each (langwatch/scenario#938). Cached tokens are part of the input.
import { isMembers, type Members } from '../../../transport/members.ts';
import type { LiveUsage } from '../contract.ts';
import { countOf, isImpossible, splitTokens } from '../usage.ts';

const totals = ['input_tokens', 'output_tokens', 'total_tokens'];

/**
 * Null when nothing was reported, or what is impossible; explicit zeros are a report. The
 * transcription of the user's speech has a report of its own, in tokens of another model or in
 * seconds, at a price about a tenth of this model's: it is not added, for here it would be charged
 * at this model's rates.
 */
export function readUsage(usage: unknown): LiveUsage | null {
  if (!isMembers(usage) || totals.some((name) => isImpossible(usage[name]))) return null;
  const input = readSide(usage.input_tokens, usage.input_token_details);
  const output = readSide(usage.output_tokens, usage.output_token_details);
  if (input === null && output === null) return null;
  return {
    inputSpeechTokens: input?.speech ?? 0,
    inputTextTokens: input?.text ?? 0,
    outputSpeechTokens: output?.speech ?? 0,
    outputTextTokens: output?.text ?? 0,
  };
}

function readSide(total: unknown, details: unknown): { speech: number; text: number } | null {
  const parts: Members = isMembers(details) ? details : {};
  const [count, speech, text] = [total, parts.audio_tokens, parts.text_tokens].map(countOf);
  if (count === undefined || speech === undefined || text === undefined) return null;
  if (count === null && speech === null && text === null) return null;
  return splitTokens(count, speech, text);
}
