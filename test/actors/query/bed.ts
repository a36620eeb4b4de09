// Queries on a real ledger, with a desk that says what the test says. How each outcome is told and
// what it costs needs no provider.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createFundsEstimate } from '../../../actors/billed-request/funds-estimate.ts';
import type { ModelRules } from '../../../actors/catalog/ruled/rules.ts';
import type { CatalogSurface } from '../../../actors/catalog/surface.ts';
import { createLimits, type Limits } from '../../../actors/limits.ts';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import type { QueryMetrics } from '../../../actors/query/metrics.ts';
import { openQuery, type QueryOrder, type QueryServices } from '../../../actors/query/open.ts';
import { createQueryKind } from '../../../actors/query/query.ts';
import { createReplySeals } from '../../../actors/query/sealed.ts';
import type { QueryDeps, QueryPlan } from '../../../actors/query/spec.ts';
import type {
  Found,
  SearchDesk,
  SearchOrder,
  SearchResult,
} from '../../../actors/search/contract.ts';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import { createWalletKind } from '../../../actors/wallet/wallet.ts';
import { auditLedger } from '../../../db/audit.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import type { SurfaceName } from '../../../media/search/surfaces.ts';
import { factsOf } from '../../../media/search/surfaces.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { readConfig } from '../../../runtime/config.ts';
import { AnswerTally, createAnswerBuffers } from '../../../runtime/limiter/answers.ts';
import { createLimiterBuffers, Limiter } from '../../../runtime/limiter.ts';
import { createLog } from '../../../runtime/log.ts';
import { Problem } from '../../../runtime/problem.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { TransientMap } from '../../../runtime/transient.ts';
import { makeAccount, type TestAccount } from '../../harness/account.ts';
import { openTestDatabase } from '../../harness/database.ts';
import { noMetrics } from '../../harness/request-deps.ts';
import { plainParameters } from '../../harness/search-surface.ts';

export const credit = 1_000_000n;
export const priceMicros = 1_500_000n;
export const unansweredMicros = 400_000n;

export function result(change: Partial<SearchResult> = {}): SearchResult {
  return {
    state: 'found',
    items: [{ position: 1, title: 'Paper boats', url: 'https://boats.example/' }],
    related: ['origami'],
    dataJson: '{"organic":[{"title":"Paper boats"}]}',
    isTruncated: false,
    ignored: [],
    engines: [{ name: 'r1', state: 'found', ms: 12 }],
    routeId: 'one/web_search',
    costMicros: 200_000n,
    isSimulated: true,
    failure: null,
    isAsked: true,
    madeAtMs: Date.now(),
    ...change,
  };
}

export function failedResult(kind: NonNullable<SearchResult['failure']>['kind']): SearchResult {
  const failure = { kind, retryAfterMs: kind === 'busy' ? 7_000 : null };
  return result({
    state: 'failed',
    items: [],
    related: [],
    dataJson: '{}',
    engines: [{ name: 'r1', state: 'failed', ms: 12 }],
    routeId: null,
    costMicros: 0n,
    failure,
  });
}

export const emptyResult = () =>
  result({
    state: 'empty',
    items: [],
    related: [],
    dataJson: '{}',
    engines: [{ name: 'r1', state: 'empty', ms: 12 }],
    routeId: null,
    costMicros: 0n,
  });

export const missed = (found: SearchResult): Found => ({
  result: found,
  cache: { hit: false, ageSeconds: 0 },
});

export const hit = (found: SearchResult): Found => ({
  result: found,
  cache: { hit: true, ageSeconds: 3 },
});

/** A desk whose searches end when, and as, the test says. */
export class ScriptedDesk implements SearchDesk {
  asked = 0;
  aborted = 0;
  kept: Found | null = null;
  /** What is answered at once; null: `answer` says it later. */
  next: Found | null = missed(result());
  #waiting: ((found: Found) => void)[] = [];

  async look(): Promise<Found | null> {
    return this.kept;
  }

  async find(_order: SearchOrder, signal: AbortSignal): Promise<Found> {
    this.asked += 1;
    if (this.next !== null) return this.next;
    return await new Promise((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => {
        if (!this.#waiting.includes(resolve)) return;
        this.aborted += 1;
        this.#waiting = this.#waiting.filter((each) => each !== resolve);
        resolve(missed(failedResult('aborted')));
      });
    });
  }

