// `previous_response_id`: the inputs and answers of the turns before, in front of the new input.
// Instructions are each request's own and are not carried over, as this format has it.
import { withDeadline } from '../../db/driver/sql.ts';
import { readChain, type Turn } from '../../db/responses.ts';
import { responsesDialect } from '../../media/model/dialects/responses/dialect.ts';
import { requestIdOf, responseId } from '../../media/model/dialects/responses/ids.ts';
import type { InputItem } from '../../media/model/dialects/responses/input.ts';
import type { ResponsesRequestBody } from '../../media/model/dialects/responses/schema.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { Problem } from '../../runtime/problem.ts';
import { isRetry, type Keyed } from '../generations/funds.ts';
import type { KeyCaller, Services } from '../services.ts';
import { inputItems, turnItems } from './items.ts';

const field = 'previous_response_id';

export interface Continued {
  request: GenerationRequest;
  /** The generation of the response that is continued. */
  previousId: string | null;
}

/** What a request is continued for. */
export interface Asker extends Keyed {
  services: Pick<Services, 'sql' | 'limits' | 'seals'>;
  caller: KeyCaller;
}

/**
 * The request with the conversation before it.
 * @throws Problem not_found, conflict, invalid_state, invalid_request
 */
export async function continueConversation(
  body: ResponsesRequestBody,
  headers: Readonly<Record<string, string>>,
  asker: Asker,
): Promise<Continued> {
  const { services, caller } = asker;
  const seals = services.seals(caller.accountId);
  // First as it came, so that what is wrong with it is told by its own paths.
  const request = responsesDialect.readRequest(body, headers, seals);
  const previous = body.previous_response_id ?? null;
  if (previous === null) return { request, previousId: null };
  const previousId = requestIdOf(previous);
  if (previousId === null) throw notFound(previous);
  const { chainTurnsMax: turnsMax, chainBytesMax: bytesMax } = services.limits.generation;
  const bounds = { turnsMax, bytesMax };
  const chain = await withDeadline(readChain(services.sql, caller.accountId, previousId, bounds));
  if (chain.status === 'not_found') {
    // A retry gets the answer that it is a retry of, whatever became of the turns before.
    if (await isRetry(asker)) return { request, previousId };
    throw notFound(responseId(chain.generationId));
  }
  if (chain.status === 'too_long') throw tooLong(turnsMax, bytesMax);
  const last = chain.turns.at(-1);
  if (last !== undefined) assertContinuable(last);
  const before = turnItems(chain.turns, inputItems(body), seals, body.tools);
  const said = [...before, ...inputItems(body)] as InputItem[];
  const { messages: _messages, ...rest } = body;
  const whole = responsesDialect.readRequest({ ...rest, input: said }, headers, seals);
  // As it was read: its URLs are parsed.
  const read = whole.source.body.input as readonly InputItem[];
  const input = whole.source.opened ?? read;
  return { request: { ...whole, source: { ...request.source, input } }, previousId };
}

function assertContinuable(last: Turn): void {
  if (last.status === 'running') {
    throw new Problem('conflict', {
      message: 'The previous response is still in progress. Wait for its end.',
      param: field,
      headers: { 'retry-after': '1' },
    });
  }
  if (last.status !== 'failed') return;
  // Nobody was told of one that failed before anything of it was delivered.
  if (!last.background && last.uncharged) throw notFound(responseId(last.generationId));
  throw new Problem('invalid_state', {
    message: 'The previous response has failed: it cannot be continued.',
    param: field,
    headers: { 'x-should-retry': 'false' },
  });
}

function notFound(id: string): Problem {
  const message = `There is no stored response ${JSON.stringify(id.slice(0, 100))} to continue.`;
  return new Problem('not_found', { message, param: field });
}

function tooLong(turnsMax: number, bytesMax: number): Problem {
  const size = `more than ${turnsMax} turns or ${bytesMax / 1_048_576} MiB`;
  return new Problem('invalid_request', {
    message: `A conversation of ${size} is not continued. Begin a new one with what it needs.`,
    param: field,
  });
}
