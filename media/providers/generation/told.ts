// Wishes of clients of OpenAI's formats that have no place in the neutral request. Families that
// have the like read them from the client's body.
import type { GenerationRequest } from '../../model/request.ts';
import { isMembers, type Members } from '../../transport/members.ts';
import { asksNothing } from './asks-nothing.ts';

type Asked = Pick<GenerationRequest, 'source'>;

const scoresIncluded = 'message.output_text.logprobs';

/** How many other tokens are to be scored beside each; null: no logprobs are asked for. */
export function scoresOf({ source: { format, body } }: Asked): number | null {
  const top = typeof body.top_logprobs === 'number' ? body.top_logprobs : 0;
  if (format === 'chat') return body.logprobs === true ? top : null;
  if (format !== 'responses') return null;
  const isIncluded = Array.isArray(body.include) && body.include.includes(scoresIncluded);
  return isIncluded || top > 0 ? top : null;
}

/** The member by which logprobs are asked for; null: they are not. */
export function scoresPath(request: Asked): string | null {
  const top = scoresOf(request);
  if (top === null) return null;
  if (request.source.format === 'chat') return 'logprobs';
  return top > 0 ? 'top_logprobs' : 'include';
}

/** How long the words are to be; null: as usual. */
export function verbosityOf({ source: { format, body } }: Asked): string | null {
  const { text, verbosity } = body;
  const told = format === 'responses' ? (isMembers(text) ? text.verbosity : null) : verbosity;
  return typeof told === 'string' && !asksNothing('verbosity', told) ? told : null;
}

/** Labels of the end user and of the cache: OpenAI's formats have them alike. */
export const labels = ['user', 'safety_identifier', 'prompt_cache_key'] as const;

/** Writes them into the body of a call. */
export function encodeLabels({ source: { format, body: said } }: Asked, body: Members): void {
  if (format !== 'chat' && format !== 'responses') return;
  for (const name of labels) if (typeof said[name] === 'string') body[name] = said[name];
}
