// The parent and its children under kills: real processes, a real database, the real simulator.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Boot } from '../../runtime/launch.ts';
import { freePort } from '../harness/port.ts';
import { startStopwatch } from '../harness/stopwatch.ts';

// slow: It waits for real restarts of real processes.

const folders: string[] = [];
const started: ChildProcess[] = [];

after(async () => {
  for (const child of started) child.kill('SIGKILL');
  // Their keepers need a moment to stop the databases.
  await sleep(300);
  const options = { recursive: true, force: true, maxRetries: 50, retryDelay: 100 };
  for (const folder of folders) await rm(folder, options);
});

const UNTIL_MS = 45_000;

async function until(what: string, holds: () => unknown): Promise<void> {
  const deadline = performance.now() + UNTIL_MS;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, `not within ${UNTIL_MS} ms: ${what}`);
    await sleep(10);
  }
}

interface Seen {
  boot: Boot;
  pid: number;
  headerBytesMax: string;
  execArgv: string[];
}

interface Parent {
  process: ChildProcess;
  dataDir: string;
  lines: string[];
  url: string;
  see(): Promise<Seen | null>;
}

async function startParent(script: string, env: Record<string, string>): Promise<Parent> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-parent-'));
  await chmod(folder, 0o711);
  folders.push(folder);
  const dataDir = join(folder, 'data');
  const port = env.PORT ?? String(await freePort());
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
    env: { TOLLGATE_DATA: dataDir, PORT: port, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  const url = `http://127.0.0.1:${port}`;
  const see = async () => {
    const reply = await fetch(`${url}/`).catch(() => null);
    return reply === null ? null : ((await reply.json()) as Seen);
  };
  return { process: child, dataDir, lines, url, see };
}

