// Logprobs of a candidate → those of OpenAI's formats, which have them alike: each token has its
// bytes. The API leaves out what is 0.
import { isMembers, type Members } from '../../../transport/members.ts';

/** Null: none were told. */
export function readScores(result: unknown): Members[] | null {
  if (!isMembers(result)) return null;
  const { chosenCandidates: chosen, topCandidates: top } = result;
  if (!Array.isArray(chosen) || !chosen.every(isMembers) || chosen.length === 0) return null;
  return chosen.map((one, index) => {
    const others: unknown = Array.isArray(top) ? top[index] : null;
    return { ...scoreOf(one), top_logprobs: candidatesOf(others).map(scoreOf) };
  });
}

function candidatesOf(step: unknown): Members[] {
  if (!isMembers(step) || !Array.isArray(step.candidates)) return [];
  return step.candidates.filter(isMembers);
}

function scoreOf({ token, logProbability }: Members): Members {
  const text = typeof token === 'string' ? token : '';
  const logprob = typeof logProbability === 'number' ? logProbability : 0;
  return { token: text, logprob, bytes: [...Buffer.from(text)] };
}
