// Minutes of 500 voice sessions that talk and are answered in bursts of half a minute: paced output
// keeps the clock, memory is flat, sessions are renewed as they reach their longest duration.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startVoiceUpstream, VOICE_ID, voiceCatalog } from '../../bench/contenders/voice.ts';
import { Asked } from '../../bench/load/asked.ts';
import type { Measured, Opened, Seen, VoiceJob } from '../../bench/load/voice-job.ts';
import type { Bar, Findings } from '../../bench/report.ts';
import { median } from '../../bench/statistics.ts';
import { assertNothingHeld } from '../chaos/books.ts';
import { assertLedger, cleanUp, onCleanUp } from '../chaos/reach.ts';
import type { Gateway } from '../harness/gateway.ts';
import { growthOf, openWatched, type Sample } from './memory.ts';
import { recorded, say, soakMinutes } from './record.ts';

const SESSIONS = 500;
const SHARDS = 2;
const PER_SECOND = 50;
const DELTA_MS = 80;
const LONGEST_SECONDS = 150;
const ROUND_MS = 15_000;
const DRIFT_MS_MAX = 20;
const GROWTH_MAX = 1.1;
/** Below this the first minute, which is warming up, weighs too much. */
const FLAT_FROM_MINUTES = 3;
const LOST_FRAMES_MAX = 0.002;

after(cleanUp);

interface Totals {
  frames: number;
  seen: number;
  lost: number;
  renewed: number;
  failure: string;
  /** The median of each round, and the highest: one answer alone shows the steps of pacing. */
  driftsMs: number[];
  worstMs: number;
  answers: number;
}

function add(totals: Totals, measured: Measured, seen: Seen): void {
  totals.frames += measured.framesSentBefore + measured.framesSent;
  totals.seen += seen.frames;
  totals.lost += measured.lost;
  totals.renewed += measured.renewed;
  totals.failure ||= measured.failure;
  totals.answers += measured.driftMs.count;
  if (measured.driftMs.count === 0) return;
  totals.driftsMs.push(measured.driftMs.p50);
  totals.worstMs = Math.max(totals.worstMs, measured.driftMs.max);
}

function barsOf(samples: Sample[], totals: Totals, left: number): Bar[] {
  const most = (text: string, limit: number, measured: number, unit: string): Bar => ({
    text,
    limit,
    measured,
    unit,
    sense: 'most',
  });
  const isLong = (samples.at(-1)?.minutes ?? 0) >= FLAT_FROM_MINUTES;
  const flat = (text: string, read: (sample: Sample) => number): Bar =>
    most(
      `${text}, last quarter over second`,
      isLong ? GROWTH_MAX : 2,
      growthOf(samples, read),
      '×',
    );
  const drift = median(totals.driftsMs.map(Math.abs));
  return [
    flat('resident memory', ({ rssMb }) => rssMb),
    flat('heap after collection', ({ heapMb }) => heapMb),
    flat('memory outside of the heap', ({ externalMb }) => externalMb),
    most(
      'audio time against the clock within an answer, median',
      DRIFT_MS_MAX,
      Number.isNaN(drift) && !isLong ? 0 : drift,
      'ms',
    ),
    most('frames that never arrived', LOST_FRAMES_MAX, 1 - totals.seen / totals.frames, ''),
    most('sessions lost', 0, totals.lost, ''),
    most('sessions left after the end', 0, left, ''),
  ];
}

async function openCrowd(gateway: Gateway): Promise<Asked<VoiceJob>> {
  const generator = new Asked<VoiceJob>('voice-generate.js');
  onCleanUp(() => generator.stop());
  const headers = {
    authorization: `Bearer ${gateway.dev.api_key}`,
    'sec-websocket-protocol': 'svc.voice.v1',
  };
  const wire = { kind: 'svc', voiceId: VOICE_ID } as const;
  const address = { host: '127.0.0.1', port: gateway.port, path: '/v1/voice/sessions' };
  const target = { ...address, headers, wire };
  const shape = { sessions: SESSIONS, first: 0, mode: 'burst', deltaMs: DELTA_MS } as const;
  const how = { perSecond: PER_SECOND, stay: true, renew: true, abuse: null };
  const opened = await generator.ask<Opened>({ kind: 'open', target, ...shape, ...how }, 60_000);
  if (opened.failed > 0) throw new Error(`${opened.failed} not opened: ${opened.failure}`);
  return generator;
}