async function seeOne(parent: Parent, accept: (seen: Seen) => boolean) {
  let found: Seen | null = null;
  await until(`a main process answers\n${parent.lines.join('\n')}`, async () => {
    const seen = await parent.see();
    if (seen !== null && accept(seen)) found = seen;
    return found !== null;
  });
  assert.ok(found !== null);
  return found as Seen;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function databasePid(dataDir: string): Promise<number> {
  const text = await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

async function waitForEnd(parent: Parent): Promise<number | null> {
  await until('the parent ends', () => parent.process.exitCode !== null);
  return parent.process.exitCode;
}

test('starts everything, hands it over, stops it all on SIGTERM with exit 0', async () => {
  const parent = await startParent('./start-parent.js', {});
  const { boot, pid, headerBytesMax, execArgv } = await seeOne(parent, () => true);
  assert.equal(boot.config.mode, 'dev');
  assert.equal(boot.singleProcess, true);
  assert.equal(headerBytesMax, '16384');
  const flags = ['--heap-growing-percent=100', '--max-valid-polymorphic-map-count=8'];
  assert.deepEqual(execArgv.slice(-2), flags);
  assert.match(boot.databaseUrl, /^postgres:\/\/tollgate@localhost:5432\/tollgate\?host=/);
  assert.match(boot.masterKey, /^[A-Za-z0-9_-]{43}$/);
  const secret = join(parent.dataDir, 'secret');
  assert.equal((await readFile(secret, 'utf8')).trim(), boot.masterKey);
  assert.equal((await stat(secret)).mode & 0o777, 0o600);
  const simulator = await fetch(`${boot.simulatorUrl}/`);
  assert.ok(simulator.status > 0);
  const database = await databasePid(parent.dataDir);
  parent.process.kill('SIGTERM');
  assert.equal(await waitForEnd(parent), 0);
  assert.ok(parent.lines.includes('dummy stops: stop'));
  assert.deepEqual([isAlive(pid), isAlive(database)], [false, false]);
  await assert.rejects(fetch(`${boot.simulatorUrl}/`));
});

test('an abort of main: back within 3 s, database and simulator untouched', async () => {
  const parent = await startParent('./start-parent.js', {});
  const first = await seeOne(parent, () => true);
  const database = await databasePid(parent.dataDir);
  const aborted = startStopwatch();
  await fetch(`${parent.url}/abort`).catch(() => null);
  const second = await seeOne(parent, (seen) => seen.pid !== first.pid);
  aborted.assertWithin(3_000, 'back after an abort');
  const killed = startStopwatch();
  process.kill(second.pid, 'SIGKILL');
  const third = await seeOne(parent, (seen) => seen.pid !== second.pid);
  killed.assertWithin(3_000, 'back after a kill');
  assert.deepEqual(third.boot.previousInstanceIds, [first.boot.instanceId, second.boot.instanceId]);
  assert.notEqual(third.boot.instanceId, second.boot.instanceId);
  assert.equal(third.boot.databaseUrl, first.boot.databaseUrl);
  assert.equal(third.boot.simulatorUrl, first.boot.simulatorUrl);
  assert.equal(await databasePid(parent.dataDir), database);
  assert.ok((await fetch(`${third.boot.simulatorUrl}/`)).status > 0);
  parent.process.kill('SIGTERM');
  assert.equal(await waitForEnd(parent), 0);
});

test('a main process whose event loop is stuck is replaced', async () => {
  const env = { TOLLGATE_MODE: 'production', TEST_HUNG_MS: '3000' };
  const parent = await startParent('./start-parent.js', env);
  const first = await seeOne(parent, () => true);
  // Longer than the pulse may be missing: a healthy one is left alone.
  await sleep(4_500);
  assert.equal((await parent.see())?.pid, first.pid);
  fetch(`${parent.url}/hang`).catch(() => null);
  await until('the stuck one is killed', () => !isAlive(first.pid));
  await seeOne(parent, (seen) => seen.pid !== first.pid);
  parent.process.kill('SIGTERM');
  assert.equal(await waitForEnd(parent), 0);
});

test('a machine that stood still does not make a healthy main process look stuck', async () => {
  const env = { TOLLGATE_MODE: 'production', TEST_HUNG_MS: '3000' };
  const parent = await startParent('./start-parent.js', env);
  const first = await seeOne(parent, () => true);
  const all = [parent.process.pid ?? 0, first.pid];
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  await sleep(4_000);
  // The parent first: it has not heard from the other one for longer than it may.
  for (const pid of all) {
    process.kill(pid, 'SIGCONT');
    await sleep(300);
  }
  assert.equal((await seeOne(parent, () => true)).pid, first.pid);
  parent.process.kill('SIGTERM');
  assert.equal(await waitForEnd(parent), 0);
});

test('a main process that is stuck when its parent is killed does not stay behind', async () => {
  const env = { TOLLGATE_MODE: 'production', TEST_STOP_GRACE_MS: '1000' };
  const parent = await startParent('./start-parent.js', env);
  const { pid } = await seeOne(parent, () => true);
  fetch(`${parent.url}/hang`).catch(() => null);
  await sleep(100);
  parent.process.kill('SIGKILL');
  await until('the stuck main process ends', () => !isAlive(pid));
});

test('kill -9 of the parent ends the main process, the simulator and the database', async () => {
  const parent = await startParent('./start-parent.js', {});
  const { boot, pid } = await seeOne(parent, () => true);
  const database = await databasePid(parent.dataDir);
  parent.process.kill('SIGKILL');
  await until('main and database end', () => !isAlive(pid) && !isAlive(database));
  await until('the simulator ends', () =>
    fetch(`${boot.simulatorUrl}/`).then(
      () => false,
      () => true,
    ),
  );
});

test('a main process that waits for its configuration is not taken for hung', async () => {
  const env = { TEST_SIMULATOR: './late-simulator.js', TEST_READY_MS: '4000' };
  const parent = await startParent('./start-parent.js', env);
  const { boot } = await seeOne(parent, () => true);
  assert.deepEqual(boot.previousInstanceIds, []);
  parent.process.kill('SIGTERM');
  assert.equal(await waitForEnd(parent), 0);
});

test('a main process that keeps crashing ends the parent with 1 and one line', async () => {
  const parent = await startParent('./start-parent.js', { PORT: '2', TOLLGATE_MODE: 'production' });
  assert.equal(await waitForEnd(parent), 1);
  const last = parent.lines.filter((line) => line.startsWith('end ')).at(-1);
  assert.equal(last, 'end 1 its main process keeps ending (SIGABRT)');
});

test('one that was ready and tells why it is not is tried for as long as it takes', async () => {
  const few = { TEST_RESTARTS_MAX: '6', TEST_RESTARTS_WITHIN_MS: '3000' };
  const parent = await startParent('./start-parent.js', { TOLLGATE_MODE: 'production', ...few });
  const { pid } = await seeOne(parent, () => true);
  const refusing = join(parent.dataDir, '../refuse');
  await writeFile(refusing, '').then(() => process.kill(pid, 'SIGKILL'));
  const refusals = () => parent.lines.filter((line) => line.includes('"not at this moment"'));
  await until('it has refused more often than it may crash', () => refusals().length > 7);
  await rm(refusing);
  await seeOne(parent, () => true);
  parent.process.kill('SIGTERM');
  assert.equal(await waitForEnd(parent), 0);
});

test('a main process that refuses to start ends the parent at once with its line', async () => {
  const parent = await startParent('./start-parent.js', { PORT: '1', TOLLGATE_MODE: 'production' });
  assert.equal(await waitForEnd(parent), 1);
  assert.ok(parent.lines.includes('end 1 port 1 is not for us'), parent.lines.join('\n'));
});

test('SIGTERM in the middle of the first start ends with 0 and leaves no process', async () => {
  const parent = await startParent('./start-parent.js', {});
  // On a busy machine the look may come when it has its name already.
  await until('the database folder is being made', async () => {
    const names = await readdir(parent.dataDir).catch((): string[] => []);
    return names.some((name) => /^pg(\.new|$)/.test(name));
  });
  parent.process.kill('SIGTERM');
  assert.equal(await waitForEnd(parent), 0);
  await assert.rejects(stat(join(parent.dataDir, 'pg', 'postmaster.pid')));
  assert.equal(await parent.see(), null);
});

test('the real entry ends with 1 and one line for what it is given and cannot use', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-parent-'));
  folders.push(folder);
  const noPem = join(folder, 'no.pem');
  await writeFile(noPem, 'not a certificate');
  const taken = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.after(() => taken.close());
  const address = taken.address();
  assert.ok(typeof address === 'object' && address !== null);
  const nobody = `postgres://tollgate:hunter2@127.0.0.1:${await freePort()}/books`;
  const cases: [Record<string, string>, RegExp][] = [
    [{ DATABASE_URL: nobody }, /^DATABASE_URL cannot be used: .*ECONNREFUSED/],
    [{ PORT: '0', HOST: '192.0.2.1' }, /^HOST: cannot listen on 192\.0\.2\.1 /],
    [{ TOLLGATE_TLS_CERT: noPem, TOLLGATE_TLS_KEY: noPem }, /^TOLLGATE_TLS_CERT and .*: /],
    [{ TOLLGATE_TLS_CERT: folder, TOLLGATE_TLS_KEY: noPem }, /^TOLLGATE_TLS_CERT and .*EISDIR/],
    [{ TOLLGATE_METRICS_PORT: `${address.port}` }, /^TOLLGATE_METRICS_PORT \d+ of .* in use/],
    [{ TOLLGATE_FFMPEG: noPem }, /^TOLLGATE_FFMPEG names no ffmpeg that runs: /],
    [{ TOLLGATE_FFPROBE: '/bin/sh' }, /^TOLLGATE_FFPROBE names no ffprobe that runs: /],
  ];
  for (const [env, expected] of cases) {
    const parent = await startParent('../../runtime/start.js', {
      TOLLGATE_MODE: 'production',
      TOLLGATE_LOG_LEVEL: 'warn',
      ...env,
    });
    assert.equal(await waitForEnd(parent), 1);
    await until('its line', () => parent.lines.length > 0);
    const told = parent.lines.filter((line) => !line.startsWith('catalog: '));
    assert.equal(told.length, 1, told.join('\n'));
    assert.match(told[0]?.replace('tollgate cannot run: ', '') ?? '', expected);
    assert.ok(!told.join().includes('hunter2'));
  }
});

test('a reader of its output who has left takes nothing with him', async () => {
  const env = { TOLLGATE_MODE: 'dev', TOLLGATE_SHARDS: '1' };
  const parent = await startParent('../../runtime/start.js', env);
  parent.process.stdout?.destroy();
  await until('it serves', async () => {
    assert.equal(parent.process.exitCode, null, parent.lines.join('\n'));
    return (await fetch(`${parent.url}/api/health`).catch(() => null))?.status === 200;
  });
  parent.process.kill('SIGTERM');
  assert.equal(await waitForEnd(parent), 0);
});

test('the real entry refuses a bad environment with exit 1 and one line', async () => {
  const parent = await startParent('../../runtime/start.js', { TOLLGATE_SHARDS: 'many' });
  assert.equal(await waitForEnd(parent), 1);
  await until('its line', () => parent.lines.length > 0);
  assert.deepEqual(parent.lines, [
    "tollgate cannot run: TOLLGATE_SHARDS must be an integer from 1 to 255, not 'many'",
  ]);
});
