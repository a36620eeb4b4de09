// A client of postgres.js whose queries run on our pool. Transactions are begun here, too: those of
// postgres.js (3.4.9) go on writing to a connection that was lost, which ends the thread.
import postgres from 'postgres';
import type { Client, ClientOptions, Connection, Query } from './connection.ts';
import { Pool, type PoolLimits } from './pool.ts';

type Run = (query: Query) => void;
/** A transaction's work: what it resolves with, or queries that are all to be done. */
type Work = (transaction: Client) => unknown;

/** Nothing is connected until the first query. */
export function openClient(options: ClientOptions, limits: PoolLimits): Client {
  // Makes queries and never runs one.
  const maker: Client = postgres({ ...options, max: 1 });
  const pool = new Pool(options, limits);
  const client = clientOf(maker, (query) => pool.run(query));
  const begin = async (...parameters: [Work] | [string, Work]): Promise<unknown> => {
    const [mode, work] = parameters.length === 1 ? ['', parameters[0]] : parameters;
    const connection = await pool.takeWhole();
    try {
      return await transact(maker, connection, mode, work);
    } finally {
      pool.giveBack(connection);
    }
  };
  const end = ({ timeout = 0 }: { timeout?: number } = {}) => pool.end(timeout * 1_000);
  return Object.assign(client, { begin, end });
}

/** Its queries go to `run`; what is no query (a name, a list) is left as it is. */
function clientOf(maker: Client, run: Run): Client {
  const own = (made: unknown) => {
    if (made instanceof Promise) (made as unknown as Query).handler = run;
    return made;
  };
  const make = maker as unknown as (...parameters: unknown[]) => unknown;
  const { unsafe } = maker as unknown as { unsafe: typeof make };
  return Object.assign((...parameters: unknown[]) => own(make(...parameters)), {
    unsafe: (...parameters: unknown[]) => own(unsafe(...parameters)),
  }) as unknown as Client;
}

async function transact(
  maker: Client,
  connection: Connection,
  mode: string,
  work: Work,
): Promise<unknown> {
  let failure: { error: unknown } | null = null;
  const transaction = clientOf(maker, (query) => {
    // A failure that is caught is one all the same: the server commits nothing after it.
    query.then(undefined, (error: unknown) => {
      failure ??= { error };
    });
    connection.run(query);
  });
  try {
    await transaction.unsafe(`BEGIN ${mode}`);
    const made = work(transaction);
    const result = await (Array.isArray(made) ? Promise.all(made) : made);
    if (failure !== null) throw (failure as { error: unknown }).error;
    await transaction.unsafe('COMMIT');
    return result;
  } catch (error) {
    // What cannot be rolled back ends with its connection.
    await transaction.unsafe('ROLLBACK').catch((fault: unknown) => connection.lose(fault));
    throw error;
  }
}
