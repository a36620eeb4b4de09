// Whether the server of DATABASE_URL can be used at all: asked before anything else is started, so
// that what is wrong with it is one line that names the variable, and never its password.
import postgres from 'postgres';
import { ConfigError } from '../../runtime/config.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { closePool, DeadlineError, openPool, parseDatabaseUrl, withDeadline } from './sql.ts';

/** What the queue recommends as its lowest, and the oldest that its makers still mend. */
const versionMin = 14;
const unusable = 'DATABASE_URL cannot be used';
/** PgBouncer refuses our settings or, told to, drops them, and its transactions lose statements. */
const isPooler = 'is that a pooler? Name the server itself';

interface Server {
  /** Such as 180004. */
  versionNumber: number;
  version: string;
  isReadOnly: boolean;
  encoding: string;
  /** Null: the search path names no schema that exists. */
  mayCreate: boolean | null;
  /** As the queue does. */
  mayCreateSchemas: boolean;
  /** Of this connection, as the server has it. */
  statementTimeoutMs: number;
  connectionsMax: number;
  offSettings: string | null;
}

/** What a server that can be used may lack all the same. */
export interface DatabaseFacts {
  /** How many connections its user may have, counted with all that others have. */
  connectionsMax: number;
  /** Settings without which it may forget, in a crash, what it has said is written; null: none. */
  offSettings: string | null;
}

/**
 * What the server is like.
 * @throws ConfigError in one line that says why the server cannot be used
 */
export async function assertDatabaseUsable(url: string): Promise<DatabaseFacts> {
  const { connectTimeoutMs, queryTimeoutMs } = fixedLimits.database;
  const sql = openPool({
    url,
    purpose: 'general',
    connectionsMax: 1,
    statementTimeoutMs: queryTimeoutMs,
  });
  try {
    const [server] = await withDeadline(
      sql<Server[]>`
        SELECT current_setting('server_version_num')::int AS "versionNumber",
          current_setting('server_version') AS version,
          pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'
            AS "isReadOnly",
          current_setting('server_encoding') AS encoding,
          has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate",
          has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchemas",
          (SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout')
            AS "statementTimeoutMs",
          LEAST(
            current_setting('max_connections')::int
              - current_setting('superuser_reserved_connections')::int
              - COALESCE(current_setting('reserved_connections', true)::int, 0),
            (SELECT NULLIF(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user),
            (SELECT NULLIF(datconnlimit, -1) FROM pg_database WHERE datname = current_database())
          ) AS "connectionsMax",
          (SELECT string_agg(name, ', ' ORDER BY name) FROM pg_settings WHERE setting = 'off'
            AND name IN ('fsync', 'full_page_writes', 'synchronous_commit')) AS "offSettings"`,
      connectTimeoutMs,
    );
    if (server === undefined) throw new ConfigError(`${unusable}: it answers no query`);
    const fault = faultOf(server, queryTimeoutMs);
    if (fault !== null) throw new ConfigError(`${unusable}: ${fault}`);
    const { connectionsMax, offSettings } = server;
    return { connectionsMax, offSettings };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${unusable}: ${databaseFault(url, error)}`);
  } finally {
    // Who is no PostgreSQL server may never answer a goodbye.
    void closePool(sql, 0);
  }
}

/** Why a query of the database failed, in one line: where it is, and what came from there. */
export function databaseFault(url: string, error: unknown): string {
  const reason = reasonOf(error, fixedLimits.database.connectTimeoutMs / 1_000);
  return `${databasePlace(url)}: ${reason}`;
}

/** Where the server of a database URL is reached; a unix socket is the file that libpq opens. */
export function databasePlace(url: string): string {
  const { host, port } = parseDatabaseUrl(url);
  return host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host}:${port}`;
}

function faultOf(server: Server, timeoutMs: number): string | null {
  const { versionNumber, version, isReadOnly, encoding, mayCreate, mayCreateSchemas } = server;
  if (versionNumber < versionMin * 10_000) {
    return `PostgreSQL ${versionMin} or newer is needed, the server is ${version}`;
  }
  if (isReadOnly) return 'the server is read-only: name the primary';
  // Others lack most characters: an answer with one of them can never be stored nor settled.
  // SQL_ASCII keeps the bytes that it is given.
  if (encoding !== 'UTF8' && encoding !== 'SQL_ASCII') {
    return `the encoding of the database is ${encoding}: make it with ENCODING 'UTF8'`;
  }
  if (mayCreate !== true) return 'its user may not create tables in the schema of its search path';
  if (!mayCreateSchemas) {
    return 'its user may not create schemas, of which the queue has one: GRANT CREATE ON DATABASE';
  }
  if (server.statementTimeoutMs !== timeoutMs) {
    return `the settings of a connection do not arrive: ${isPooler}`;
  }
  return null;
}

function reasonOf(error: unknown, seconds: number): string {
  // Its own words: the password is in none of them.
  if (error instanceof postgres.PostgresError) {
    const isRefusal = error.message.startsWith('unsupported startup parameter');
    return isRefusal ? `${error.message}: ${isPooler}` : error.message;
  }
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  if (error instanceof DeadlineError || code === 'CONNECT_TIMEOUT') {
    return `no answer of a PostgreSQL server within ${seconds} s`;
  }
  // A unix socket that is not there is a file that is not there.
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return `nobody listens there (${code})`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host is not found (${code})`;
  if (code === 'ECONNRESET' || code === 'CONNECTION_CLOSED') {
    return 'the connection was closed at once: is it a PostgreSQL server, with TLS as asked for?';
  }
  if (/^(UNABLE_TO_(VERIFY|GET)_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code)) {
    return `its certificate is not trusted (${code}): name its CA's file in NODE_EXTRA_CA_CERTS`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `its certificate is for others (${code})`;
  return code === '' ? 'the connection failed' : `the connection failed (${code})`;
}
