// The way to PostgreSQL: small pools of postgres.js, and what an error of it means. A query of
// postgres.js is lazy: it runs when it is awaited, so nothing here hands one out unawaited.
import postgres from 'postgres';
import { AwakeTimer } from '../../runtime/awake.ts';
import type { DatabaseTarget } from '../../runtime/database-target.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { arrayLiteral, readTextArray, type Scalar } from './array.ts';
import { openClient } from './client.ts';
import type { ClientOptions } from './connection.ts';

type Types = { bigint: bigint; texts: Texts };
type Texts = string | readonly Scalar[];

/** Of the library's pools only. */
type Missing = Record<
  'reserve' | 'listen' | 'notify' | 'subscribe' | 'file' | 'largeObject',
  never
>;
/** A pool. `int8` comes and goes as `bigint`, `text[]` as an array; no other array is known. */
export type Sql = postgres.Sql<Types> & Missing;
/** A transaction on one connection of a pool. */
export type Transaction = postgres.TransactionSql<Types>;
/** What query functions take: they run on a pool as well as inside a transaction. */
export type Queryable = Sql | Transaction;

/**
 * `ledger`: few connections, plans made once, index access forced, so that a plan that was made
 * while the tables were small stays right when they are large. `general`: everything else.
 */
export type PoolPurpose = 'ledger' | 'general';

export interface PoolOptions {
  /** `postgres://user:password@host:port/database`, or `postgres://user@/database?host=/folder`. */
  url: string;
  purpose: PoolPurpose;
  connectionsMax: number;
  /** The server gives a statement up after this long; 0: never. */
  statementTimeoutMs: number;
}

/** A text is a literal already. The number is PostgreSQL's own for all time (pg_type.dat). */
const textsType: postgres.PostgresType<Texts> = {
  to: 1009,
  from: [1009],
  serialize: (value: Texts) => (typeof value === 'string' ? value : arrayLiteral(value)),
  parse: readTextArray,
};

/** Opens a pool. Nothing is connected until the first query. Close it with `closePool`. */
export function openPool(options: PoolOptions): Sql {
  const target = parseDatabaseUrl(options.url);
  const settings: Record<string, string | number> = {
    application_name: `tollgate-${options.purpose}`,
    statement_timeout: options.statementTimeoutMs,
    // Of a process that is gone without a word the server hears after hours: its locks end here.
    idle_in_transaction_session_timeout: fixedLimits.database.idleTransactionMs,
    TimeZone: 'UTC',
    // An operator's defaults may be others. Who waits for a lock has to see what it guarded.
    default_transaction_isolation: 'read committed',
    array_nulls: 'on',
  };
  if (options.purpose === 'ledger') {
    settings.plan_cache_mode = 'force_generic_plan';
    settings.enable_seqscan = 'off';
    settings.enable_bitmapscan = 'off';
    settings.jit = 'off';
  }
  const { statementTimeoutMs, connectionsMax } = options;
  const { database } = fixedLimits;
  const client = {
    ...target,
    ssl: tlsOf(target),
    // postgres.js would look array types up on each new connection, and nobody hears of it when
    // that ends meanwhile: an unhandled rejection, which is the end of a thread.
    fetch_types: false,
    onnotice: () => undefined,
    types: { bigint: postgres.BigInt, texts: textsType },
    connection: settings,
  };
  const silentMs = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + database.silenceMs;
  return openClient(client, { ...database, connectionsMax, silentMs }) as unknown as Sql;
}

/** Told no name, postgres.js (3.4.9) looks whether the certificate of an address is localhost's. */
function tlsOf({ host, ssl }: DatabaseTarget): NonNullable<ClientOptions['ssl']> {
  if (host.startsWith('/')) return false;
  return ssl === 'verify-full' ? { host } : ssl;
}

/** Ends a pool: waits for running queries at most `timeoutMs`, then cuts them. */
export async function closePool(sql: Sql, timeoutMs: number): Promise<void> {
  await sql.end({ timeout: timeoutMs / 1_000 });
}

/**
 * Reads a database URL, with a folder of a unix socket in `host` as libpq has it
 * (https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-CONNSTRING), which `URL` refuses
 * because the authority has no host. Throws an Error that names no part of the URL.
 */