async function soakOnce(minutes: number): Promise<Omit<Findings, 'name' | 'title' | 'method'>> {
  const { upstream, port } = await startVoiceUpstream();
  onCleanUp(() => upstream.stop());
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-voice-soak-'));
  onCleanUp(() => rm(folder, { recursive: true, force: true }));
  const catalogPath = join(folder, 'catalog.json');
  await writeFile(catalogPath, JSON.stringify(voiceCatalog(port)));
  const watched = await openWatched(SHARDS, {
    TOLLGATE_MODE: 'dev',
    TOLLGATE_CONFIG: catalogPath,
    TOLLGATE_VOICE_MAX_SECONDS: String(LONGEST_SECONDS),
  });
  const { gateway, samples } = watched;
  const generator = await openCrowd(gateway);
  const totals: Totals = {
    frames: 0,
    seen: 0,
    lost: 0,
    renewed: 0,
    failure: '',
    driftsMs: [],
    worstMs: 0,
    answers: 0,
  };
  const end = performance.now() + minutes * 60_000;
  while (performance.now() < end) {
    const job = { kind: 'measure', durationMs: ROUND_MS, bargeEveryMs: null } as const;
    const measured = await generator.ask<Measured>(job, ROUND_MS + 30_000);
    add(totals, measured, await upstream.ask<Seen>({ kind: 'seen' }, 10_000));
    const { minutes: at, rssMb, heapMb } = await watched.sample();
    say(
      `${at.toFixed(1)} of ${minutes} min: ${totals.answers} answers, drift at most ` +
        `${totals.worstMs.toFixed(1)} ms, ${totals.renewed} renewed, ` +
        `${totals.lost} lost, RSS ${rssMb.toFixed(0)} MB, heap ${heapMb.toFixed(1)} MB`,
    );
  }
  const { left } = await generator.ask<{ left: number }>({ kind: 'close', from: 0 }, 30_000);
  await sleep(1_000);
  await assertNothingHeld(gateway, 20_000);
  await assertLedger(gateway);
  const report = {
    columns: ['figure', 'value'],
    rows: [
      ['minutes', minutes.toFixed(1)],
      ['answers of 30 s followed from end to end', String(totals.answers)],
      ['drift of the worst of them, ms', totals.worstMs.toFixed(1)],
      ['sessions renewed at their longest duration', String(totals.renewed)],
      ['frames sent', String(totals.frames)],
      ['first failure', totals.failure || 'none'],
    ],
    bars: barsOf(samples, totals, left),
    chart: {
      title: `Memory of the gateway with ${SESSIONS} voice sessions`,
      unit: 'MB; heaps of the main thread and both shards together, after a collection of garbage',
      across: 'minutes',
      lines: [
        { label: 'resident', points: samples.map((each) => [each.minutes, each.rssMb] as const) },
        { label: 'heap', points: samples.map((each) => [each.minutes, each.heapMb] as const) },
        {
          label: 'outside of the heap',
          points: samples.map((each) => [each.minutes, each.externalMb] as const),
        },
      ],
    },
    notes: ['Afterwards nothing was held, and the ledger check found the books right.'],
  };
  await watched.close();
  return report;
}

test('500 voice sessions keep the clock for minutes, memory flat, books right', async () => {
  const frame = {
    name: 'long-voice-clock',
    title: `Soak of ${SESSIONS} voice sessions`,
    method:
      `${SESSIONS} sessions on ${SHARDS} shards send frames at real time and are answered with ` +
      '30 s of audio in one burst, then 3 s of silence, again and again. Drift is how far the ' +
      'audio that was sent is ahead of the clock, at most within 5 s: ' +
      'late in an answer less early in it.',
  };
  await recorded(frame, () => soakOnce(soakMinutes()));
});
