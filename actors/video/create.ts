// Makes a job: the key is looked for, candidates are chosen, and claim, row and hold are one write
// of the ledger. Who repeats a key gets its job, whatever would be decided now.

import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { idempotencyMs } from '../../db/generations.ts';
import { videoJobRoute } from '../../db/video-jobs/rows.ts';
import { findSticky, lookUpRequest, readDatabaseTime, type VideoJob } from '../../db/video-jobs.ts';
import type { VideoSettings } from '../../media/model/video.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { newId, siblingId } from '../../runtime/ids.ts';
import { Problem, toProblem } from '../../runtime/problem.ts';
import { firstPayment, type Payment, takesOver } from '../billed-request/fallback.ts';
import { refusalProblem, type SpendRefusal } from '../billed-request/spend-refusal.ts';
import type { Catalog } from '../catalog/current.ts';
import { catalogUnder, isRuled, type ModelRules } from '../catalog/ruled/rules.ts';
import { withheldModel } from '../catalog/use.ts';
import type { HoldReply, WalletProtocol } from '../wallet/protocol.ts';
import {
  type Asked,
  type Candidate,
  chooseCandidates,
  lengthFor,
  type RouteView,
  videoRoute,
} from './candidates.ts';
import type { VideoJobClaim } from './holder.ts';
import type { VideoLimits } from './limits.ts';
import type { VideoMetrics } from './metrics.ts';
import type { QueuedCount } from './queued-count.ts';
import { longestLifeMs } from './stage.ts';

export interface CreationDeps {
  instanceId: string;
  node: number;
  sql: Sql;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  catalog(): Catalog;
  routes: RouteView;
  queued: QueuedCount;
  limits: VideoLimits;
  ledger: { askTimeoutMs: number };
  enqueue(id: string): void;
  metrics: VideoMetrics;
}

/** A request as its route has read it. */
export interface VideoOrder {
  accountId: string;
  walletId: string;
  /** Who pays where that wallet refuses the hold; left out or null: nobody. */
  fallbackWalletId?: string | null | undefined;
  apiKeyId: string | null;
  /** The caller's idempotency key; null: one is made. */
  requestId: string | null;
  fingerprint: string;
  conversationId: string | null;
  /** An exact model; null: the managed route chooses. */
  exact: string | null;
  /** What the organization forbids; null: nothing. */
  rules: ModelRules | null;
  /** `durationSeconds` null: as long as the model makes it by itself. */
  settings: Omit<VideoSettings, 'durationSeconds'> & { durationSeconds: number | null };
}

export interface MadeJob {
  job: VideoJob;
  /** False: its key had named it before. */
  isNew: boolean;
}

/**
 * Makes a job, or finds the one that the key names.
 * @throws Problem idempotency_key_reused, model_not_found, invalid_request, no_route_available,
 * overloaded, concurrency_limited, insufficient_credits, spend_limit_exceeded, policy_blocked,
 * forbidden, dependency_unavailable
 */
export async function createVideoJob(deps: CreationDeps, order: VideoOrder): Promise<MadeJob> {
  const { sql, limits } = deps;
  // A key that is made here names nothing yet.
  const found =
    order.requestId === null
      ? { job: null, nowMs: await withDeadline(readDatabaseTime(sql)) }
      : await lookUp(sql, order.accountId, order.requestId);
  if (found.job !== null) return repeated(found.job, order);
  const requestId = order.requestId ?? newId('req', deps.node);
  const { settings, candidates } = await plan(deps, order);
  if (deps.queued.isFull()) throw new Problem('overloaded', { headers: { 'retry-after': '30' } });
  const id = newId('vjob', deps.node);
  const draft = { id, requestId, settings, nowMs: found.nowMs };
  const made = await hold(deps, order, draft, candidates);
  if (made === 'duplicate') {
    const again = await lookUp(sql, order.accountId, requestId);
    if (again.job !== null) return repeated(again.job, order);
    throw new Problem('conflict', { headers: { 'retry-after': '1' } });
  }
  deps.queued.added();
  deps.metrics.created();
  deps.enqueue(id);
  const { named, walletId } = made;
  return { job: rowOf({ ...order, walletId }, draft, named, limits), isNew: true };
}

function lookUp(sql: Sql, accountId: string, requestId: string) {
  return withDeadline(lookUpRequest(sql, accountId, requestId, idempotencyMs));
}

/** @throws Problem idempotency_key_reused */
function repeated(job: VideoJob, order: VideoOrder): MadeJob {
  if (job.fingerprint !== order.fingerprint) {
    throw new Problem('idempotency_key_reused', { param: 'idempotency-key' });
  }
  return { job, isNew: false };
}

async function plan(
  deps: CreationDeps,
  order: VideoOrder,
): Promise<{ settings: VideoSettings; candidates: Candidate[] }> {
  const { exact, conversationId, accountId, rules } = order;
  const whole = deps.catalog();
  const catalog = rules === null ? whole : catalogUnder(whole, rules);
  const sticky =
    exact !== null || conversationId === null
      ? null
      : await withDeadline(findSticky(deps.sql, accountId, conversationId));
  const asked: Asked = { exact, durationSeconds: order.settings.durationSeconds, sticky };
  const settings = { ...order.settings, durationSeconds: lengthFor(catalog, asked) };
  const choice = chooseCandidates(catalog, asked, settings, deps.routes);
  if (choice.ok) return { settings, candidates: choice.candidates };
  if (choice.reason === 'unknown_model') {
    const param = exact === null ? 'model' : 'video_model';
    const alias = exact ?? videoRoute;
    const withheld = isRuled(catalog) ? catalog.withheld.get(alias) : undefined;
    if (withheld !== undefined) throw withheldModel(alias, withheld.rule, param);
    throw new Problem('model_not_found', { param });
  }
  if (choice.reason === 'unable') {
    const message = `No enabled model can make a video with this '${choice.member}'.`;
    throw new Problem('invalid_request', { message, param: choice.member });
  }
  throw new Problem('no_route_available', { headers: { 'retry-after': '10' } });
}

