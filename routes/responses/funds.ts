// Earlier responses are megabytes to read and parse. The wallet is asked before them.
import { requireLeastHold } from '../../actors/generation/least-hold.ts';
import type { ResponsesRequestBody } from '../../media/model/dialects/responses/schema.ts';
import { fundedOrRetry } from '../generations/funds.ts';
import { requireAllowed } from '../keys/allowed.ts';
import { payerOf } from '../payer.ts';
import type { Services } from '../services.ts';
import type { Asker } from './conversation.ts';
import { readsStored } from './references.ts';

/**
 * Asks for the least that the response may hold, where earlier ones are read for it.
 * @throws Problem policy_blocked, insufficient_credits, spend_limit_exceeded
 */
export async function requireFundsToRead(
  body: ResponsesRequestBody,
  asker: Asker,
  { generations }: Pick<Services, 'generations'>,
): Promise<void> {
  requireAllowed(asker.caller, body.model);
  if (!readsStored(body)) return;
  const asked = { model: body.model, outputTokensMax: body.max_output_tokens ?? null };
  const look = requireLeastHold(generations, payerOf(asker.caller), asked, 0);
  await fundedOrRetry(asker, look);
}
