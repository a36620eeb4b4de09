// Reads refusals of SerpApi, whose words say what its statuses do not. A 429 is a rate or a spent
// plan, and finding nothing is an error too.
import { isMembers } from '../../../transport/members.ts';
import type { SearchFailure } from '../family.ts';
import { failureOfStatus } from '../status.ts';

const isRate = /hourly|throughput|concurren|per (?:second|minute|hour)/i;
const isSpent = /run out|searches for (?:the|this) month|upgrade|\bplan\b/i;
const isNothing = /has(?:n['’]t| not) returned any results|no results (?:found|for)/i;

export function readFailure(status: number, body: unknown): SearchFailure {
  const words = isMembers(body) && typeof body.error === 'string' ? body.error : '';
  if (status === 429) return isSpent.test(words) && !isRate.test(words) ? 'exhausted' : 'busy';
  // A server that failed has not looked.
  if ((status === 400 || status === 404) && saysNothingFound(words)) return 'empty';
  return failureOfStatus(status);
}

export function saysNothingFound(words: string): boolean {
  return isNothing.test(words);
}
