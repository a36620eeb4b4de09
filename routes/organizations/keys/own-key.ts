// A key of the organization itself, locked and not revoked: what may be changed.
import type { Transaction } from '../../../db/driver/sql.ts';
import { type ApiKey, lockKey } from '../../../db/keys.ts';
import { findContextKey } from '../../../db/organizations/keys.ts';
import { Problem } from '../../../runtime/problem.ts';
import { noKey, requireOwn } from './schema.ts';

/** @throws Problem not_found, forbidden, invalid_state */
export async function lockOwnKey(
  transaction: Transaction,
  organizationId: number,
  keyId: string,
): Promise<ApiKey> {
  const known = await findContextKey(transaction, organizationId, keyId);
  if (known === null) throw noKey();
  requireOwn(known);
  const key = await lockKey(transaction, known.accountId, keyId);
  if (key === null) throw noKey();
  if (key.status !== 'revoked') return key;
  throw new Problem('invalid_state', { message: 'The key is revoked.', param: 'api_key_id' });
}
