// One shard's voice without HTTP and providers around it: real actors, wallet and database, but
// clients and upstreams of the test's own (fakes.ts).
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRouteHealth, type RouteHealth } from '../../../actors/provider-health/health.ts';
import type { SearchHit } from '../../../actors/search/web-search.ts';
import { loseHold } from '../../../actors/voice/funding.ts';
import { VoiceHost } from '../../../actors/voice/host.ts';
import {
  createVoiceSessionKind,
  openSession,
  stoodStill,
  type VoiceSessionKind,
  watch,
} from '../../../actors/voice/session.ts';
import { pace } from '../../../actors/voice/sound.ts';
import type { VoiceDeps } from '../../../actors/voice/spec.ts';
import type { VoiceSession } from '../../../actors/voice/state.ts';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import type { WalletProtocol } from '../../../actors/wallet/protocol.ts';
import { createWalletKind } from '../../../actors/wallet/wallet.ts';
import { auditLedger } from '../../../db/audit.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { checkpointSessions } from '../../../db/voice/sessions.ts';
import { createBudgetCounters, openAudioBudget } from '../../../media/audio/budget.ts';
import { createStraightLanes } from '../../../media/audio/lanes/straight.ts';
import type { LiveFamily } from '../../../media/providers/live/contract.ts';
import type { ActorRef, ActorSystem } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { newId } from '../../../runtime/ids.ts';
import { createLog } from '../../../runtime/log.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { makeAccount, type TestAccount } from '../../harness/account.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { FakeCall, FakeClient } from './fakes.ts';
import { type ChosenLimits, limitsOf, modelOf, webSearch } from './stage-parts.ts';

export interface StageOptions extends ChosenLimits {
  /** Stands between the sessions and their wallets. */
  wallet?: (real: ActorRef<WalletProtocol>) => ActorRef<WalletProtocol>;
  /** What a web search finds; absent: there is none. */
  search?: (signal: AbortSignal) => Promise<SearchHit[] | null>;
  targets?: number;
  /** Upstreams are called before the hold is durable. */
  foresees?: boolean;
}

/** Who speaks, and who pays. */
type StageAccount = Pick<TestAccount, 'accountId' | 'walletId' | 'keyId'> & {
  fallbackWalletId?: string;
};

export interface VoiceStage {
  sql: Sql;
  host: VoiceHost;
  health: RouteHealth;
  account(micros?: bigint): Promise<TestAccount>;
  connect(account: StageAccount): FakeClient;
  /** A client whose upstream is called and not ready. */
  starting(account: StageAccount, members?: Record<string, unknown>): Promise<FakeClient>;
  /** A client whose session is live. */
  live(account: StageAccount, members?: Record<string, unknown>): Promise<FakeClient>;
  calls: FakeCall[];
  row(client: FakeClient): Promise<Record<string, unknown>>;
  /** Waits until the session is over and its money is settled. */
  over(client: FakeClient): Promise<Record<string, unknown>>;
  /** The client goes, and its session is over. */
  leave(client: FakeClient): Promise<Record<string, unknown>>;
  assertBooks(): Promise<void>;
  /** Keys' places that are taken. */
  places(): number;
  close(): Promise<void>;
}

/** What sealed tokens of sessions are opened with. */
export const sealer = createSealer(Buffer.alloc(32, 7).toString('base64url'));
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const log = createLog({ level: 'silent', base: {}, sync: true });
const family = { name: 'fake', inputRateHz: 16_000 } as unknown as LiveFamily;
type Wallets = VoiceDeps['wallet'];

function depsOf(options: StageOptions, sql: Sql, wallet: Wallets, calls: FakeCall[]): VoiceDeps {
  const limits = limitsOf(options);
  const host = new VoiceHost({
    sessionsMax: limits.voice.sessionsMax,
    pace,
    watch,
    stoodStill,
    fault: (session, error) => void session.self.tell('fault', error),
    checkpoint: (rows) => checkpointSessions(sql, rows),
    lost: loseHold,
    log,
  });
  const noLanes = { open: 0, frames: 0, batches: 0, droppedFrames: 0, retries: 0 };
  return {
    instanceId: 'ins_stage',
    wallet,
    health: createRouteHealth(),
    fundsEstimate: {
      expectsFunds: () => options.foresees === true,
      saw: () => {},
      forget: () => {},
    },
    sealer,
    limits,
    lanes: { open: () => null, stop: async () => {}, status: noLanes },
    straightLanes: createStraightLanes(),
    budget: openAudioBudget(createBudgetCounters(1), 0, 64 * 1024 * 1024),
    family: () => family,
    openCall: (_family, { routeId }, setup, listener) => {
      const call = new FakeCall(routeId, setup, (events) => listener.events(events));
      calls.push(call);
      return call;
    },
    search: {
      search: async (_place, _query, signal) => (await options.search?.(signal)) ?? null,
    },
    metrics: { started: () => {}, ended: () => {}, refused: () => {} },
    log,
    host,
  };
}

/** The room of a stage: what its parts have in common. */
interface Room {
  options: StageOptions;
  database: TestDatabase;
  sql: Sql;
  deps: VoiceDeps;
  system: ActorSystem;
  kind: VoiceSessionKind;
  calls: FakeCall[];
  places: number;
}

