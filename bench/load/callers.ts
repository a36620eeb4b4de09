// Many callers, each with a request of its own: as fast as they are answered, or so many a second,
// whatever becomes of them. A process of its own, so that its CPU is nobody else's.
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../statistics.ts';
import { answerParent } from './asked.ts';
import { Connection, type Outcome } from './connection.ts';

interface Calls {
  port: number;
  /** Whole requests, sent in turn from the first on; after the last the first again. */
  requests: readonly string[];
}

export type CallersJob =
  /**
   * Each connection has its part of the requests, and sends the next when it is answered: so a
   * caller stays on its shard.
   */
  | (Calls & {
      kind: 'closed';
      connections: number;
      /** Between an answer and the next request. */
      pauseMs: number;
      /** How often each request is sent; null: until the time is used up. */
      rounds: number | null;
      durationMs: number;
    })
  /** Requests leave when they are due, on as many connections as that takes. */
  | (Calls & { kind: 'offered'; perSecond: number; durationMs: number; connectionsMax: number });

export interface StatusTimes {
  count: number;
  p50: number;
  p99: number;
  most: number;
}

export interface CallersResult {
  answers: number;
  /** Status 0 is that of a connection which was lost. Times are from when a request was due. */
  byStatus: Map<number, StatusTimes>;
  /** The first answer that was no success, in words; empty: all were. */
  failure: string;
  /** Due, but no connection was left for them. */
  unsent: number;
  elapsedMs: number;
  generatorCpuMicros: number;
}

const SPREAD_MS = 20;

/** What came back, and when. */
class Tally {
  readonly #times = new Map<number, number[]>();
  readonly #startedMs = performance.now();
  readonly #cpuBefore = process.cpuUsage();
  #failure = '';
  unsent = 0;

  add({ status, ok, detail }: Outcome, dueMs: number): void {
    const isLost = !ok && status === 0;
    const times = this.#times.get(isLost ? 0 : status) ?? [];
    times.push(performance.now() - dueMs);
    this.#times.set(isLost ? 0 : status, times);
    if (status < 200 || status > 299) this.#failure ||= `status ${status}: ${detail}`;
  }

  result(): CallersResult {
    const { user, system } = process.cpuUsage(this.#cpuBefore);
    const byStatus = new Map(
      [...this.#times].map(([status, times]) => {
        const [p50, p99, most] = [0.5, 0.99, 1].map((fraction) => percentile(times, fraction));
        return [status, { count: times.length, p50, p99, most } as StatusTimes];
      }),
    );
    return {
      answers: [...byStatus.values()].reduce((sum, { count }) => sum + count, 0),
      byStatus,
      failure: this.#failure,
      unsent: this.unsent,
      elapsedMs: performance.now() - this.#startedMs,
      generatorCpuMicros: user + system,
    };
  }
}

function openConnection(port: number): Connection {
  return new Connection({ host: '127.0.0.1', port, path: '', headers: {}, body: '' });
}

function sendOn(connection: Connection, request: Buffer): Promise<Outcome> {
  return new Promise((resolve) => connection.send(request, resolve));
}

async function runClosed(job: Extract<CallersJob, { kind: 'closed' }>): Promise<CallersResult> {
  const requests = job.requests.map((text) => Buffer.from(text));
  const tally = new Tally();
  const untilMs = performance.now() + job.durationMs;
  const caller = async (first: number): Promise<void> => {
    const connection = openConnection(job.port);
    await sleep((SPREAD_MS * first) / job.connections);
    for (let round = 0; round !== job.rounds; round += 1) {
      for (let index = first; index < requests.length; index += job.connections) {
        if (performance.now() >= untilMs) {
          connection.close();
          return;
        }
        const sentMs = performance.now();
        tally.add(await sendOn(connection, requests[index] as Buffer), sentMs);
        if (job.pauseMs > 0) await sleep(job.pauseMs);
      }
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: job.connections }, (_, index) => caller(index)));
  return tally.result();
}

async function runOffered(job: Extract<CallersJob, { kind: 'offered' }>): Promise<CallersResult> {
  const { port, perSecond, durationMs, connectionsMax } = job;
  const requests = job.requests.map((text) => Buffer.from(text));
  const tally = new Tally();
  const free: Connection[] = [];
  const underWay = new Set<Promise<void>>();
  let opened = 0;
  const take = (): Connection | null => {
    const known = free.pop();
    if (known !== undefined) return known;
    if (opened === connectionsMax) return null;
    opened += 1;
    return openConnection(port);
  };
  const offer = (index: number, dueMs: number): void => {
    const connection = take();
    if (connection === null) {
      tally.unsent += 1;
      return;
    }
    const sent = sendOn(connection, requests[index % requests.length] as Buffer).then((outcome) => {
      tally.add(outcome, dueMs);
      free.push(connection);
      underWay.delete(sent);
    });
    underWay.add(sent);
  };
  const startedMs = performance.now();
  const total = Math.round((perSecond * durationMs) / 1_000);
  for (let index = 0; index < total; ) {
    const due = Math.floor(((performance.now() - startedMs) * perSecond) / 1_000);
    for (; index <= due && index < total; index += 1) {
      offer(index, startedMs + (index * 1_000) / perSecond);
    }
    await sleep(1);
  }
  await Promise.all(underWay);
  for (const connection of free) connection.close();
  return tally.result();
}

answerParent<CallersJob>((job) => (job.kind === 'closed' ? runClosed(job) : runOffered(job)));