/** The wallet that holds, and the candidates that it can pay. */
interface Held {
  named: readonly Candidate[];
  walletId: string;
}

interface Draft {
  id: string;
  requestId: string;
  settings: VideoSettings;
  /** The time of the database. */
  nowMs: number;
}

const dearestOf = (candidates: readonly Candidate[]): bigint =>
  candidates.reduce((most, { charge }) => (BigInt(charge) > most ? BigInt(charge) : most), 0n);

/**
 * Holds the dearest of the candidates. Those that the wallet cannot pay are not named. Where it can
 * pay none, the wallet that pays in its place is asked for all of them.
 * @throws Problem insufficient_credits, spend_limit_exceeded, policy_blocked, forbidden,
 * concurrency_limited, dependency_unavailable
 */
async function hold(
  deps: CreationDeps,
  order: VideoOrder,
  draft: Draft,
  candidates: readonly Candidate[],
): Promise<Held | 'duplicate'> {
  const payment = firstPayment(order);
  let named = candidates;
  for (;;) {
    const reply = await askHold(deps, order, payment, draft, named);
    switch (reply.status) {
      case 'held':
        return { named, walletId: payment.walletId };
      case 'duplicate':
        return 'duplicate';
      case 'too_many':
        throw new Problem('concurrency_limited', {
          message: `${deps.limits.jobsMax} video jobs of this account are not over.`,
          headers: { 'retry-after': '10' },
        });
      case 'insufficient':
      case 'over_limit': {
        const { availableMicros } = reply;
        const payable = named.filter(({ charge }) => BigInt(charge) <= availableMicros);
        if (payable.length > 0 && payable.length < named.length) named = payable;
        else if (takesOver(payment, order.fallbackWalletId, reply)) named = candidates;
        else throw unpayable(named, reply);
        break;
      }
      case 'not_allowed':
        throw toProblem(refusalProblem(reply));
      default:
        throw new Problem('dependency_unavailable', { headers: { 'retry-after': '1' } });
    }
  }
}

/** What is needed is what the cheapest of them costs. */
function unpayable(
  candidates: readonly Candidate[],
  reply: Exclude<SpendRefusal, { status: 'not_allowed' }>,
): Problem {
  const prices = candidates.map(({ charge }) => BigInt(charge));
  const [leastMicros = 0n] = prices.sort((a, b) => (a < b ? -1 : 1));
  return toProblem(refusalProblem({ ...reply, requiredMicros: leastMicros }));
}

async function askHold(
  deps: CreationDeps,
  order: VideoOrder,
  { walletId }: Payment,
  draft: Draft,
  candidates: readonly Candidate[],
): Promise<HoldReply> {
  const { accountId, apiKeyId, fingerprint, conversationId } = order;
  const { id, requestId, settings, nowMs } = draft;
  const livesMs = lifeOf(candidates, deps.limits);
  const claim: VideoJobClaim = {
    id,
    accountId,
    apiKeyId,
    route: videoJobRoute,
    idempotencyKey: requestId,
    requestId,
    fingerprint,
    conversationId,
    ...settings,
    candidatesJson: JSON.stringify(candidates),
    createdMs: nowMs,
    livesMs,
  };
  const answer = await deps.wallet(walletId).ask(
    'hold',
    {
      holdId: siblingId(id, 'hold'),
      amountMicros: dearestOf(candidates),
      owner: { kind: 'video_job', id, instanceId: deps.instanceId },
      expiresAtMs: nowMs + livesMs,
      claim,
      activeMax: deps.limits.jobsMax,
    },
    deps.ledger.askTimeoutMs,
  );
  return answer.ok ? answer.value : { status: 'unavailable' };
}

function lifeOf(candidates: readonly Candidate[], limits: VideoLimits): number {
  return longestLifeMs(Math.max(...candidates.map(({ minutesMax }) => minutesMax)), limits);
}

/** The row as it was written. */
function rowOf(
  { accountId, walletId, apiKeyId, fingerprint, conversationId }: VideoOrder,
  { id, requestId, settings, nowMs }: Draft,
  candidates: readonly Candidate[],
  limits: VideoLimits,
): VideoJob {
  return {
    id,
    accountId,
    walletId,
    apiKeyId,
    requestId,
    fingerprint,
    conversationId,
    holdId: siblingId(id, 'hold'),
    ...settings,
    candidates: JSON.stringify(candidates),
    status: 'queued',
    epoch: 0,
    candidate: null,
    attemptOpen: false,
    provider: null,
    upstreamId: null,
    progress: 0,
    usage: null,
    costTicks: null,
    file: null,
    chargeMicros: null,
    errorCode: null,
    note: null,
    createdMs: nowMs,
    submittingMs: null,
    attemptMs: null,
    runningMs: null,
    finalizingMs: null,
    storedMs: null,
    completedMs: null,
    updatedMs: nowMs,
    deadlineMs: nowMs + lifeOf(candidates, limits),
    nowMs,
    video: null,
  };
}
