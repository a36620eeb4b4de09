// The load generator: a process of its own, so that its CPU is nobody else's. Its parent sends one
// job at a time (`job.ts`) over the IPC channel and gets one reply for each.
import { percentile } from '../statistics.ts';
import { Connection, type Outcome } from './connection.ts';
import type {
  HoldJob,
  HoldResult,
  Job,
  JobReply,
  LoadJob,
  LoadResult,
  ProbeJob,
  ProbeResult,
  Target,
} from './job.ts';

const held: Connection[] = [];
let holding: HoldResult = { opened: 0, failed: 0, failure: '' };

/** The bytes of one request, built once. */
function requestBytes(target: Target): Buffer {
  const headers = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(target.body);
  return Buffer.from(
    `POST ${target.path} HTTP/1.1\r\nhost: ${target.host}:${target.port}\r\n` +
      `content-type: application/json\r\naccept: */*\r\ncontent-length: ${length}\r\n` +
      `${headers.join('')}\r\n${target.body}`,
  );
}

/** A small seeded generator (mulberry32), so that two runs spread their streams alike. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function runLoad(job: LoadJob): Promise<LoadResult> {
  const request = requestBytes(job.target);
  const random = seededRandom(job.seed);
  const gapsMs: number[] | null = job.gaps === true ? [] : null;
  const open = () => new Connection(job.target, gapsMs);
  const connections = Array.from({ length: job.connections }, open);
  const totalMs: number[] = [];
  const firstEventMs: number[] = [];
  const startedMs = performance.now();
  const cpuBefore = process.cpuUsage();
  let [sent, failed, events, active, failure] = [0, 0, 0, connections.length, ''];
  return new Promise((resolve) => {
    const next = (connection: Connection): void => {
      const quotaUsed = job.requestsMax !== null && sent >= job.requestsMax;
      const timeUsed = job.durationMs !== null && performance.now() - startedMs >= job.durationMs;
      if (!quotaUsed && !timeUsed) {
        sent++;
        connection.send(request, (outcome) => ended(connection, outcome));
        return;
      }
      connection.close();
      active--;
      if (active === 0) resolve(summary());
    };
    const ended = (connection: Connection, outcome: Outcome): void => {
      events += outcome.events;
      totalMs.push(outcome.totalMs);
      firstEventMs.push(outcome.firstEventMs);
      if (!outcome.ok || outcome.events < job.eventsMin) {
        failed++;
        failure ||= `status ${outcome.status}, ${outcome.events} events: ${outcome.detail}`;
        setTimeout(next, 10, connection); // a refusing server is not asked in a tight loop
      } else next(connection);
    };
    for (const connection of connections) setTimeout(next, random() * job.spreadMs, connection);
  });

  function summary(): LoadResult {
    const cpu = process.cpuUsage(cpuBefore);
    const both = (values: number[]): { p50: number; p99: number } => ({
      p50: percentile(values, 0.5),
      p99: percentile(values, 0.99),
    });
    return {
      requests: totalMs.length,
      failed,
      failure,
      events,
      elapsedMs: performance.now() - startedMs,
      totalMs: both(totalMs),
      firstEventMs: both(firstEventMs),
      gapMs: both(gapsMs ?? []),
      generatorCpuMicros: cpu.user + cpu.system,
    };
  }
}

function runHold(job: HoldJob): Promise<HoldResult> {
  const request = requestBytes(job.target);
  const state: HoldResult = { opened: 0, failed: 0, failure: '' };
  holding = state;
  let started = 0;
  return new Promise((resolve) => {
    const settled = (): void => {
      if (state.opened + state.failed === job.connections) resolve({ ...state });
      else open();
    };
    const open = (): void => {
      if (started === job.connections) return;
      started++;
      const connection = new Connection(job.target);
      held.push(connection);
      let begun = false;
      const lost = (outcome: Outcome): void => {
        state.failed++;
        state.failure ||= `status ${outcome.status}: ${outcome.detail}`;
        if (begun) state.opened--;
        else settled();
      };
      connection.send(request, lost, () => {
        begun = true;
        state.opened++;
        settled();
      });
    };
    for (let index = 0; index < Math.min(job.openingMax, job.connections); index++) open();
  });
}

const sampleMark = '{sample}';

function numberedRequest(target: Target, sample: number): Buffer {
  return requestBytes({ ...target, body: target.body.replaceAll(sampleMark, String(sample)) });
}

async function runProbe(job: ProbeJob): Promise<ProbeResult> {
  const lanes = job.targets.map((target) => ({
    connection: new Connection(target),
    target,
    numbered: target.body.includes(sampleMark),
    request: requestBytes(target),
    firstEventMs: [] as number[],
  }));
  let [failed, failure] = [0, ''];
  for (let sample = -job.warmupSamples; sample < job.samples; sample++) {
    const order = sample % 2 === 0 ? lanes : lanes.toReversed();
    for (const lane of order) {
      const request = lane.numbered
        ? numberedRequest(lane.target, sample + job.warmupSamples)
        : lane.request;
      const outcome = await new Promise<Outcome>((resolve) => {
        lane.connection.send(request, resolve);
      });
      if (!outcome.ok) {
        failed++;
        failure ||= `status ${outcome.status}: ${outcome.detail}`;
      }
      if (sample >= 0) lane.firstEventMs.push(outcome.firstEventMs);
    }
  }
  for (const lane of lanes) lane.connection.close();
  return { firstEventMs: lanes.map((lane) => lane.firstEventMs), failed, failure };
}

async function run(job: Job): Promise<JobReply> {
  switch (job.kind) {
    case 'load':
      return { ok: true, result: await runLoad(job) };
    case 'hold':
      return { ok: true, result: await runHold(job) };
    case 'probe':
      return { ok: true, result: await runProbe(job) };
    case 'release':
      for (const connection of held.splice(0)) connection.close();
      return { ok: true, result: holding };
  }
}

process.on('message', (job: Job) => {
  run(job).then(
    (reply) => process.send?.(reply),
    (error: unknown) => process.send?.({ ok: false, error: String(error) } satisfies JobReply),
  );
});
process.on('disconnect', () => process.exit(0));
