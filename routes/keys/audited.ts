// A key made, changed or revoked, by its owner or an administrator, with the event that says so.
import { keyLimits } from '../../actors/credentials/limits.ts';
import { audited } from '../../db/audit-events.ts';
import { holdAuthorization } from '../../db/authorizations.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import {
  type ApiKey,
  createKeyWithin,
  findKey,
  lockKey,
  type NewApiKey,
  revokeKey,
} from '../../db/keys.ts';
import { lockPayer } from '../../db/organizations/payer.ts';
import { type SpendLimit, setSpendLimit } from '../../db/spend/limit.ts';
import { newAuditId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import { tellChange } from '../credentials.ts';
import type { Services } from '../services.ts';
import { tooManyKeys } from './new-key.ts';
import { recordKeyAct } from './recorded.ts';
import { toldTerms } from './terms.ts';

const { activeMax } = keyLimits;

/**
 * `actor`: the account that does it.
 * @throws Problem conflict when the account has as many keys as it may, session_expired when the
 * app that makes it may do nothing any more
 */
export async function createAuditedKey(
  { sql, system }: Pick<Services, 'sql' | 'system'>,
  { key, spendLimit }: { key: NewApiKey; spendLimit: SpendLimit | null },
  actor: string,
): Promise<ApiKey> {
  const made = audited(sql, async (transaction) => {
    // The payer of a membership may have changed since the caller was read.
    const walletId = (await lockPayer(transaction, key.accountId)) ?? key.walletId;
    let result = await createKeyWithin(transaction, { ...key, walletId }, activeMax);
    if (result === null) return { result, event: null };
    if (spendLimit !== null) {
      await setSpendLimit(transaction, result, spendLimit, Date.now());
      result = (await findKey(transaction, key.accountId, key.id)) ?? result;
    }
    // After the account, which others lock first as well.
    const { authorizationId = null } = key;
    if (authorizationId !== null && !(await holdAuthorization(transaction, authorizationId))) {
      throw new Problem('session_expired', { message: 'The authorization has ended.' });
    }
    const { scopes, prefix, environment, accountId } = result;
    const { disabled: _new, ...terms } = toldTerms(result);
    const details = { environment, scopes, prefix, ...terms };
    const id = newAuditId(system.node);
    const action = 'key.create';
    await recordKeyAct(transaction, { accountId, keyId: result.id, actor, action, details });
    const event = { id, accountId, actor, action, subject: `key:${result.id}` };
    return { result, event: { ...event, details } };
  });
  const row = await withDeadline(made);
  if (row === null) throw tooManyKeys();
  return row;
}

/**
 * It works on no shard any more when this resolves.
 * @throws Problem not_found when the account has no such key
 */
export async function revokeAuditedKey(
  { sql, system, bus }: Pick<Services, 'sql' | 'system' | 'bus'>,
  { accountId, keyId, actor }: { accountId: string; keyId: string; actor: string },
): Promise<ApiKey> {
  const revoked = audited(sql, async (transaction) => {
    const before = await lockKey(transaction, accountId, keyId);
    const result = await revokeKey(transaction, accountId, keyId);
    if (before === null || before.status === 'revoked') return { result, event: null };
    const { label, prefix } = before;
    const id = newAuditId(system.node);
    const [action, details] = ['key.revoke', { label, prefix }];
    await recordKeyAct(transaction, { accountId, keyId, actor, action, details });
    const event = { id, accountId, actor, action, subject: `key:${keyId}` };
    return { result, event: { ...event, details } };
  });
  const row = await withDeadline(revoked);
  if (row === null) throw new Problem('not_found', { param: 'api_key_id' });
  await tellChange(bus, [row.id], { isWithdrawn: true });
  return row;
}
