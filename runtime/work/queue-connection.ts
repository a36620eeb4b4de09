// How the queue reaches the database: as the ledger's connections do. It speaks through `pg`, which
// would read the URL and the environment in its own way.
import type { DatabaseTarget } from '../database-target.ts';

const SCHEMA = 'bullmq';
const CONNECTIONS_MAX = 2;
const CONNECT_TIMEOUT_MS = 3_000;
/** Where the network falls silent nothing is closed: who has no answer by then connects anew. */
const QUERY_MS = 5_000;

/**
 * Member by member, since `pg` reads a URL in its own way: it looks at certificates with `require`
 * too, which those of few hosted databases pass, takes `options` of it for all that there are, and
 * what is not said from PGSSLMODE and its like.
 */
export function connectionTo({ host, port, database, username, password, ssl }: DatabaseTarget) {
  const isPlain = ssl === false || host.startsWith('/');
  return {
    host,
    port,
    database,
    user: username,
    password,
    ssl: isPlain ? false : { rejectUnauthorized: ssl === 'verify-full' },
    sslnegotiation: 'postgres',
    schema: SCHEMA,
    migrate: true,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_MS,
    application_name: 'tollgate-queue',
  };
}

/** `prefer`: `pg` does not go on without TLS by itself where a server has none. */
export function nextTarget(database: DatabaseTarget, error: Error): DatabaseTarget {
  if (database.ssl !== 'prefer' || !error.message.includes('not support SSL')) return database;
  return { ...database, ssl: false };
}
