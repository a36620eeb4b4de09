// A person of a test: an account with an address of its own, signed in as a browser or an app is.
import { randomBytes } from 'node:crypto';
import { newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { createSession, type SessionKind } from '../../../db/sessions.ts';
import { newId } from '../../../runtime/ids.ts';
import type { TestAccount } from '../../harness/account.ts';
import type { CallOptions, Contract, Reply } from '../../harness/contract.ts';
import type { Testbed } from '../../harness/testbed.ts';

export interface TestPerson extends TestAccount {
  email: string;
  fullName: string;
  /** Its session as an app, signed in a moment ago. */
  session: { id: string; token: string };
  /** Calls as the app does, checked against the documents. */
  call(method: string, path: string, body?: unknown, session?: string): Promise<Reply>;
}

export interface SessionOptions {
  kind?: SessionKind;
  /** How long ago the person signed in. */
  ageMs?: number;
  userAgent?: string;
  network?: string;
}

/** Another session of an account. */
export async function newSession(
  { sql }: Pick<Testbed, 'sql'>,
  accountId: string,
  { kind = 'app', ageMs = 0, userAgent = 'test', network = '192.0.2.0/24' }: SessionOptions = {},
): Promise<{ id: string; token: string }> {
  const token = newToken(kind);
  const id = newId('ses', 0);
  const expiresAt = new Date(Date.now() + 86_400_000);
  const method = kind === 'app' ? 'password' : 'otp';
  const row = { id, tokenHash: tokenHash(token), accountId, expiresAt, kind, method } as const;
  await createSession(sql, { ...row, userAgent, network });
  const before = new Date(Date.now() - ageMs);
  await sql`UPDATE sessions SET authenticated_at = ${before} WHERE id = ${id}`;
  return { id, token };
}

/** A new person; `contract` checks its calls. */
export async function makePerson(
  bed: Testbed,
  contract: Contract,
  options: Parameters<Testbed['account']>[0] = {},
): Promise<TestPerson> {
  const account = await bed.account(options);
  const mark = randomBytes(6).toString('hex');
  const email = `person-${mark}@example.test`;
  const fullName = `Person ${mark}`;
  await bed.sql`
    UPDATE accounts SET email = ${email}, email_owned = true, email_verified_at = now(),
      full_name = ${fullName}
    WHERE id = ${account.accountId}`;
  const session = await newSession(bed, account.accountId);
  return {
    ...account,
    email,
    fullName,
    session,
    call: (method, path, body, token = session.token) => {
      const asked: CallOptions = { headers: { 'x-svc-session': token } };
      return contract.call(method, path, body === undefined ? asked : { ...asked, body });
    },
  };
}
