// Gives what was claimed. The claim's id names the operation, so it is given once; its row says so
// in the ledger's own statement.
import type { Sql } from '../../db/driver/sql.ts';
import { type Claim, findOpenClaim } from '../../db/promotions/claims.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { GrantReply, GrantRequest, WalletProtocol } from '../wallet/protocol.ts';

/** The operation that gives it. */
function operationOf({ kind, id }: Pick<Claim, 'kind' | 'id'>): string {
  return `${kind}.${id}`;
}

export function grantOf(claim: Claim): GrantRequest {
  const { kind, id, micros, creditsUntil, note } = claim;
  return {
    operationId: operationOf(claim),
    kind: 'promotion',
    amountMicros: micros,
    expiresAtMs: creditsUntil?.getTime() ?? null,
    note,
    owner: { kind, id },
  };
}

/**
 * Gives what a row has claimed, or finds that it was given. What is not given now is given by the
 * next round: `unavailable` says that nothing is known.
 */
export async function grantClaimed(
  sql: Sql,
  wallet: ActorRef<WalletProtocol>,
  kind: Claim['kind'],
  id: string,
  timeoutMs: number,
): Promise<GrantReply['status']> {
  const claim = await findOpenClaim(sql, kind, id);
  if (claim === null) return 'granted';
  const answer = await wallet.ask('grant', grantOf(claim), timeoutMs);
  return answer.ok ? answer.value.status : 'unavailable';
}