  answer(found: Found): void {
    for (const resolve of this.#waiting.splice(0)) resolve(found);
  }
}

export interface QueryBed {
  sql: Sql;
  desk: ScriptedDesk;
  services: QueryServices;
  tally: AnswerTally;
  /** What metrics were told. */
  outcomes: string[];
  running: QueryDeps['running'];
  account(micros?: bigint): Promise<TestAccount>;
  ask(account: Payer, given?: Given): Promise<Record<string, unknown> & { requestId: string }>;
  chargesOf(walletId: string): Promise<bigint[]>;
  assertBooks(): Promise<void>;
  close(): Promise<void>;
}

export type Payer = Pick<TestAccount, 'accountId' | 'walletId' | 'keyId'> & {
  fallbackWalletId?: string;
};

export interface Given {
  key?: string;
  fingerprint?: string;
  surface?: Partial<CatalogSurface>;
  plan?: Partial<QueryPlan>;
  rules?: ModelRules;
  onAbort?: (listener: () => void) => void;
  refuse?: () => never;
}

export function surfaceNamed(name: SurfaceName, change: Partial<CatalogSurface>): CatalogSurface {
  return {
    name,
    displayName: name,
    kind: factsOf(name).kind,
    version: 'v1',
    targets: [],
    priceMicros,
    perSearchCall: null,
    maxAgeSeconds: factsOf(name).ageSeconds,
    isShared: false,
    requestsPerMinute: null,
    answerModel: null,
    searchSurface: name,
    canary: null,
    ...change,
  };
}

function planOf({ accountId }: Payer, { surface = {}, plan = {} }: Given): QueryPlan {
  const chosen = surfaceNamed('web_search', surface);
  return {
    search: {
      surface: chosen,
      ask: { surface: 'web_search', query: 'paper boats', parameters: plainParameters, extra: {} },
      accountId,
      maxAgeSeconds: chosen.maxAgeSeconds,
      answer: null,
    },
    ignored: [],
    assumed: {},
    priceMicros,
    unansweredMicros,
    ...plan,
  };
}

function orderOf(payer: Payer, given: Given): QueryOrder {
  return {
    exchangeId: randomBytes(8).toString('hex'),
    accountId: payer.accountId,
    walletId: payer.walletId,
    fallbackWalletId: payer.fallbackWalletId,
    apiKeyId: payer.keyId,
    route: '/api/v1/query',
    idempotencyKey: given.key ?? null,
    fingerprint: given.key === undefined ? '' : (given.fingerprint ?? 'f'.repeat(64)),
    plan: () => given.refuse?.() ?? planOf(payer, given),
    takePermit: () => () => {},
  };
}

export async function openQueryBed(change: Partial<Limits['query']> = {}): Promise<QueryBed> {
  const database = await openTestDatabase();
  const sql = database.pool('general', 4);
  const fixed = createLimits(readConfig({}));
  const limits = { ...fixed, query: { ...fixed.query, ...change } };
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const ledger = { sql: database.pool('ledger', 2), clock: Date.now, limits: walletLimits };
  const walletKind = createWalletKind({ ...ledger, log: silent });
  const desk = new ScriptedDesk();
  const seals = createReplySeals([createSealer(randomBytes(32).toString('base64url'))]);
  const tally = new AnswerTally(createAnswerBuffers(Date.now()), limits.query.unpaidMax);
  const outcomes: string[] = [];
  const metrics: QueryMetrics = {
    ended: (surface, outcome) => void outcomes.push(`${surface} ${outcome}`),
    replied: () => {},
  };
  const running: QueryDeps['running'] = new TransientMap();
  const wallet = (walletId: string) => system.ref(walletKind, walletId);
  const limiter = new Limiter(createLimiterBuffers(Date.now(), 1, 1_000), 1);
  const health = createRouteHealth();
  const instanceId = 'ins_query';
  const queryKind = createQueryKind({
    instanceId,
    wallet,
    health,
    fundsEstimate: createFundsEstimate(),
    limiter,
    limits,
    metrics: noMetrics,
    log: createLog({ level: 'silent', base: {}, sync: true }),
    desk,
    seals,
    tally,
    queryMetrics: metrics,
    running,
  });
  const system = createActorSystem({ node: 1, kinds: [walletKind, queryKind], log: silent });
  const shared = { system, instanceId, sql, queryKind, desk, seals, tally, limiter, health };
  const services = { ...shared, wallet, limits, metrics };
  const direct = createDirectWallet({ ...ledger, log: silent });
  return {
    sql,
    desk,
    services,
    tally,
    outcomes,
    running,
    account: (micros = 1_000_000_000n) =>
      makeAccount({ baseUrl: '', sql, wallet: direct }, { micros }),
    async ask(payer, given = {}) {
      const { onAbort = () => {} } = given;
      const { requestId, text } = await openQuery(services, orderOf(payer, given), onAbort);
      return { requestId, ...(JSON.parse(text) as Record<string, unknown>) };
    },
    async chargesOf(walletId) {
      const rows = await sql<{ micros: bigint }[]>`
        SELECT revenue_micros + provider_cost_micros AS micros FROM ledger
        WHERE wallet_id = ${walletId} AND kind = 'settle'`;
      return rows.map(({ micros }) => micros);
    },
    async assertBooks() {
      const broken = (await auditLedger(sql)).filter((finding) => finding.broken > 0n);
      assert.deepEqual(broken, []);
    },
    async close() {
      await system.stop(1_000);
      await database.close();
    },
  };
}

/** The row of generations that a query has. */
export async function rowOf(sql: Sql, requestId: string) {
  const [row] = await sql<
    {
      status: string;
      model: string;
      route: string;
      answer: string | null;
      usage: Record<string, unknown> | null;
      problem: string | null;
      charge_micros: bigint | null;
    }[]
  >`SELECT status, model, route, answer, usage, problem, charge_micros FROM generations
    WHERE id = ${requestId}`;
  return row ?? null;
}

export async function refusal(asked: Promise<unknown>): Promise<Problem> {
  try {
    await asked;
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error;
  }
  assert.fail('it was not refused');
}
