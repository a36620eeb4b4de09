// One process that works on video jobs, without its threads: its own connections, leases and slots,
// and gates at which a test stops it. Database, simulator, blob store and inspection are real.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import type { Candidate } from '../../../actors/video/candidates.ts';
import type { VideoDeps } from '../../../actors/video/deps.ts';
import { createDurations } from '../../../actors/video/durations.ts';
import type { VideoJobClaim } from '../../../actors/video/holder.ts';
import { createVideoInspection } from '../../../actors/video/inspection.ts';
import { createVideoInspectionLimits } from '../../../actors/video/inspection-limits.ts';
import { createVideoLimits } from '../../../actors/video/limits.ts';
import { createVideoMetrics } from '../../../actors/video/metrics.ts';
import { createSlots } from '../../../actors/video/slots.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { leaveVideoJobs, renewVideoJobs } from '../../../db/video-jobs/moves.ts';
import { videoJobRoute } from '../../../db/video-jobs/rows.ts';
import type { BlobStore } from '../../../media/blobs/contract.ts';
import { createVideoClient } from '../../../media/providers/video/call.ts';
import type { VideoTarget } from '../../../media/providers/video/contract.ts';
import { requireVideoFamily } from '../../../media/providers/video/families.ts';
import type { InspectedVideo } from '../../../media/video/contract.ts';
import { newId, siblingId } from '../../../runtime/ids.ts';
import { MetricsRegistry } from '../../../runtime/metrics-registry.ts';
import { createOutbound } from '../../../runtime/outbound/outbound.ts';
import { createLeases } from '../../../runtime/work/leases.ts';
import { openStoreBed } from '../../media/blobs/store-bed.ts';
import { accountId, type Bank, openBank, purchase } from '../wallet/bank.ts';

/** Where a process can be stopped, in the order of a job's life. */
export const places = [
  'before the slot',
  'after the reply',
  'while it is polled',
  'after the download',
  'after the put',
  'before the settlement',
] as const;
export type Place = (typeof places)[number];

/** A process that comes to the place waits there until it is let go. */
export class Gate {
  readonly place: Place;
  readonly reached: Promise<void>;
  letGo: () => void = () => undefined;
  #arrive: () => void = () => undefined;
  readonly #open: Promise<void>;

  constructor(place: Place) {
    this.place = place;
    this.reached = new Promise((resolve) => {
      this.#arrive = resolve;
    });
    this.#open = new Promise((resolve) => {
      this.letGo = resolve;
    });
  }

  async pass(place: Place): Promise<void> {
    if (place !== this.place) return;
    this.#arrive();
    await this.#open;
  }
}

const sims = {
  'google-veo': ['/v1beta', 'sim-veo-2026-preview'],
  'xai-imagine': ['/v1', 'sim-imagine-2026'],
  'openai-videos': ['/v1', 'sim-videos-2026'],
} as const;
export type FamilyName = keyof typeof sims;

export interface JobKind {
  family: FamilyName;
  idempotency: VideoTarget['idempotency'];
  directive?: string;
  /** Its record in the catalog; absent: one that all of its kind share. */
  provider?: string;
  jobsMax?: number;
}

export interface ProcessBed {
  bank: Bank;
  sim: RunningSim;
  blobs: BlobStore;
  limits: VideoDeps['limits'];
  /** The catalog that all processes have, as it is now. */
  targets: Map<string, { target: VideoTarget; enabled: boolean }>;
  /** A process; it stops at the gate. */
  process(gate?: Gate): VideoDeps;
  /** A job that nobody has taken, with a candidate of each kind. */
  job(...kinds: [JobKind, ...JobKind[]]): Promise<string>;
  close(): Promise<void>;
}

const lifeMs = 600_000;

/** What all processes of a test share. */
interface Shared extends Pick<ProcessBed, 'bank' | 'sim' | 'blobs' | 'limits' | 'targets'> {
  folder: string;
  log: Logger;
  inspect: VideoDeps['inspect'];
  endings: (() => unknown)[];
}

