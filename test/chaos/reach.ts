// Reaches into a running gateway beyond what the harness offers: its processes, its ready lines,
// the real ledger check beside it. Everything started through here is ended by `cleanUp`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { commandOf, descendantsOf } from '../../bench/proc.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../harness/gateway.ts';
import { startStopwatch } from '../harness/stopwatch.ts';

const CHECK_MS = 90_000;
const SHOWN_LINES = 60;

const opened = new Set<Gateway>();
const endings: (() => void)[] = [];

/** Starts a gateway that says little. */
export async function openGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const env = { TOLLGATE_LOG_LEVEL: 'warn', ...options.env };
  const gateway = await startGateway({ ...options, env });
  opened.add(gateway);
  return gateway;
}

/** Something else that has to end with the test, also when it fails. */
export function onCleanUp(end: () => void): void {
  endings.push(end);
}

/** Ends whatever still runs; for `after`. */
export async function cleanUp(): Promise<void> {
  for (const end of endings) end();
  for (const gateway of opened) await gateway.close();
  opened.clear();
}

/**
 * Waits until something holds, polled; resolves with the time it took. The bound is that of a
 * machine that does nothing else.
 */
export async function until(
  what: string,
  timeoutMs: number,
  holds: () => unknown,
  pollMs = 10,
): Promise<number> {
  const watch = startStopwatch();
  while (!(await holds())) {
    if (watch.elapsedMs() >= timeoutMs) watch.assertWithin(timeoutMs, `not yet: ${what}`);
    await sleep(pollMs);
  }
  return watch.elapsedMs();
}

/** How often it has said that it is ready. */
export function readyCount(gateway: Gateway): number {
  return gateway.logs.filter((line) => line.startsWith('tollgate ready on ')).length;
}

/** Its last lines, for the message of a failure. */
export function tail(gateway: Gateway): string {
  return gateway.logs.slice(-SHOWN_LINES).join('\n');
}

export function isAlive(pid: number): boolean {
  // A zombie has no command line any more.
  return pid > 0 && commandOf(pid) !== '';
}

export function simulatorPid(gateway: Gateway): number {
  const all = descendantsOf(gateway.parentPid);
  return all.find((pid) => commandOf(pid).includes('sim/main.js')) ?? 0;
}

/**
 * `npm run ledger:check` on its data, beside the running server or alone: the books are right.
 * `env` names its database, where that is none of its own.
 */
export async function assertLedger(
  gateway: Gateway,
  env: Record<string, string> = {},
): Promise<void> {
  const entry = fileURLToPath(new URL('../../runtime/commands/ledger-check.js', import.meta.url));
  const child = spawn(process.execPath, [entry], {
    env: { PATH: process.env.PATH, TOLLGATE_DATA: gateway.dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), CHECK_MS);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  assert.equal(code, 0, `the ledger check fails\n${output}\n${tail(gateway)}`);
}
