// What the voice benches share: an upstream, a generator, contenders; sessions that are opened,
// measured and closed; and the latency up, which only both ends together know.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  directVoice,
  startBareVoice,
  startGatewayVoice,
  startNginxVoice,
  startVoiceUpstream,
  type VoiceContender,
  type VoiceContenderName,
  type VoiceUpstream,
} from '../contenders/voice.ts';
import { Asked } from '../load/asked.ts';
import type { Abuse, Measured, Opened, Seen, VoiceJob } from '../load/voice-job.ts';
import { percentilesOf } from '../load/voice-record.ts';
import type { SessionOrder } from '../load/voice-wire.ts';
import { cpuMicrosOf } from '../proc.ts';
import { threadMicrosOf } from '../threads.ts';
import type { BenchOptions } from './bench.ts';
import { progress } from './bench.ts';

export const SESSIONS = 300;
export const DELTA_MS = 80;
const OPEN_PER_SECOND = 100;
const SETTLE_MS = 2_000;
const GRACE_MS = 30_000;

export interface Stage {
  contenders: VoiceContender[];
  /** Why a contender is not there. */
  notes: string[];
  open(contender: VoiceContender, opening: Opening): Promise<Opened>;
  /** What the sessions did within the time, and what it cost. */
  measure(contender: VoiceContender, durationMs: number, bargeEveryMs?: number): Promise<Window>;
  /** Ends every session, or only those of the last opening. */
  close(which?: 'all' | 'last'): Promise<void>;
  stop(): Promise<void>;
}

export interface Opening {
  sessions: number;
  mode: SessionOrder['mode'];
  perSecond?: number;
  stay?: boolean;
  abuse?: Abuse;
}

export interface Window extends Measured {
  upMs: { count: number; p50: number; p99: number };
  /** CPU in microseconds of the thread that holds the sockets, and of the whole process. */
  threadMicros: number;
  processMicros: number;
  databaseMicros: number;
}

async function startOne(
  name: VoiceContenderName,
  port: number,
  options: BenchOptions,
): Promise<VoiceContender | null> {
  switch (name) {
    case 'direct':
      return directVoice(port);
    case 'nginx':
      return startNginxVoice(port);
    case 'bare':
      return startBareVoice(port);
    case 'gateway':
      return startGatewayVoice(port, options.profileFolder);
  }
}

/** Starts these contenders in front of one upstream; one that cannot be had is left out. */
export async function startStage(
  names: readonly VoiceContenderName[],
  options: BenchOptions,
): Promise<Stage> {
  const asked = names.filter((name) => options.contenders?.includes(name) ?? true);
  progress(`starting ${asked.join(', ')}`);
  const { upstream, port } = await startVoiceUpstream();
  const generator = new Asked<VoiceJob>('voice-generate.js');
  const contenders: VoiceContender[] = [];
  const notes: string[] = [];
  const stop = async (): Promise<void> => {
    generator.stop();
    for (const contender of contenders.splice(0)) await contender.stop();
    upstream.stop();
  };
  try {
    for (const name of asked) {
      const contender = await startOne(name, port, options);
      if (contender === null) notes.push(`${name} is not installed here, so it is left out.`);
      else contenders.push(contender);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { contenders, notes, ...acts(generator, upstream), stop };
}

type Acts = Pick<Stage, 'open' | 'measure' | 'close'>;

function acts(generator: Asked<VoiceJob>, upstream: VoiceUpstream): Acts {
  let first = 0;
  let lastFirst = 0;
  return {
    open: async ({ target, name }, opening) => {
      const { sessions, mode, stay = true, abuse = null } = opening;
      const perSecond = opening.perSecond ?? OPEN_PER_SECOND;
      const shape = { sessions, mode, stay, abuse, perSecond, first, deltaMs: DELTA_MS };
      lastFirst = first;
      first += sessions;
      const limitMs = (sessions * 1_000) / perSecond + GRACE_MS;
      const opened = await generator.ask<Opened>(
        { kind: 'open', target, renew: false, ...shape },
        limitMs,
      );
      if (opened.failed > 0 && abuse === null) {
        throw new Error(`${name}: ${opened.failed} not opened, the first: ${opened.failure}`);
      }
      if (stay) await sleep(SETTLE_MS);
      return opened;
    },
    measure: async (contender, durationMs, bargeEveryMs) => {
      await upstream.ask<Seen>({ kind: 'seen' }, GRACE_MS);
      const before = costOf(contender);
      const job = { kind: 'measure', durationMs, bargeEveryMs: bargeEveryMs ?? null } as const;
      const measured = await generator.ask<Measured>(job, durationMs + GRACE_MS);
      const after = costOf(contender);
      // What was sent last is still on its way.
      await sleep(200);
      const seen = await upstream.ask<Seen>({ kind: 'seen' }, GRACE_MS);
      return {
        ...measured,
        upMs: percentilesOf(upLatencies(measured, seen)),
        threadMicros: after.thread - before.thread,
        processMicros: after.process - before.process,
        databaseMicros: after.database - before.database,
      };
    },
    close: async (which = 'all') => {
      const from = which === 'all' ? 0 : lastFirst;
      await generator.ask({ kind: 'close', from }, GRACE_MS);
      await sleep(500);
    },
  };
}

function costOf(contender: VoiceContender): { thread: number; process: number; database: number } {
  const pids = contender.pids();
  const [pid = 0] = pids;
  const all = cpuMicrosOf(pids);
  const { thread } = contender;
  return {
    thread: thread === null ? all : (threadMicrosOf(pid).get(thread) ?? 0),
    process: all,
    database: contender.databaseCpuMicros(),
  };
}

/** Each onset that was sent, with when the upstream saw it: before the next one, or never. */
function upLatencies(measured: Measured, seen: Seen): number[] {
  const seenTimes = new Map(seen.onsets);
  return measured.onsets.flatMap(([session, sent]) => {
    const times = seenTimes.get(session) ?? [];
    return sent.flatMap((sentMs) => {
      // Two processes read one clock: a tenth of a millisecond is what that is worth.
      const at = times.find((time) => time > sentMs - 0.1);
      return at === undefined ? [] : [Math.max(0, at - sentMs)];
    });
  });
}

/** Sessions that were lost are no measurement: it ends with the reason. */
export function assertAlive(name: string, { lost, failure }: Measured): void {
  if (lost > 0) throw new Error(`${name}: ${lost} sessions were lost, the first: ${failure}`);
}