export async function openProcesses(haste = 40): Promise<ProcessBed> {
  const bank = await openBank();
  const sim = await startSim({ port: 0, key: 'secret', seed: 7 });
  const store = await openStoreBed();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-processes-'));
  const log = pino({ level: 'silent' });
  const limits = createVideoLimits({ videoJobsMax: 1_000, videoDays: 30, videoHaste: haste });
  const programs = { dataDir: folder, ffmpegPath: null, ffprobePath: null };
  const inspection = createVideoInspection(programs, createVideoInspectionLimits(), log);
  const inspect: VideoDeps['inspect'] = async (input, account) => {
    const answer = await inspection.run('inspect-video', input, account);
    return answer.ok ? (answer.value as InspectedVideo) : null;
  };
  const endings: Shared['endings'] = [];
  const { store: blobs } = store;
  const targets: Shared['targets'] = new Map();
  const shared: Shared = { bank, sim, blobs, limits, targets, folder, log, inspect, endings };
  return {
    bank,
    sim,
    blobs,
    limits,
    targets,
    process: (gate) => newProcess(shared, gate),
    job: (...kinds) => newJob(shared, kinds),
    async close() {
      for (const end of endings) await end();
      await inspection.stop();
      await bank.close();
      sim.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function newProcess(shared: Shared, gate?: Gate): VideoDeps {
  const { bank, blobs, limits, targets, folder, log, inspect, endings } = shared;
  const pass = async (place: Place) => gate?.pass(place);
  const sql = bank.database.pool('general', 3);
  const client = createVideoClient({ connectionsMax: 8 });
  const outbound = createOutbound({ exceptions: [], own: [], log });
  // Who stands still renews nothing: a test lets leases lapse.
  const leases = createLeases({
    what: 'video leases',
    renewMs: lifeMs,
    rows: {
      renew: (jobs) => renewVideoJobs(sql, jobs, lifeMs),
      leave: (jobs) => leaveVideoJobs(sql, jobs),
    },
    log,
  });
  endings.push(
    () => outbound.close(),
    () => leases.close(),
    () => client.close(),
  );
  const slots = createSlots(sql, limits.slotMs);
  return {
    instanceId: 'i-live',
    sql,
    wallet: gatedWallet(bank, pass),
    client: {
      close: () => client.close(),
      async run(call, options) {
        const result = await client.run(call, options);
        await pass(call.method === 'POST' ? 'after the reply' : 'while it is polled');
        return result;
      },
    },
    family: requireVideoFamily,
    outbound,
    blobs: {
      ...blobs,
      async put(stream, bounds) {
        const stored = await blobs.put(stream, bounds);
        await pass('after the put');
        return stored;
      },
    },
    async inspect(input, account) {
      await pass('after the download');
      return inspect(input, account);
    },
    scratchFolder: folder,
    target: (routeId) => targets.get(routeId) ?? null,
    health: createRouteHealth(),
    durations: createDurations(limits.durationsKept),
    leases,
    slots: {
      ...slots,
      async tryNow(request) {
        await pass('before the slot');
        return slots.tryNow(request);
      },
    },
    limits,
    ledger: { askTimeoutMs: 10_000 },
    metrics: createVideoMetrics(new MetricsRegistry()),
    log,
  };
}

/** Wallets of a process of its own. */
function gatedWallet(bank: Bank, pass: (place: Place) => Promise<unknown>): VideoDeps['wallet'] {
  const branch = bank.branch();
  return (id) => {
    const ref = branch.wallet(id);
    const ask: typeof ref.ask = async (message, payload, timeoutMs) => {
      if (message === 'settle') await pass('before the settlement');
      return ref.ask(message, payload, timeoutMs);
    };
    return { ...ref, ask };
  };
}

/** A job with its row and its hold, as a route makes it. */
async function newJob(shared: Shared, kinds: readonly JobKind[]): Promise<string> {
  const { bank, sim, targets } = shared;
  const candidates = kinds.map((kind) => {
    const candidate = candidateOf(kind);
    const { routeId } = candidate;
    targets.set(routeId, { enabled: true, target: targetOf(kind, routeId, sim.port) });
    return candidate;
  });
  const walletId = await bank.newWallet();
  const teller = bank.branch();
  await teller.ask(walletId, 'grant', purchase(1_000n));
  const id = newId('vjob', 1);
  const held = await teller.ask(walletId, 'hold', {
    holdId: siblingId(id, 'hold'),
    amountMicros: 300n,
    owner: { kind: 'video_job', id, instanceId: 'i-live' },
    expiresAtMs: Date.now() + lifeMs,
    claim: claimOf(id, kinds[0]?.directive ?? '', candidates),
  });
  assert.equal(held.status, 'held');
  return id;
}

function claimOf(id: string, directive: string, candidates: readonly Candidate[]): VideoJobClaim {
  const requestId = newId('req', 1);
  return {
    id,
    accountId,
    apiKeyId: null,
    route: videoJobRoute,
    idempotencyKey: requestId,
    requestId,
    fingerprint: 'f',
    conversationId: null,
    prompt: `boat ${id} [[sim render_ms=50 ${directive}]]`,
    durationSeconds: 4,
    aspectRatio: '16:9',
    resolution: '720p',
    generateAudio: true,
    seed: null,
    candidatesJson: JSON.stringify(candidates),
    createdMs: Date.now(),
    livesMs: lifeMs,
  };
}

function candidateOf({ family, idempotency, provider }: JobKind): Candidate {
  const name = provider ?? `${family}-${idempotency}`;
  return {
    alias: 'model',
    provider: name,
    upstreamModel: sims[family][1],
    routeId: `${name}/model`,
    family,
    minutesMax: 30,
    dropsSound: false,
    charge: '300',
    providerCost: '280',
    silentCharge: '200',
    silentProviderCost: '190',
  };
}

function targetOf(kind: JobKind, routeId: string, port: number): VideoTarget {
  const { family, idempotency, jobsMax = 10 } = kind;
  const [basePath, upstreamModel] = sims[family];
  return {
    routeId,
    family,
    baseUrl: `http://127.0.0.1:${port}${basePath}`,
    apiKey: 'secret',
    upstreamModel,
    mediaHosts: [],
    jobsMax,
    idempotency,
  };
}
