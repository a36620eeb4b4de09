// A key changed or given another token, with the event that says so. What is changed holds on every
// shard when this resolves.
import { displayPrefix, newKeyToken, tokenHash } from '../../actors/credentials/token.ts';
import { audited } from '../../db/audit-events.ts';
import { type Transaction, withDeadline } from '../../db/driver/sql.ts';
import { type ApiKey, findKey, lockKey, rotateKey, updateKey } from '../../db/keys.ts';
import { setSpendLimit } from '../../db/spend/limit.ts';
import { newAuditId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import { tellChange } from '../credentials.ts';
import type { Services } from '../services.ts';
import { differences } from './differences.ts';
import { recordKeyAct } from './recorded.ts';
import { limitOf, type TermsBody, termsAfter, toldTerms } from './terms.ts';

type Needed = Pick<Services, 'sql' | 'system' | 'bus' | 'wallet' | 'limits'>;

/** The key, its account, and the account that does it. */
export interface KeyOrder {
  accountId: string;
  keyId: string;
  actor: string;
}

export interface KeyChange extends TermsBody {
  label?: string | undefined;
  disabled?: boolean | undefined;
}

/** @throws Problem not_found, invalid_state when it is revoked, invalid_request */
export async function updateAuditedKey(
  services: Needed,
  order: KeyOrder,
  change: KeyChange,
): Promise<ApiKey> {
  const limit = limitOf(change);
  const { before, after } = await changed(services, order, 'key.update', async (sql, key) => {
    await writeChange(sql, key, change);
    return {};
  });
  const isWithdrawn = after.status !== 'active' && before.status === 'active';
  await tellChange(services.bus, [after.id], { isWithdrawn });
  if (limit !== undefined) await seeLimit(services, after.walletId);
  return after;
}

async function writeChange(sql: Transaction, key: ApiKey, change: KeyChange): Promise<void> {
  await updateKey(sql, key.id, {
    label: change.label ?? key.label,
    isDisabled: change.disabled ?? key.disabledAt !== null,
    ...termsAfter(key, change, Date.now()),
  });
  const limit = limitOf(change);
  if (limit !== undefined) await setSpendLimit(sql, key, limit, Date.now());
}

/** Changes a locked key for who tells it elsewhere: in the audit of an organization. */
export async function applyChange(
  sql: Transaction,
  before: ApiKey,
  change: KeyChange,
): Promise<{ after: ApiKey; told: Record<string, unknown> }> {
  await writeChange(sql, before, change);
  const after = (await findKey(sql, before.accountId, before.id)) ?? before;
  return { after, told: differences(toldTerms(before), toldTerms(after)) };
}

/** @throws Problem not_found, invalid_state when it is revoked */
export async function rotateAuditedKey(
  services: Needed,
  order: KeyOrder,
  graceSeconds: number,
): Promise<{ token: string; key: ApiKey }> {
  let token = '';
  const { after: key } = await changed(services, order, 'key.rotate', async (sql, before) => {
    token = newKeyToken(before.environment);
    const made = { tokenHash: tokenHash(token), prefix: displayPrefix(token) };
    await rotateKey(sql, order.keyId, made, graceSeconds);
    return { grace_seconds: graceSeconds };
  });
  await tellChange(services.bus, [key.id], { isWithdrawn: false });
  return { token, key };
}

/** Changes a key that is not revoked. What `change` returns is told beside what it changed. */
async function changed(
  { sql, system }: Needed,
  { accountId, keyId, actor }: KeyOrder,
  action: string,
  change: (sql: Transaction, key: ApiKey) => Promise<Record<string, unknown>>,
): Promise<{ before: ApiKey; after: ApiKey }> {
  const done = audited(sql, async (transaction) => {
    const before = await lockKey(transaction, accountId, keyId);
    if (before === null) throw new Problem('not_found', { param: 'api_key_id' });
    if (before.status === 'revoked') {
      throw new Problem('invalid_state', { message: 'The key is revoked.', param: 'api_key_id' });
    }
    const told = await change(transaction, before);
    const after = (await findKey(transaction, accountId, keyId)) ?? before;
    const { prefix } = after;
    const details = { prefix, ...told, ...differences(toldTerms(before), toldTerms(after)) };
    const subject = `key:${keyId}`;
    await recordKeyAct(transaction, { accountId, keyId, actor, action, details });
    const event = { id: newAuditId(system.node), accountId, actor, action, subject, details };
    return { result: { before, after }, event };
  });
  return withDeadline(done);
}

/**
 * Memory may look at the former limit for a moment; holds never do. One that has no answer says
 * nothing: the wallet is read again soon.
 */
async function seeLimit({ wallet, limits }: Needed, walletId: string): Promise<void> {
  await wallet(walletId).ask('balance', {}, limits.ledger.askTimeoutMs);
}
