// The voice generator, a process of its own: hundreds of sessions, each with a frame every 32 ms,
// at its own moment of those. Its parent asks one thing at a time (`voice-job.ts`).
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from './asked.ts';
import type { Measured, Opened, VoiceJob } from './voice-job.ts';
import { emptyRecord, percentilesOf } from './voice-record.ts';
import { VoiceClient } from './voice-session.ts';
import { FRAME_MS } from './voice-wire.ts';

const CLOSE_MS = 10_000;
/** Behind by more than this, frames are left out instead of being sent in a storm. */
const BEHIND_MS_MAX = 500;

type Job<Kind extends VoiceJob['kind']> = Extract<VoiceJob, { kind: Kind }>;

const living = new Set<VoiceClient>();
/** Sessions by the millisecond of the 32 in which they send. */
const slots: VoiceClient[][] = Array.from({ length: FRAME_MS }, () => []);
let record = emptyRecord();
let bargeEveryMs: number | null = null;
let bargeDue: VoiceClient[] = [];

/** One tick a millisecond, caught up when the loop was late. */
const begunMs = performance.now();
let tick = 0;
function pump(): void {
  const elapsed = performance.now() - begunMs;
  if (elapsed - tick > BEHIND_MS_MAX) tick = Math.floor(elapsed);
  for (; tick <= elapsed; tick += 1) {
    const slot = slots[tick % FRAME_MS] ?? [];
    if (slot.length > 0) record.lateMs.push(elapsed - tick);
    for (const session of slot) session.sendFrame();
    if (bargeEveryMs !== null) bargeSome(bargeEveryMs);
  }
  setTimeout(pump, 1);
}
pump();

/** Each session once in the period, in an order drawn anew for every round. */
let bargeCredit = 0;
function bargeSome(periodMs: number): void {
  bargeCredit += living.size / periodMs;
  for (; bargeCredit >= 1; bargeCredit -= 1) {
    if (bargeDue.length === 0) bargeDue = [...living].sort(() => Math.random() - 0.5);
    bargeDue.pop()?.bargeIn();
  }
}

const RENEWABLE = '"renewable":true';

function leave(session: VoiceClient): void {
  living.delete(session);
  const slot = slots[session.number % FRAME_MS] ?? [];
  const at = slot.indexOf(session);
  if (at !== -1) slot.splice(at, 1);
}

function openOne(job: Job<'open'>, session: number): Promise<number | string> {
  return new Promise((resolve) => {
    const { target, mode, deltaMs, abuse } = job;
    const order = { session, mode, deltaMs };
    const path =
      target.wire.kind === 'raw'
        ? `${target.path}?bench+session=${session}+mode=${mode}+delta=${deltaMs}`
        : target.path;
    const client = new VoiceClient({
      target: { ...target, path },
      order,
      abuse,
      record: () => record,
      ready: (startMs) => {
        resolve(startMs);
        if (!job.stay) client.end();
      },
      ended: (reason) => {
        leave(client);
        resolve(reason);
        if (reason === '') return;
        const isRenewed = job.renew && reason.includes(RENEWABLE);
        // Who abuses is thrown out, and comes back at once.
        if (abuse !== null || isRenewed) void openOne(job, session);
        if (isRenewed) record.renewed += 1;
        else if (abuse === null) {
          record.lost += 1;
          record.failure ||= reason;
        }
      },
    });
    living.add(client);
    slots[session % FRAME_MS]?.push(client);
  });
}

async function open(job: Job<'open'>): Promise<Opened> {
  const started = performance.now();
  const all: Promise<number | string>[] = [];
  for (let index = 0; index < job.sessions; index++) {
    const dueMs = (index * 1000) / job.perSecond - (performance.now() - started);
    if (dueMs > 1) await sleep(dueMs);
    all.push(openOne(job, job.first + index));
  }
  const results = await Promise.all(all);
  const startMs = results.filter((result) => typeof result === 'number');
  const failures = results.filter((result) => typeof result === 'string');
  return {
    ready: startMs.length,
    failed: failures.length,
    failure: failures[0] ?? '',
    startMs: percentilesOf(startMs),
    elapsedMs: performance.now() - started,
  };
}

async function measure(job: Job<'measure'>): Promise<Measured> {
  const framesSentBefore = record.framesSent;
  record = emptyRecord();
  bargeEveryMs = job.bargeEveryMs;
  for (const session of living) session.onsets = [];
  const started = performance.now();
  const cpuBefore = process.cpuUsage();
  await sleep(job.durationMs);
  const cpu = process.cpuUsage(cpuBefore);
  bargeEveryMs = null;
  const { downMs, bargeMs, lateMs, driftMs, ...rest } = record;
  record = emptyRecord();
  return {
    ...rest,
    framesSentBefore,
    elapsedMs: performance.now() - started,
    downMs: percentilesOf(downMs),
    bargeMs: percentilesOf(bargeMs),
    lateMs: percentilesOf(lateMs),
    driftMs: percentilesOf(driftMs),
    onsets: [...living].map((session) => [session.number, session.onsets]),
    generatorCpuMicros: cpu.user + cpu.system,
  };
}

async function close({ from }: Job<'close'>): Promise<{ left: number }> {
  const meant = () => [...living].filter(({ number }) => number >= from);
  for (const session of meant()) session.end();
  const deadline = performance.now() + CLOSE_MS;
  while (meant().length > 0 && performance.now() < deadline) await sleep(10);
  const left = meant();
  for (const session of left) session.destroy();
  return { left: left.length };
}

answerParent<VoiceJob>((job) => {
  switch (job.kind) {
    case 'open':
      return open(job);
    case 'measure':
      return measure(job);
    case 'close':
      return close(job);
  }
});
