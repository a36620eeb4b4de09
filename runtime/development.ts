// Development mode: one account with 100,000 credits, a key with every scope and a session, and an
// administrator with a session, told to whoever reads `dev.json`. A later start keeps them.
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import * as v from 'valibot';
import { developmentFilePath } from '../actors/credentials/development-file.ts';
import {
  type PageName,
  pageKeyPath,
  pageKeys,
  readPageKey,
} from '../actors/credentials/page-keys.ts';
import { scopes } from '../actors/credentials/scope.ts';
import { displayPrefix, newKeyToken, tokenHash } from '../actors/credentials/token.ts';
import { mailWayOf } from '../actors/mail/way.ts';
import type { DirectWallet } from '../actors/wallet/direct.ts';
import { findHouse } from '../db/accounts/house.ts';
import { findPerson, proveAddress } from '../db/accounts/person.ts';
import { createAccount } from '../db/accounts.ts';
import type { Sql } from '../db/driver/sql.ts';
import { createKey, findKeyByHash } from '../db/keys.ts';
import { createSession, findSession } from '../db/sessions.ts';
import { createWallet } from '../db/wallets.ts';
import type { Config } from './config.ts';
import { newId } from './ids.ts';

const grantMicros = 100_000n * 1_000_000n;
/** For load tests. */
const requestsPerMinute = 1_000_000;
const concurrencyMax = 10_000;
const sessionDays = 3_650;

const fileSchema = v.object({
  api_key: v.string(),
  session_token: v.string(),
  admin_session_token: v.string(),
  account_id: v.string(),
  wallet_id: v.string(),
});

/** What a developer needs to call the service; secret. */
export type DevelopmentAccount = v.InferOutput<typeof fileSchema>;

export interface DevelopmentServices {
  config: Config;
  sql: Sql;
  performOnWallet: DirectWallet;
}

/** Finds the account that `dev.json` names, or makes one. Throws when it gets no credits. */
export async function prepareDevelopment(
  services: DevelopmentServices,
): Promise<DevelopmentAccount> {
  await fundHouse(services);
  const known = await readKnown(services.config);
  if (known !== null && (await stillValid(services.sql, known))) {
    // An older build gave them neither addresses nor limits.
    await equip(services.sql, known);
    return known;
  }
  const account: DevelopmentAccount = {
    api_key: newKeyToken('live'),
    session_token: randomBytes(32).toString('base64url'),
    admin_session_token: randomBytes(32).toString('base64url'),
    account_id: newId('acc', 0),
    wallet_id: newId('wal', 0),
  };
  await insertAccounts(services.sql, account);
  await fund(services, account.wallet_id);
  return account;
}

/** Once, like all that has an operation id; throws when the wallet does not get it. */
async function fund({ performOnWallet }: DevelopmentServices, walletId: string): Promise<void> {
  const reply = await performOnWallet(walletId, 'grant', {
    operationId: `development.${walletId}`,
    kind: 'promotion',
    amountMicros: grantMicros,
    expiresAtMs: null,
    note: 'development credits',
  });
  if (reply.status !== 'granted') throw new Error('a development wallet did not get its credits');
}

/** What is asked of models for the service itself is paid from it. */
async function fundHouse(services: DevelopmentServices): Promise<void> {
  const { walletId } = await findHouse(services.sql);
  await fund(services, walletId);
}

/** Of the pages: each gets a key for what it does, and nothing else. */
const pageKeyLimits = { requestsPerMinute: 600, concurrencyMax: 64 };

/**
 * Sees to it that there is a key for each page, in a file of its own beside `dev.json`: the
 * development key can do everything, and must not be lent to a page.
 */
export async function preparePageKeys(
  services: Pick<DevelopmentServices, 'config' | 'sql'>,
  account: DevelopmentAccount,
): Promise<void> {
  for (const page of Object.keys(pageKeys) as PageName[]) {
    await preparePageKey(services, account, page);
  }
}

async function preparePageKey(
  { config, sql }: Pick<DevelopmentServices, 'config' | 'sql'>,
  { account_id: accountId, wallet_id: walletId }: DevelopmentAccount,
  page: PageName,
): Promise<void> {
  const known = await readPageKey(config, page);
  const found = known === null ? null : await findKeyByHash(sql, tokenHash(known));
  if (found?.status === 'active' && found.accountId === accountId) return;
  const token = newKeyToken('live');
  const { label, scopes } = pageKeys[page];
  await sql.begin((transaction) =>
    createKey(transaction, {
      id: newId('key', 0),
      accountId,
      walletId,
      label,
      environment: 'live',
      scopes: [...scopes],
      tokenHash: tokenHash(token),
      prefix: displayPrefix(token),
      ...pageKeyLimits,
    }),
  );
  await writePrivately(pageKeyPath(config, page), token);
}

/** Mode 0600, whole or not at all. */
async function writePrivately(path: string, content: string): Promise<void> {
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, content, { mode: 0o600, flush: true });
  await rename(partial, path);
}

