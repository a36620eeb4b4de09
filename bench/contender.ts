// A contender of a bench: something that answers chat completions over HTTP, and whose cost is read
// from outside. All contenders of a bench stand in front of the same upstream simulator.
import type { LoadResult, Target } from './load/job.ts';
import { cpuMicrosOf } from './proc.ts';

export interface Contender {
  name: string;
  /** What it is, for the table. */
  description: string;
  port: number;
  path: string;
  /** The model that its client asks for: our alias at the gateway, the upstream's id elsewhere. */
  model: string;
  headers: Record<string, string>;
  /** The processes whose CPU and memory are its cost; empty for the direct call. */
  pids(): number[];
  /** CPU of its database so far, in microseconds; 0 when it has none. */
  databaseCpuMicros(): number;
  stop(): Promise<void>;
}

/** The model id that the simulator is asked for where nobody maps an alias. */
export const UPSTREAM_MODEL = 'simulated-chat-large-2026-01-15';
export const CHAT_PATH = '/v1/chat/completions';

/** One chat completion of a contender, with the simulator's orders in the last user text. */
export function chatTarget(contender: Contender, orders: string, stream: boolean): Target {
  const content = `[[sim ${orders}]] Please write one short line about relays.`;
  const body = { model: contender.model, stream, messages: [{ role: 'user', content }] };
  return {
    host: '127.0.0.1',
    port: contender.port,
    path: contender.path,
    headers: contender.headers,
    body: JSON.stringify(body),
  };
}

/** What a stretch of work cost: user + system time in microseconds. */
export interface Cost {
  cpuMicros: number;
  databaseMicros: number;
  elapsedMs: number;
}

/** Runs `work` and reads what it cost the contender and its database. */
export async function costOf<T>(
  contender: Contender,
  work: () => Promise<T>,
): Promise<{ result: T; cost: Cost }> {
  const pids = contender.pids();
  const [cpu, database, started] = [
    cpuMicrosOf(pids),
    contender.databaseCpuMicros(),
    performance.now(),
  ];
  const result = await work();
  const cost = {
    cpuMicros: cpuMicrosOf(pids) - cpu,
    databaseMicros: contender.databaseCpuMicros() - database,
    elapsedMs: performance.now() - started,
  };
  return { result, cost };
}

/** A run with failed requests measures something else: it ends the bench with the reason. */
export function assertClean(
  contender: Contender,
  result: Pick<LoadResult, 'failed' | 'failure'>,
): void {
  if (result.failed === 0) return;
  throw new Error(`${contender.name}: ${result.failed} failed, the first: ${result.failure}`);
}