async function openRoom(options: StageOptions): Promise<Room> {
  const database = await openTestDatabase();
  const sql = database.pool('general', 2);
  const wrap = options.wallet ?? ((real: ActorRef<WalletProtocol>) => real);
  const calls: FakeCall[] = [];
  const wallet: Wallets = (walletId) => wrap(system.ref(kinds.wallet, walletId));
  const deps = depsOf(options, sql, wallet, calls);
  const ledger = { sql: database.pool('ledger', 2), clock: Date.now, limits: walletLimits };
  const kinds = {
    wallet: createWalletKind({ ...ledger, log: silent }),
    voiceSession: createVoiceSessionKind(deps),
  };
  const system = createActorSystem({ node: 1, kinds: Object.values(kinds), log: silent });
  return { options, database, sql, deps, system, kind: kinds.voiceSession, calls, places: 0 };
}

function connect(room: Room, account: StageAccount): FakeClient {
  const { options, deps, system, kind } = room;
  assert.ok(deps.host.admit(), 'there is a place');
  room.places += 1;
  const link: { session: VoiceSession | null } = { session: null };
  const id = newId('vs', 1);
  const model = modelOf(options.targets ?? 1);
  const handlers = openSession(system, kind, {
    id,
    exchangeId: 'test',
    accountId: account.accountId,
    walletId: account.walletId,
    fallbackWalletId: account.fallbackWalletId,
    apiKeyId: account.keyId,
    dependsOn: [account.keyId, account.accountId],
    findVoice: (voiceId) => (voiceId === 'alto' ? { model, upstreamVoice: 'Alto' } : null),
    webSearch: () => (options.search === undefined ? null : webSearch),
    releasePermit: () => {
      room.places -= 1;
    },
    link,
  });
  assert.ok(handlers !== null && link.session !== null);
  const client = new FakeClient(id, handlers, link.session);
  handlers.opened(client);
  return client;
}

async function starting(
  room: Room,
  account: StageAccount,
  members: Record<string, unknown>,
): Promise<FakeClient> {
  const client = connect(room, account);
  const { calls } = room;
  const before = calls.length;
  client.start(members);
  await until('the upstream is called', () => calls.length > before);
  client.call = calls.at(-1) ?? null;
  return client;
}

async function live(
  room: Room,
  account: StageAccount,
  members: Record<string, unknown>,
): Promise<FakeClient> {
  const client = await starting(room, account, members);
  client.call?.says({ type: 'ready' });
  assert.deepEqual(client.types(), ['connecting', 'session.ready', 'listening']);
  return client;
}

async function rowOf({ sql }: Room, { id }: FakeClient): Promise<Record<string, unknown>> {
  const [found] = await sql<Record<string, unknown>[]>`
    SELECT state, reason, source, charge_micros::int AS charge, due_micros::int AS due,
      input_speech_tokens::int AS speech_in, output_speech_tokens::int AS speech_out,
      search_calls::int AS searches
    FROM voice_sessions WHERE id = ${id}`;
  return { ...found };
}

async function over(room: Room, client: FakeClient): Promise<Record<string, unknown>> {
  await until('the session is over', () => !room.deps.host.has(client.id));
  return rowOf(room, client);
}

async function assertBooks({ sql }: Room): Promise<void> {
  const broken = (await auditLedger(sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
  const [left] = await sql<{ holds: bigint }[]>`SELECT count(*) AS holds FROM holds`;
  assert.equal(left?.holds, 0n, 'no hold is left');
}

async function openVoiceStage(options: StageOptions = {}): Promise<VoiceStage> {
  const room = await openRoom(options);
  const { sql, deps, calls, database, system } = room;
  const wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log: silent });
  return {
    sql,
    host: deps.host,
    health: deps.health,
    calls,
    connect: (account) => connect(room, account),
    row: (client) => rowOf(room, client),
    places: () => room.places,
    account: (micros) =>
      makeAccount({ baseUrl: '', sql, wallet }, micros === undefined ? {} : { micros }),
    starting: (account, members = {}) => starting(room, account, members),
    live: (account, members = {}) => live(room, account, members),
    over: (client) => over(room, client),
    leave(client) {
      client.leave();
      return over(room, client);
    },
    assertBooks: () => assertBooks(room),
    async close() {
      deps.host.stop();
      await system.stop(2_000);
      await database.close();
    },
  };
}

/** Closed in any case: an open one would keep the process, and nobody would read what failed. */
async function closeProved(stage: VoiceStage): Promise<void> {
  try {
    await stage.assertBooks();
    assert.equal(stage.places(), 0, 'every place was given back');
  } finally {
    await stage.close();
  }
}

/** Opens stages for the tests of a file; after the last of them, each has its books proved. */
export function stagesOfFile(): (options?: StageOptions) => Promise<VoiceStage> {
  const stages: VoiceStage[] = [];
  after(() => Promise.all(stages.map(closeProved)));
  return async (options) => {
    const stage = await openVoiceStage(options);
    stages.push(stage);
    return stage;
  };
}

export async function until(what: string, holds: () => unknown, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, `not within ${timeoutMs} ms: ${what}`);
    await sleep(2);
  }
}
