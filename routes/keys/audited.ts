// A key made or revoked, by its owner or an administrator, with the event that says so.
import { keyLimits } from '../../actors/credentials/limits.ts';
import { audited } from '../../db/audit-events.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { type ApiKey, createKeyWithin, lockKey, type NewApiKey, revokeKey } from '../../db/keys.ts';
import { newAuditId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import { type CredentialChange, credentialTopic } from '../credentials.ts';
import type { Services } from '../services.ts';
import { tooManyKeys } from './new-key.ts';

const { activeMax } = keyLimits;

/**
 * `actor`: the account that does it.
 * @throws Problem conflict when the account has as many keys as it may
 */
export async function createAuditedKey(
  { sql, system }: Pick<Services, 'sql' | 'system'>,
  key: NewApiKey,
  actor: string,
): Promise<ApiKey> {
  const made = audited(sql, async (transaction) => {
    const result = await createKeyWithin(transaction, key, activeMax);
    if (result === null) return { result, event: null };
    const { label, scopes, prefix, environment, accountId } = result;
    const limits = {
      requests_per_minute: result.requestsPerMinute,
      concurrency_max: result.concurrencyMax,
    };
    const details = { label, environment, scopes, prefix, ...limits };
    const id = newAuditId(system.node);
    const event = { id, accountId, actor, action: 'key.create', subject: `key:${result.id}` };
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
    if (before?.status !== 'active') return { result, event: null };
    const { label, prefix } = before;
    const id = newAuditId(system.node);
    const event = { id, accountId, actor, action: 'key.revoke', subject: `key:${keyId}` };
    return { result, event: { ...event, details: { label, prefix } } };
  });
  const row = await withDeadline(revoked);
  if (row === null) throw new Problem('not_found', { param: 'api_key_id' });
  const change: CredentialChange = { keyId: row.id };
  await bus.publish(credentialTopic, change);
  return row;
}