export function parseDatabaseUrl(url: string): DatabaseTarget {
  const match = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(url);
  if (match === null) throw new Error('the database URL is not of the form postgres://…');
  // As in any URL, a password may have colons and at signs of its own.
  const [, username = '', password = ''] = (/^([^:]*):?(.*)$/.exec(match[1] ?? '') ?? []).map(
    decodeURIComponent,
  );
  const query = new URLSearchParams(match[4] ?? '');
  const [hostName = '', portText = ''] = splitAuthority(match[2] ?? '');
  const host = query.get('host') ?? (hostName === '' ? 'localhost' : hostName);
  const port = Number(query.get('port') ?? (portText === '' ? '5432' : portText));
  if (!Number.isInteger(port)) throw new Error('the port of the database URL is not a number');
  const user = username === '' ? (query.get('user') ?? 'postgres') : username;
  const database = decodeURIComponent(match[3] ?? '');
  return {
    host,
    port,
    database: database === '' ? user : database,
    username: user,
    password: password === '' ? (query.get('password') ?? '') : password,
    ssl: readSslMode(query.get('sslmode')),
  };
}

function splitAuthority(authority: string): string[] {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(authority);
  return bracketed === null ? authority.split(':') : [bracketed[1] ?? '', bracketed[2] ?? ''];
}

function readSslMode(mode: string | null): DatabaseTarget['ssl'] {
  switch (mode) {
    case 'prefer':
    case 'require':
      return mode;
    case 'verify-ca':
    case 'verify-full':
      return 'verify-full';
    default:
      return false;
  }
}

/**
 * What an error of a query means for its caller:
 * `unavailable`: the database did not answer, and whether the work was done is not known;
 * `retry`: rolled back, nothing was done, the same may succeed again;
 * `unique`, `refused`: rolled back by a unique index or another constraint;
 * `unstorable`: a text with NUL, which neither `text` nor `jsonb` holds;
 * `bug`: anything else.
 */
export type SqlFailure = 'unavailable' | 'retry' | 'unique' | 'refused' | 'unstorable' | 'bug';

/** No answer within our own deadline: the work may still be done. */
export class DeadlineError extends Error {
  constructor(timeoutMs: number) {
    super(`the database did not answer within ${timeoutMs} ms`);
    this.name = 'DeadlineError';
  }
}

/**
 * Of postgres.js, of the system (EAGAIN: the backlog of a unix socket is full, connect(2); EMFILE
 * and its kin: there is nothing left to connect with), and of Node's sockets that were destroyed
 * under a query.
 */
const connectionCodes = new RegExp(
  '^(CONNECTION_|CONNECT_|ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|ENOTCONN|EAI_AGAIN|' +
    'EAGAIN|EACCES|EMFILE|ENFILE|ENOBUFS|ENOMEM|ERR_STREAM_|ERR_SOCKET_)',
);
/**
 * Connection, resources, operator intervention, system error, read-only standby; and what is said
 * to who may not come in: a password that was changed, a database that is gone, closed or no longer
 * granted (InitPostgres of the server, which knows no other).
 */
const unavailableStates = /^(08|53|57|58|25006|28|3D000|55000|42501)/;
const retryStates = /^(40001|40P01|55P03|0A000)/;

export function classifyError(error: unknown): SqlFailure {
  if (error instanceof DeadlineError) return 'unavailable';
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return 'bug';
  if (error instanceof postgres.PostgresError) {
    if (unavailableStates.test(code)) return 'unavailable';
    if (retryStates.test(code)) return 'retry';
    if (code === '23505') return 'unique';
    if (code === '22021' || code === '22P05') return 'unstorable';
    return code.startsWith('23') ? 'refused' : 'bug';
  }
  return connectionCodes.test(code) ? 'unavailable' : 'bug';
}

/** What a log may say about an error: no statement, no row values. */
export function errorFields(error: unknown): Record<string, unknown> {
  if (error instanceof postgres.PostgresError) {
    return { sqlState: error.code, constraint: error.constraint_name, reason: error.message };
  }
  const code = (error as { code?: unknown } | null)?.code;
  return { code, reason: error instanceof Error ? error.message : String(error) };
}

/**
 * Waits for a query at most `timeoutMs`, by default as long as a request may wait for one, then
 * throws a DeadlineError; the query is left alone.
 */
export function withDeadline<T>(
  query: PromiseLike<T>,
  timeoutMs: number = fixedLimits.database.queryTimeoutMs,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = new AwakeTimer(timeoutMs, () => reject(new DeadlineError(timeoutMs)));
    query.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}
