// What people approved, straight in the database: codes and devices that an app may redeem, and
// accounts without a wallet that approve them.
import { randomBytes } from 'node:crypto';
import { newToken, tokenHash } from '../../actors/credentials/token.ts';
import { challengeOf } from '../../actors/oauth/pkce.ts';
import { createAccount } from '../../db/accounts.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { type Approval, decideDevice, issueCode, startDevice } from '../../db/oauth.ts';
import { createSession } from '../../db/sessions.ts';
import { newId } from '../../runtime/ids.ts';

export const loopback = 'http://127.0.0.1:41234/callback';
export const allScopes = ['profile', 'email', 'offline_access', 'app'] as const;

export interface ApprovalOptions {
  client?: string;
  scopes?: readonly string[];
}

export function newVerifier(): string {
  return randomBytes(32).toString('base64url');
}

export async function addAccount(sql: Sql): Promise<string> {
  const id = newId('acc', 0);
  await createAccount(sql, { id, role: 'user' });
  return id;
}

/** An approval by a session of its own, as the account's person makes it. */
export async function approvalOf(
  sql: Sql,
  accountId: string,
  options: ApprovalOptions = {},
): Promise<Approval> {
  const { client = 'svc-cli', scopes = allScopes } = options;
  const sessionId = newId('ses', 0);
  await createSession(sql, {
    id: sessionId,
    tokenHash: randomBytes(32),
    accountId,
    expiresAt: new Date(Date.now() + 900_000),
  });
  return { accountId, client, scopes, sessionId, method: 'otp', authenticatedAt: new Date() };
}

/** A code as the page would have it issued, for the challenge of somebody's verifier. */
export async function issueFor(
  sql: Sql,
  accountId: string,
  challenge: string,
  options: ApprovalOptions & { redirectUri?: string } = {},
): Promise<string> {
  const code = newToken('code');
  await issueCode(sql, {
    codeHash: tokenHash(code),
    approval: await approvalOf(sql, accountId, options),
    redirectUri: options.redirectUri ?? loopback,
    challenge,
    expiresAt: new Date(Date.now() + 60_000),
  });
  return code;
}

/** The same with a verifier of its own. */
export async function approveCode(
  sql: Sql,
  accountId: string,
  options: ApprovalOptions & { redirectUri?: string } = {},
): Promise<{ code: string; verifier: string; redirectUri: string }> {
  const { redirectUri = loopback } = options;
  const verifier = newVerifier();
  const code = await issueFor(sql, accountId, challengeOf(verifier) ?? '', options);
  return { code, verifier, redirectUri };
}

/** A device that asks; `approve` says yes on the account's behalf. */
export async function askDevice(sql: Sql, options: ApprovalOptions = {}) {
  const { client = 'svc-cli', scopes = allScopes } = options;
  const deviceCode = newToken('deviceCode');
  const userCodeDigest = randomBytes(32).toString('hex');
  await startDevice(sql, {
    id: newId('dev', 0),
    deviceCodeHash: tokenHash(deviceCode),
    userCodeDigest,
    client,
    scopes,
    network: '192.0.2.0/24',
    expiresAt: new Date(Date.now() + 900_000),
  });
  return {
    deviceCode,
    userCodeDigest,
    approve: async (accountId: string) => {
      const approval = await approvalOf(sql, accountId, { client, scopes });
      return decideDevice(sql, userCodeDigest, approval);
    },
    deny: () => decideDevice(sql, userCodeDigest, null),
  };
}
