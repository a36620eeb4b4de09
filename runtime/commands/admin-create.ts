// `npm run admin:create`: the first administrator of a database, whose session token is printed
// here and stands nowhere else. Runs beside a server or alone, when it starts the embedded database
// for as long as it takes. Exit 0: made; 1: refused, nothing was changed; 2: it cannot run.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { tokenHash } from '../../actors/credentials/token.ts';
import { parseAddress } from '../../actors/identity/address.ts';
import { appointAdministrator, renewAdministrator } from '../../db/accounts.ts';
import { migrate } from '../../db/driver/migrate.ts';
import { assertDatabaseUsable, databaseFault, databasePlace } from '../../db/driver/reach.ts';
import { closePool, openPool, parseDatabaseUrl, type Sql } from '../../db/driver/sql.ts';
import { readConfig } from '../config.ts';
import { attachDatabase } from '../embedded/database.ts';
import { newAuditId, newId } from '../ids.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** Who has an address signs in anew; the others have --renew. */
const sessionDays = 30;
/** In the audit trail: whoever may write to the database. */
const commandActor = 'command';

const usage = `npm run admin:create                      makes the first administrator
npm run admin:create -- --another         makes one beside those that there are
npm run admin:create -- --renew ACCOUNT   ends an administrator's sessions and makes a new one
npm run admin:create -- --email ADDRESS   makes one who signs in on the pages with a code;
                                          with --another beside those that there are
Each prints one session token, good for ${sessionDays} days. It works on the database of
DATABASE_URL, or on the embedded one of TOLLGATE_DATA.`;

/** Nothing is wrong with the program or the database: the answer is no. */
class Refusal extends Error {}

interface Appointed {
  accountId: string;
  token: string;
  expiresAt: Date;
}

async function main(): Promise<void> {
  const wanted = readArguments();
  if (wanted === null) {
    console.log(usage);
    return;
  }
  const { databaseUrl, dataDir } = readConfig();
  const embedded = databaseUrl === null ? await attachDatabase({ dataDir, log: silent }) : null;
  const url = databaseUrl ?? embedded?.url ?? '';
  try {
    const place = databaseUrl === null ? dataDir : placeOf(databaseUrl);
    print(place, await onDatabase(url, wanted));
  } finally {
    await embedded?.stop();
  }
}

interface Wanted {
  isAnother: boolean;
  /** An account that is to get a new session. */
  renewed: string | null;
  /** The address of a new one. */
  email: string | null;
}

/** Null: how it is used was asked for. */
function readArguments(): Wanted | null {
  const options = {
    another: { type: 'boolean' },
    renew: { type: 'string' },
    email: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help === true) return null;
  const email = values.email === undefined ? null : parseAddress(values.email);
  if (values.email !== undefined && email === null) {
    throw new Refusal(`${JSON.stringify(values.email)} is no address of mail`);
  }
  if (email !== null && values.renew !== undefined) {
    throw new Refusal('--email makes an administrator, and --renew has one already');
  }
  return { isAnother: values.another === true, renewed: values.renew ?? null, email };
}

function placeOf(databaseUrl: string): string {
  return `${databasePlace(databaseUrl)}/${parseDatabaseUrl(databaseUrl).database}`;
}

async function onDatabase(url: string, wanted: Wanted): Promise<Appointed> {
  await assertDatabaseUsable(url);
  // As a start does: an administrator may be made before the first one.
  await migrate(url);
  const sql = openPool({ url, purpose: 'general', connectionsMax: 1, statementTimeoutMs: 10_000 });
  try {
    return wanted.renewed === null ? await appoint(sql, wanted) : await renew(sql, wanted.renewed);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Error(databaseFault(url, error));
  } finally {
    await closePool(sql, 1_000);
  }
}

function newSession() {
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.now() + sessionDays * 86_400_000);
  return { token, session: { tokenHash: tokenHash(token), expiresAt } };
}

function eventOf(action: string, accountId: string, details: Record<string, unknown>) {
  const subject = `account:${accountId}`;
  return { id: newAuditId(0), accountId, actor: commandActor, action, subject, details };
}

async function appoint(sql: Sql, { isAnother, email }: Wanted): Promise<Appointed> {
  const accountId = newId('acc', 0);
  const walletId = newId('wal', 0);
  const { token, session } = newSession();
  const { expiresAt } = session;
  const details = {
    role: 'admin',
    has_address: email !== null,
    wallet_id: walletId,
    session_expires_at: expiresAt,
  };
  const event = eventOf('account.create', accountId, details);
  const administrator = { accountId, walletId, session, isAnother, email };
  const appointed = await appointAdministrator(sql, administrator, event);
  if (appointed === 'taken') throw new Refusal('the address belongs to another account');
  if (appointed === 'made') return { accountId, token, expiresAt };
  throw new Refusal('there is an administrator already: see --another and --renew in --help');
}

async function renew(sql: Sql, accountId: string): Promise<Appointed> {
  const { token, session } = newSession();
  const { expiresAt } = session;
  const event = eventOf('session.renew', accountId, { session_expires_at: expiresAt });
  if (await renewAdministrator(sql, accountId, session, event)) {
    return { accountId, token, expiresAt };
  }
  throw new Refusal(`${JSON.stringify(accountId)} is no account of an enabled administrator`);
}

function print(place: string, { accountId, token, expiresAt }: Appointed): void {
  console.log(`database       ${place}`);
  console.log(`administrator  ${accountId}`);
  console.log(`session token  ${token}`);
  console.log(`good until     ${expiresAt.toISOString()}`);
  console.log('It is sent as header X-Svc-Session, and is shown this once.');
}

try {
  await main();
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  console.error(`no administrator was made: ${reason}`);
  process.exitCode = error instanceof Refusal ? 1 : 2;
}
