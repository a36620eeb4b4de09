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
    await updateKey(sql, key.id, {
      label: change.label ?? key.label,
      isDisabled: change.disabled ?? key.disabledAt !== null,
      ...termsAfter(key, change, Date.now()),
    });
    if (limit !== undefined) await setSpendLimit(sql, key, limit, Date.now());
    return {};
  });
  const isWithdrawn = after.status !== 'active' && before.status === 'active';
  await tellChange(services.bus, [after.id], { isWithdrawn });
  if (limit !== undefined) await seeLimit(services, after.walletId);
  return after;
}

/** @throws Problem not_found, invalid_state when it is revoked */
export async function rotateAuditedKey(
  services: Needed,
  order: KeyOrder,
  graceSeconds: number,
): Promise<{ token: string; key: ApiKey }> {
  let token = '';
  const { after: key } = await changed(
    services,
    order,
    'key.rotate',
    async (sql, { environment }) => {
      token = newKeyToken(environment);
      const made = { tokenHash: tokenHash(token), prefix: displayPrefix(token) };
      await rotateKey(sql, order.keyId, made, graceSeconds);
      return { grace_seconds: graceSeconds };
    },
  );
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
    const event = { id: newAuditId(system.node), accountId, actor, action, subject, details };
    return { result: { before, after }, event };
  });
  return withDeadline(done);
}

/** The members that differ, as they were and as they are. */
function differences(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): { before?: Record<string, unknown>; after?: Record<string, unknown> } {
  const names = Object.keys(after).filter((name) => {
    return JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  });
  if (names.length === 0) return {};
  const pick = (from: Record<string, unknown>) =>
    Object.fromEntries(names.map((name) => [name, from[name]]));
  return { before: pick(before), after: pick(after) };
}

/**
 * Memory may look at the former limit for a moment; holds never do. One that has no answer says
 * nothing: the wallet is read again soon.
 */
async function seeLimit({ wallet, limits }: Needed, walletId: string): Promise<void> {
  await wallet(walletId).ask('balance', {}, limits.ledger.askTimeoutMs);
}
