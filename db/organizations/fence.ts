// A change of a cap, role, membership, key or status gives the wallet a new version in its
// transaction. What was decided on the old one is void, and is decided anew.
import { randomBytes } from 'node:crypto';
import type { Transaction } from '../driver/sql.ts';

/** A version is unlike every other: one that is counted up could be mistaken for the next write. */
export async function fenceWallet(transaction: Transaction, walletId: string): Promise<void> {
  const version = randomBytes(8).readBigInt64LE().toString();
  await transaction`UPDATE wallets SET version = ${version}::bigint WHERE id = ${walletId}`;
}