/** Writes `dev.json` for this start: mode 0600, atomically. */
export async function writeDevelopmentFile(
  config: Config,
  account: DevelopmentAccount & { simulator_url: string | null },
): Promise<void> {
  const { simulator_url, ...kept } = account;
  const content = {
    base_url: config.baseUrl,
    ...kept,
    simulator_url,
    mailbox_url: mailboxUrl(config),
  };
  await writePrivately(developmentFilePath(config), `${JSON.stringify(content, null, 2)}\n`);
}

/** Where mails of this process are read; null: they really leave. */
function mailboxUrl(config: Config): string | null {
  return mailWayOf(config) === 'mailbox' ? `${config.baseUrl}/dev/mailbox` : null;
}

/** Whether the key or a session of an earlier start in development mode opens this database. */
export async function hasDevelopmentAccess({
  config,
  sql,
}: Pick<DevelopmentServices, 'config' | 'sql'>): Promise<boolean> {
  const known = await readKnown(config);
  if (known === null) return false;
  const { key, user, admin } = await findAccess(sql, known);
  return key?.status === 'active' || user !== null || admin !== null;
}

/** What a developer is shown at the start; the same stands in `dev.json`. */
export function developmentNotice(config: Config, account: DevelopmentAccount): string {
  const mailbox = mailboxUrl(config);
  return [
    'development mode: answers of svc-sim models come from the simulator',
    `  API key        ${account.api_key}`,
    `  session        ${account.session_token}`,
    `  admin session  ${account.admin_session_token}`,
    `  all of it in   ${developmentFilePath(config)}`,
    `  talk to it at  ${config.baseUrl}/voice`,
    `  make videos at ${config.baseUrl}/video`,
    `  search at      ${config.baseUrl}/search`,
    ...(mailbox === null ? [] : [`  read mail at   ${mailbox}`]),
    '',
  ].join('\n');
}

async function readKnown(config: Config): Promise<DevelopmentAccount | null> {
  try {
    return v.parse(fileSchema, JSON.parse(await readFile(developmentFilePath(config), 'utf8')));
  } catch {
    // Absent or of another time: a new account is made.
    return null;
  }
}

/** Another database under the same folder knows nothing of the account. */
async function stillValid(sql: Sql, account: DevelopmentAccount): Promise<boolean> {
  const { key, user, admin } = await findAccess(sql, account);
  return key?.status === 'active' && user !== null && admin !== null;
}

async function findAccess(sql: Sql, account: DevelopmentAccount) {
  const [key, user, admin] = await Promise.all([
    findKeyByHash(sql, tokenHash(account.api_key)),
    findSession(sql, tokenHash(account.session_token)),
    findSession(sql, tokenHash(account.admin_session_token)),
  ]);
  return { key, user, admin };
}

async function insertAccounts(sql: Sql, account: DevelopmentAccount): Promise<void> {
  const { account_id: accountId, wallet_id: walletId } = account;
  const expiresAt = new Date(Date.now() + sessionDays * 86_400_000);
  const administrator = newId('acc', 0);
  await sql.begin(async (transaction) => {
    await createAccount(transaction, { id: accountId, role: 'user' });
    await createWallet(transaction, { id: walletId, accountId, type: 'personal' });
    await createKey(transaction, {
      id: newId('key', 0),
      accountId,
      walletId,
      label: 'development',
      environment: 'live',
      scopes: [...scopes],
      tokenHash: tokenHash(account.api_key),
      prefix: displayPrefix(account.api_key),
      requestsPerMinute,
      concurrencyMax,
    });
    // The role is the account's, so the session without it needs another account.
    await createAccount(transaction, { id: administrator, role: 'admin' });
    const wallet = { id: newId('wal', 0), accountId: administrator, type: 'personal' } as const;
    await createWallet(transaction, wallet);
    for (const [token, owner] of [
      [account.session_token, accountId],
      [account.admin_session_token, administrator],
    ] as const) {
      const session = { tokenHash: tokenHash(token), accountId: owner, expiresAt };
      await createSession(transaction, { ...session, requestsPerMinute, concurrencyMax });
    }
  });
  await equip(sql, account);
}

/** Who signs in on pages, with a code from the mailbox. */
const addresses = { user: 'developer@tollgate.test', admin: 'admin@tollgate.test' } as const;

/** Both accounts have an address, and both sessions the limits of the key. */
async function equip(sql: Sql, account: DevelopmentAccount): Promise<void> {
  for (const token of [account.session_token, account.admin_session_token]) {
    const hash = tokenHash(token);
    const session = await findSession(sql, hash);
    if (session === null) continue;
    const { accountId, expiresAt, role } = session;
    await createSession(sql, {
      tokenHash: hash,
      accountId,
      expiresAt,
      requestsPerMinute,
      concurrencyMax,
    });
    const person = await findPerson(sql, accountId);
    if (person?.email !== null) continue;
    const address = addresses[role];
    await sql.begin((transaction) => proveAddress(transaction, accountId, address));
  }
}
