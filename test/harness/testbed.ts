// What a test file of the API stands on: a real gateway in dev mode with its simulator, on a fresh
// database of the shared test server, so that tests can make accounts and read the books.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDirectWallet, type DirectWallet } from '../../actors/wallet/direct.ts';
import { walletLimits } from '../../actors/wallet/limits.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { type AccountOptions, makeAccount, type TestAccount } from './account.ts';
import { openTestDatabase, type TestDatabase } from './database.ts';
import { type DevFile, type Gateway, startGateway } from './gateway.ts';
import { Simulator } from './simulator.ts';

export interface TestbedOptions {
  shards?: number;
  /** Configuration of the gateway. */
  env?: Record<string, string>;
  /** A document for TOLLGATE_CONFIG. */
  catalog?: Record<string, unknown>;
  /**
   * Why the gateway is not shared with other files although it is the default one: the file kills
   * it, changes its catalog, or counts all that it holds.
   */
  own?: string;
}

export interface Testbed {
  url: string;
  gateway: Gateway;
  database: TestDatabase;
  sql: Sql;
  dev: DevFile;
  simulator: Simulator;
  wallet: DirectWallet;
  /** A new account with a wallet, a key and a session. */
  account(options?: AccountOptions): Promise<TestAccount>;
  close(): Promise<void>;
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Given by the runner to a process whose files use one gateway, one after the other. */
const isShared = process.env.TOLLGATE_TEST_SHARED !== undefined;
let shared: Promise<Testbed> | null = null;

/** Starts the gateway and waits until it is ready. `close` it in an `after` hook. */
export async function openTestbed(options: TestbedOptions = {}): Promise<Testbed> {
  if (!isShared || Object.keys(options).length > 0) return await startTestbed(options);
  shared ??= startTestbed({});
  // The last file closes it.
  return { ...(await shared), close: async () => {} };
}

/** At the end of a process whose files shared one. */
export async function closeSharedTestbed(): Promise<void> {
  await (await shared)?.close();
}

async function startTestbed(options: TestbedOptions): Promise<Testbed> {
  const database = await openTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-testbed-'));
  await chmod(folder, 0o711);
  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    TOLLGATE_MODE: 'dev',
    TOLLGATE_LOG_LEVEL: 'warn',
    ...options.env,
  };
  if (options.catalog !== undefined) {
    env.TOLLGATE_CONFIG = join(folder, 'catalog.json');
    await writeFile(env.TOLLGATE_CONFIG, JSON.stringify(options.catalog));
  }
  let gateway: Gateway | null = null;
  const close = async () => {
    await gateway?.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    gateway = await startGateway({ env, shards: options.shards ?? 2 });
    return testbedOf(gateway, database, close);
  } catch (error) {
    await close();
    throw error;
  }
}

function testbedOf(gateway: Gateway, database: TestDatabase, close: () => Promise<void>): Testbed {
  const { url, dev } = gateway;
  const sql = database.pool('general', 2);
  const wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log: silent });
  return {
    url,
    gateway,
    database,
    sql,
    dev,
    simulator: new Simulator(dev.simulator_url),
    wallet,
    account: (wanted = {}) => makeAccount({ baseUrl: url, sql, wallet }, wanted),
    close,
  };
}
