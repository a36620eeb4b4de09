// An account of a test: its own wallet, so that money can be counted, its key and its session.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { keyLimits } from '../../actors/credentials/limits.ts';
import { scopes } from '../../actors/credentials/scope.ts';
import { displayPrefix, newKeyToken, tokenHash } from '../../actors/credentials/token.ts';
import type { DirectWallet } from '../../actors/wallet/direct.ts';
import { createAccount } from '../../db/accounts.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { createKey } from '../../db/keys.ts';
import { createSession } from '../../db/sessions.ts';
import { createWallet } from '../../db/wallets.ts';
import { newId } from '../../runtime/ids.ts';

export interface AccountOptions {
  /** What is granted at the beginning; 1,000 credits when left out. */
  micros?: bigint;
  scopes?: readonly string[];
  requestsPerMinute?: number;
  concurrencyMax?: number;
  admin?: boolean;
}

export interface Balance {
  availableMicros: bigint;
  heldMicros: bigint;
}

export interface TestAccount {
  baseUrl: string;
  accountId: string;
  walletId: string;
  keyId: string;
  apiKey: string;
  sessionToken: string;
  /** As it stands in the database at this moment. */
  balance(): Promise<Balance>;
  /** Waits until nothing is held any more. */
  quiet(): Promise<Balance>;
}

export interface AccountServices {
  baseUrl: string;
  sql: Sql;
  wallet: DirectWallet;
}

const quietMs = 30_000;

/** Makes the account directly in the database, as no API for it exists yet. */
export async function makeAccount(
  services: AccountServices,
  options: AccountOptions,
): Promise<TestAccount> {
  const { sql, baseUrl } = services;
  const accountId = newId('acc', 0);
  const walletId = newId('wal', 0);
  const keyId = newId('key', 0);
  const apiKey = newKeyToken('test');
  const sessionToken = randomBytes(32).toString('base64url');
  await createAccount(sql, { id: accountId, role: options.admin === true ? 'admin' : 'user' });
  await createWallet(sql, { id: walletId, accountId, type: 'personal' });
  await createKey(sql, {
    id: keyId,
    accountId,
    walletId,
    label: 'test',
    environment: 'test',
    scopes: [...(options.scopes ?? scopes)],
    tokenHash: tokenHash(apiKey),
    prefix: displayPrefix(apiKey),
    requestsPerMinute: options.requestsPerMinute ?? 100_000,
    concurrencyMax: options.concurrencyMax ?? 1_000,
  });
  const expiresAt = new Date(Date.now() + 3_600_000);
  await createSession(sql, {
    tokenHash: tokenHash(sessionToken),
    accountId,
    expiresAt,
    requestsPerMinute: options.requestsPerMinute ?? 100_000,
    concurrencyMax: options.concurrencyMax ?? keyLimits.concurrencyMax,
  });
  await grant(services, walletId, options.micros ?? 1_000_000_000n);
  const balance = () => readBalance(services, walletId);
  return {
    baseUrl,
    accountId,
    walletId,
    keyId,
    apiKey,
    sessionToken,
    balance,
    quiet: () => waitQuiet(balance),
  };
}

async function grant(
  { wallet }: AccountServices,
  walletId: string,
  amountMicros: bigint,
): Promise<void> {
  if (amountMicros === 0n) return;
  const reply = await wallet(walletId, 'grant', {
    operationId: `test.${walletId}`,
    kind: 'promotion',
    amountMicros,
    expiresAtMs: null,
    note: 'test',
  });
  assert.equal(reply.status, 'granted');
}

async function readBalance({ wallet }: AccountServices, walletId: string): Promise<Balance> {
  const reply = await wallet(walletId, 'balance', {});
  assert.ok(reply.status === 'ok', `the balance is ${reply.status}`);
  return { availableMicros: reply.availableMicros, heldMicros: reply.heldMicros };
}

async function waitQuiet(balance: () => Promise<Balance>): Promise<Balance> {
  const deadline = performance.now() + quietMs;
  for (;;) {
    const now = await balance();
    if (now.heldMicros === 0n) return now;
    assert.ok(performance.now() < deadline, `still held: ${now.heldMicros}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
