// One shard's actors without HTTP around them: real wallet, database and simulator, but deadlines
// and faults of the test's choice. Clients are desks, as routes make them.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { createFundsEstimate } from '../../../actors/billed-request/funds-estimate.ts';
import type { Catalog } from '../../../actors/catalog/current.ts';
import { type CatalogDocument, catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import type { CatalogModel } from '../../../actors/catalog/model.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import { createInputCounter } from '../../../actors/generation/counting.ts';
import {
  createGenerationKind,
  type GenerationKind,
} from '../../../actors/generation/generation.ts';
import { type Opened, openGeneration } from '../../../actors/generation/open.ts';
import type { CheckAnswer, CountTokens, GenerationDeps } from '../../../actors/generation/spec.ts';
import type { GenerationServices } from '../../../actors/generation/start.ts';
import { UnreadParts } from '../../../actors/generation/unread.ts';
import { createLimits, type Limits } from '../../../actors/limits.ts';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import type { GenerationEnd } from '../../../actors/subscriber/protocol.ts';
import { ReplySink } from '../../../actors/subscriber/reply-sink.ts';
import { subscriberKind } from '../../../actors/subscriber/subscriber.ts';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import type { WalletProtocol } from '../../../actors/wallet/protocol.ts';
import { createWalletKind } from '../../../actors/wallet/wallet.ts';
import { startSim } from '../../../bench/sim/server.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import type { OutputFormat } from '../../../media/model/request.ts';
import { satisfiesOutputFormat } from '../../../media/model/structured.ts';
import { countTokens } from '../../../media/model/tokens.ts';
import {
  createUpstreamClient,
  type UpstreamClient,
} from '../../../media/providers/generation/call.ts';
import { requireFamily } from '../../../media/providers/generation/families.ts';
import type { ActorRef, ActorSystem } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { readConfig } from '../../../runtime/config.ts';
import { createGiveawayBuffers, GiveawayLimiter } from '../../../runtime/limiter/giveaways.ts';
import { createLimiterBuffers, Limiter } from '../../../runtime/limiter.ts';
import { createLog } from '../../../runtime/log.ts';
import { TransientMap } from '../../../runtime/transient.ts';
import { makeAccount, type TestAccount } from '../../harness/account.ts';
import { openTestDatabase } from '../../harness/database.ts';
import { chatSource, neutralRequest, userMessage } from '../../harness/request.ts';
import { noMetrics } from '../../harness/request-deps.ts';
import { Simulator } from '../../harness/simulator.ts';

export interface StageOptions {
  upstream?: Partial<Limits['upstream']>;
  instance?: Partial<Limits['instance']>;
  sliceTokens?: number;
  /** Base URLs of providers that are tried before the simulator. */
  before?: readonly string[];
  outputFormat?: OutputFormat;
  /** In place of a check that always has room. */
  checkAnswer?: CheckAnswer;
  /** Stands between the generations and their wallets. */
  wallet?: (real: ActorRef<WalletProtocol>) => ActorRef<WalletProtocol>;
  /** In place of one that counts nothing. */
  unread?: UnreadParts;
  /** Runs when a provider is called. */
  onCall?: () => void;
}

/** Who asks, and who pays. */
export type StageAccount = Pick<TestAccount, 'accountId' | 'walletId' | 'keyId'> & {
  fallbackWalletId?: string;
};

export interface Stage {
  simulator: Simulator;
  model: CatalogModel;
  account(micros?: bigint): Promise<TestAccount>;
  /** One client that wants the whole answer: how it is told the end. */
  ask(account: StageAccount, text: string, key?: string): Promise<GenerationEnd>;
  open(account: StageAccount, text: string, key?: string): Promise<Opened>;
  alive(): number;
  /** What the shard gives to whoever starts generations; the catalog has the one model. */
  services: GenerationServices;
  close(): Promise<void>;
}

const noLog = createLog({ level: 'silent', base: {}, sync: true });
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const checkHere: CheckAnswer = async (_accountId, format, text) =>
  satisfiesOutputFormat(format, text);

const countHere: CountTokens = async (_accountId, { input, output, reasoning }) => ({
  input: await countTokens(input),
  output: await countTokens(output),
  reasoning: await countTokens(reasoning),
});

/** A client whose calls are heard of as they begin. */
function heardClient(onCall: (() => void) | undefined): UpstreamClient {
  const client = createUpstreamClient({ connectionsMax: 32 });
  return {
    start(...call) {
      onCall?.();
      return client.start(...call);
    },
    get openCount() {
      return client.openCount;
    },
    close: () => client.close(),
  };
}

function catalogOf(model: CatalogModel): Catalog {
  const snapshot = {
    models: [model],
    routes: [],
    surfaces: [],
  } as unknown as Catalog['snapshot'];
  return {
    snapshot,
    models: new Map([[model.alias, model]]),
    routes: new Map(),
    clients: new Map(),
  };
}

function servicesOf(
  deps: GenerationDeps,
  system: ActorSystem,
  sql: Sql,
  generationKind: GenerationKind,
  model: CatalogModel,
): GenerationServices {
  const { log, limits, limiter, giveaways, health, wallet, fundsEstimate } = deps;
  return {
    system,
    sql,
    generationKind,
    headersHoldBackMs: 60_000,
    log,
    limits,
    limiter,
    giveaways,
    health,
    wallet,
    fundsEstimate,
    tasks: () => assert.fail('nothing here is long enough for the pool'),
    catalog: () => catalogOf(model),
    countInput: createInputCounter(deps),
  };
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const database = await openTestDatabase();
  const sim = await startSim({ port: 0, key: null, seed: 1 });
  const simulator = new Simulator(`http://127.0.0.1:${sim.port}`);
  const model = modelOf([...(options.before ?? []), `${simulator.url}/v1`]);
  const sql = database.pool('general', 2);
  const limits = limitsOf(options);
  const upstream = heardClient(options.onCall);
  const wrap = options.wallet ?? ((real: ActorRef<WalletProtocol>) => real);
  const deps: GenerationDeps = {
    instanceId: 'ins_stage',
    wallet: (walletId) => wrap(system.ref(kinds.wallet, walletId)),
    upstream,
    family: requireFamily,
    search: { search: async () => null },
    fundsEstimate: createFundsEstimate(),
    health: createRouteHealth(),
    ...limitersOf(limits),
    limits,
    countTokens: countHere,
    checkAnswer: options.checkAnswer ?? checkHere,
    metrics: noMetrics,
    unread: options.unread ?? new UnreadParts({ metrics: noMetrics, log: noLog }),
    log: noLog,
    running: new TransientMap(),
  };
  const ledger = { sql: database.pool('ledger', 2), clock: Date.now, limits: walletLimits };
  const kinds = {
    wallet: createWalletKind({ ...ledger, log: silent }),
    generation: createGenerationKind(deps),
  };
  const all = [...Object.values(kinds), subscriberKind];
  const system = createActorSystem({ node: 1, kinds: all, log: silent });
  const services = servicesOf(deps, system, sql, kinds.generation, model);
  const direct = createDirectWallet({ ...ledger, log: silent });
  const open = (account: StageAccount, text: string, key?: string) =>
    openGeneration(
      services,
      orderOf(account, model, text, key ?? null, options.outputFormat ?? { type: 'text' }),
      () => new ReplySink(null),
      () => {},
    );
  return {
    simulator,
    model,
    services,
    account: (micros) =>
      makeAccount({ baseUrl: '', sql, wallet: direct }, micros === undefined ? {} : { micros }),
    open,
    async ask(account, text, key) {
      const { opening } = await open(account, text, key);
      if (opening.kind !== 'end') throw new Error('a sink without an encoder sees only the end');
      return opening.end;
    },
    alive: () =>
      system
        .status()
        .filter(({ kind }) => kind === 'generation' || kind === 'subscriber')
        .reduce((sum, row) => sum + row.alive, 0),
    async close() {
      await system.stop(1_000);
      await upstream.close();
      sim.close();
      await database.close();
    },
  };
}

/** They count for one shard, with the bounds of the product. */
function limitersOf(limits: Limits): Pick<GenerationDeps, 'limiter' | 'giveaways'> {
  const limiter = new Limiter(createLimiterBuffers(Date.now(), 1, 1_000), 1);
  const buffers = createGiveawayBuffers(Date.now());
  const { giveawayTokensMax } = limits.generation;
  return { limiter, giveaways: new GiveawayLimiter(buffers, limiter, giveawayTokensMax) };
}

function limitsOf({ upstream, instance, sliceTokens = 1_024 }: StageOptions): Limits {
  const fixed = createLimits(readConfig({}));
  return {
    ...fixed,
    upstream: { ...fixed.upstream, ...upstream },
    instance: { ...fixed.instance, ...instance },
    generation: { ...fixed.generation, sliceTokens },
  };
}

function modelOf(baseUrls: readonly string[]): CatalogModel {
  const document: CatalogDocument = v.parse(catalogDocumentSchema, {
    providers: baseUrls.map((url, index) => ({
      name: `sim${index}`,
      family: 'openai-chat',
      base_url: url,
    })),
    models: [
      {
        alias: 'staged',
        routes: baseUrls.map((_url, index) => ({
          provider: `sim${index}`,
          upstream_model: 'simulated-chat-large-2026-01-15',
        })),
        price: { input_per_million: '2.50', output_per_million: '10.00' },
      },
    ],
  });
  const [model] = buildSnapshot(document, () => 0).models;
  if (model === undefined) throw new Error('the document has one model');
  return model;
}

function orderOf(
  account: StageAccount,
  model: CatalogModel,
  text: string,
  key: string | null,
  outputFormat: OutputFormat,
) {
  const body = { model: model.alias, messages: [{ role: 'user', content: text }] };
  const request = neutralRequest({
    model: model.alias,
    messages: [userMessage(text)],
    outputFormat,
    source: chatSource(body),
  });
  return {
    exchangeId: randomBytes(8).toString('hex'),
    accountId: account.accountId,
    walletId: account.walletId,
    fallbackWalletId: account.fallbackWalletId,
    apiKeyId: account.keyId,
    route: '/v1/chat/completions',
    idempotencyKey: key,
    fingerprint: key === null ? '' : 'f'.repeat(64),
    alias: model.alias,
    plan: () => ({
      request,
      candidates: model.targets.map((target) => ({ model, target })),
      routing: null,
      search: null,
      hosted: [],
      inputTokensEstimate: 10,
      outputTokensCeiling: model.outputTokensMax,
    }),
    keepsAnswer: key !== null,
    background: false,
    storeRequest: null,
    takePermit: () => () => {},
  };
}
