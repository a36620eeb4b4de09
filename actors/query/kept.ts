// A query that is answered from what is kept for its account, or by its equal search under way.
// Nobody is asked, nothing is charged, and no row is made.
import type { ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem, toProblem } from '../../runtime/problem.ts';
import { refusalProblem } from '../billed-request/spend-refusal.ts';
import type { Limits } from '../limits.ts';
import type { SearchDesk } from '../search/contract.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import { failureProblem } from './failure.ts';
import type { QueryMetrics } from './metrics.ts';
import { normalizedJson } from './normalized.ts';
import { replyText } from './reply.ts';
import type { QueryPlan, QuerySpec } from './spec.ts';

export interface KeptServices {
  system: ActorSystem;
  desk: SearchDesk;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  limits: Limits;
  metrics: QueryMetrics;
}

type Asker = Pick<QuerySpec, 'accountId' | 'walletId' | 'apiKeyId'>;

/**
 * Null: it has to be asked for. What is kept for everybody costs its price, and goes the long way.
 * @throws Problem the failure of the search that it waited for
 */
export async function answerKept(
  services: KeptServices,
  asker: Asker,
  plan: QueryPlan,
  onAbort: (listener: () => void) => void,
): Promise<{ requestId: string; text: string } | null> {
  const { search } = plan;
  if (search.surface.isShared || search.maxAgeSeconds === 0) return null;
  const controller = new AbortController();
  onAbort(() => controller.abort());
  const found = await services.desk.look(search, controller.signal);
  if (found === null) return null;
  const { result } = found;
  if (result.state === 'failed') throw toProblem(failureProblem(result.failure));
  const normalized = normalizedJson(plan, found);
  if (normalized === null) throw toProblem(failureProblem(null));
  const remainingMicros = await requireStanding(services, asker);
  const requestId = newId('req', services.system.node);
  services.metrics.ended(search.surface.name, 'kept');
  const text = replyText({
    surface: search.surface.name,
    chargeMicros: 0n,
    remainingMicros,
    requestId,
    isSimulated: result.isSimulated,
    dataJson: result.dataJson,
    normalizedJson: normalized,
  });
  return { requestId, text };
}

/** What the wallet has. @throws Problem policy_blocked, forbidden, dependency_unavailable */
async function requireStanding(
  { wallet, limits }: KeptServices,
  { accountId, walletId, apiKeyId }: Asker,
): Promise<bigint> {
  const look = { amountMicros: 0n, spender: { accountId, apiKeyId } };
  const answer = await wallet(walletId).ask('look', look, limits.ledger.askTimeoutMs);
  if (answer.ok && answer.value.status === 'ok') return answer.value.availableMicros;
  if (answer.ok && answer.value.status === 'not_allowed') {
    throw toProblem(refusalProblem(answer.value));
  }
  throw new Problem('dependency_unavailable');
}
