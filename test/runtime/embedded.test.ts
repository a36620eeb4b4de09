// The embedded database as a whole: real servers, real kills. Each test has its own data folder.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { prepareAudioFolders } from '../../actors/audio/folders.ts';
import { createCluster } from '../../runtime/embedded/cluster.ts';
import { attachDatabase, startDatabase } from '../../runtime/embedded/database.ts';
import { prepareDataFolder } from '../../runtime/folder.ts';
import { startStopwatch } from '../harness/stopwatch.ts';

// slow: It starts a database server for each of its tests.

const isRoot = process.getuid?.() === 0;
const folders: string[] = [];
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-pg-'));
  // The database user has to pass through it, as through any parent of a data folder.
  await chmod(folder, 0o711);
  folders.push(folder);
  return join(folder, 'data');
}

after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** Runs one statement over a connection of its own. */
async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const host = new URL(url).searchParams.get('host') ?? '';
  const sql = postgres({ host, user: 'tollgate', database: 'tollgate', max: 1, onnotice: quiet });
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.end();
  }
}

async function serverPid(dataDir: string): Promise<number> {
  const text = await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The keeper may notice the end of its parent before it is killed itself. */
function killIfAlive(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}

const UNTIL_MS = 45_000;

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + UNTIL_MS;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, `not within ${UNTIL_MS} ms: ${what}`);
    await sleep(10);
  }
}

interface Child {
  process: ChildProcess;
  lines: string[];
  /** The first line that starts with one of the words, without that word. */
  line(...words: string[]): Promise<string>;
}

function startChild(dataDir: string, user: { uid?: number; gid?: number } = {}): Child {
  const script = fileURLToPath(new URL('./embedded-child.js', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    ...user,
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const line = async (...words: string[]) => {
    const find = () => lines.find((text) => words.some((word) => text.startsWith(`${word} `)));
    await until(`child says ${words.join(' or ')}`, () => find() !== undefined);
    return find() ?? '';
  };
  return { process: child, lines, line };
}

test('first and warm start serve, keep data, and leave exactly the promised modes', async () => {
  const dataDir = await makeFolder();
  const first = await startDatabase({ dataDir, log });
  await query(first.url, 'create table kept as select 42 as answer');
  await first.stop();
  const watch = startStopwatch();
  const second = await startDatabase({ dataDir, log });
  try {
    watch.assertWithin(1_000, 'a warm start');
    assert.deepEqual(await query(second.url, 'select answer from kept'), [{ answer: 42 }]);
    const [settings] = await query(
      second.url,
      `select current_setting('listen_addresses') listen, current_setting('fsync') fsync,
       current_setting('server_encoding') encoding, current_setting('synchronous_commit') sync`,
    );
    assert.deepEqual(settings, { listen: '', fsync: 'on', encoding: 'UTF8', sync: 'on' });
    const data = await stat(dataDir);
    const cluster = await stat(join(dataDir, 'pg'));
    assert.equal(data.mode & 0o777, isRoot ? 0o711 : 0o700);
    assert.equal(cluster.mode & 0o777, 0o700);
    assert.equal(cluster.uid === 0, false, 'the database folder must not belong to root');
    assert.equal((await stat(join(dataDir, 'lock'))).mode & 0o077, 0);
  } finally {
    await second.stop();
  }
});

test('kill -9 of our process ends the server, and the next start serves at once', async () => {
  const dataDir = await makeFolder();
  const child = startChild(dataDir);
  await child.line('url');
  const pid = await serverPid(dataDir);
  child.process.kill('SIGKILL');
  // Started while the keeper is still stopping the old server: has to wait for it by itself.
  const next = await startDatabase({ dataDir, log });
  try {
    assert.equal(isAlive(pid), false);
    assert.deepEqual(await query(next.url, 'select 1 as one'), [{ one: 1 }]);
  } finally {
    await next.stop();
  }
});

test('a server whose parent and keeper were both killed is replaced', async () => {
  const dataDir = await makeFolder();
  const child = startChild(dataDir);
  await child.line('url');
  const pid = await serverPid(dataDir);
  const group = execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' });
  const listed = execFileSync('ps', ['-e', '-o', 'pid=,pgid=,comm='], { encoding: 'utf8' });
  const keepers = listed
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, pgid, name]) => pgid === group.trim() && name === 'sh');
  assert.equal(keepers.length, 2, 'the keeper and its watcher');
  child.process.kill('SIGKILL');
  for (const [keeperPid] of keepers) killIfAlive(Number(keeperPid));
  const next = await startDatabase({ dataDir, log });
  try {
    assert.deepEqual(await query(next.url, 'select 1 as one'), [{ one: 1 }]);
  } finally {
    await next.stop();
  }
});

test('kill -9 of the server alone starts it again, with what was committed', async () => {
  const dataDir = await makeFolder();
  const database = await startDatabase({ dataDir, log });
  try {
    await query(database.url, 'create table kept as select 1 as answer');
    const pid = await serverPid(dataDir);
    process.kill(pid, 'SIGKILL');
    await until('serves again', async () => {
      const rows = await query(database.url, 'select answer from kept').catch(() => []);
      return rows.length === 1 && (await serverPid(dataDir)) !== pid;
    });
  } finally {
    await database.stop();
  }
});

test('what keeps a database from being made is told, not that initdb clears up', async () => {
  const data = await makeFolder();
  await mkdir(data, { mode: 0o755 });
  const initdb = join(data, 'initdb');
  const socketDir = join(data, 'pg');
  const place = { folder: socketDir, socketDir, socketPath: socketDir, identity: null };
  const binaries = { initdb, postgres: '', version: '18.4.0' };
  const faultAfter = async (...lines: string[]) => {
    const said = lines.map((line) => `echo '${line}'`).join('\n');
    await writeFile(initdb, `#!/bin/sh\n${said}\nexit 1\n`, { mode: 0o755 });
    return createCluster(place, binaries).then(
      () => assert.fail('it was made'),
      (error: Error) => error.message.replace(/^.*: (?=could|no)/, ''),
    );
  };
  const last = `initdb: removing data directory "${data}"`;
  const full = 'could not extend file "base/1/2691": No space left on device';
  const server = `running bootstrap script ... 2026-11-26 11:08:45 UTC [1] FATAL:  ${full}`;
  const second = 'PANIC:  cannot abort transaction 1, it was already committed';
  assert.equal(await faultAfter(server, 'HINT:  Check.', second, 'Aborted', last), full);
  const denied = 'could not create directory "/x": Permission denied';
  assert.equal(await faultAfter(`creating it ... initdb: error: ${denied}`, last), denied);
  assert.equal(await faultAfter('hello', 'nobody knows'), 'nobody knows');
});

test('a server that recovers is waited for longer than a start may take', async () => {
  const dataDir = await makeFolder();
  await (await startDatabase({ dataDir, log })).stop();
  // Takes no sessions until it is promoted, as one does not that replays what a crash left.
  const signal = join(dataDir, 'pg', 'standby.signal');
  await writeFile(signal, '');
  await chmod(signal, 0o666);
  const settings = { hot_standby: 'off' };
  const told: string[] = [];
  const telling = { ...log, warn: (_: object, message: string) => told.push(message) };
  const leaving = new AbortController();
  const left = startDatabase({ dataDir, log: telling, settings, signal: leaving.signal });
  await until('it tells that it recovers', () => told.some((line) => line.includes('recovers')));
  const pid = await serverPid(dataDir);
  leaving.abort();
  await assert.rejects(left, /did not start/);
  assert.equal(isAlive(pid), false);
  const readyTimeoutMs = 5_000;
  const waiting = startDatabase({ dataDir, log, settings, readyTimeoutMs });
  waiting.catch(quiet);
  await sleep(readyTimeoutMs + 1_500);
  await writeFile(join(dataDir, 'pg', 'promote'), '');
  process.kill(await serverPid(dataDir), 'SIGUSR1');
  const database = await waiting;
  assert.deepEqual(await query(database.url, 'select 1 as one'), [{ one: 1 }]);
  await database.stop();
});

test('files whose number belongs to another process do not stop the start', async () => {
  const dataDir = await makeFolder();
  await (await startDatabase({ dataDir, log })).stop();
  const folder = join(dataDir, 'pg');
  // Of the same user: that of another one the server itself takes for nobody's.
  const { uid, gid } = await stat(folder);
  const other = spawn('sleep', ['60'], { stdio: 'ignore', ...(isRoot ? { uid, gid } : {}) });
  try {
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      const file = join(folder, name);
      await writeFile(file, `${other.pid}\n${folder}\n0\n5432\n${folder}\n\n`, { mode: 0o600 });
      await chown(file, uid, gid);
    }
    const database = await startDatabase({ dataDir, log });
    await database.stop();
  } finally {
    other.kill('SIGKILL');
  }
});

test('a second server on the same folder is refused in one line; a tool attaches', async () => {
  const dataDir = await makeFolder();
  const database = await startDatabase({ dataDir, log });
  try {
    const refused = startChild(dataDir);
    assert.match(await refused.line('failed'), /is in use by process \d+$/);
    const tool = await attachDatabase({ dataDir, log });
    await query(tool.url, 'select 1');
    await tool.stop();
    assert.deepEqual(await query(database.url, 'select 1 as one'), [{ one: 1 }]);
  } finally {
    await database.stop();
  }
  const alone = await attachDatabase({ dataDir, log });
  const pid = await serverPid(dataDir);
  await alone.stop();
  assert.equal(isAlive(pid), false);
});

test('a folder whose server is not to be seen, as in another container, is refused', async () => {
  const dataDir = await makeFolder();
  const first = await startDatabase({ dataDir, log });
  const files = [join(dataDir, 'lock'), join(dataDir, 'pg', 'postmaster.pid')];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  try {
    // No process here has such a number.
    for (const [at, file] of files.entries()) {
      await writeFile(file, texts[at]?.replace(/^\d+/, '4194305') ?? '');
    }
    await assert.rejects(startDatabase({ dataDir, log }), /is in use by another container$/);
    assert.match(await readFile(files[0] ?? '', 'utf8'), /^4194305\n/, 'its lock is left alone');
    assert.equal((await query(first.url, 'SELECT 1 AS one'))[0]?.one, 1);
  } finally {
    for (const [at, file] of files.entries()) await writeFile(file, texts[at] ?? '');
    await first.stop();
  }
});

test('a folder that holds other files is refused and left as it was', async () => {
  const dataDir = await makeFolder();
  await mkdir(dataDir, { mode: 0o755 });
  await writeFile(join(dataDir, 'thesis.txt'), 'mine');
  await assert.rejects(startDatabase({ dataDir, log }), /TOLLGATE_DATA .* holds other files/);
  assert.equal((await stat(dataDir)).mode & 0o777, 0o755);
});

test('what a server leaves that was given database and secret is its own folder', async () => {
  const dataDir = await makeFolder();
  await mkdir(dataDir, { mode: 0o755 });
  await mkdir(join(dataDir, 'audio'));
  await assert.rejects(prepareDataFolder(dataDir), /holds other files/, 'anybody’s');
  await prepareAudioFolders(dataDir, true);
  await prepareDataFolder(dataDir);
  assert.equal((await stat(dataDir)).mode & 0o700, 0o700);
  await writeFile(join(dataDir, 'thesis.txt'), 'mine');
  await assert.rejects(prepareDataFolder(dataDir), /holds other files/);
});

test('a path too long for a unix socket gets a short private socket folder', async () => {
  const dataDir = join(await makeFolder(), 'x'.repeat(100));
  const database = await startDatabase({ dataDir, log });
  const socketDir = new URL(database.url).searchParams.get('host') ?? '';
  try {
    assert.ok(socketDir.length < 90);
    assert.equal((await stat(socketDir)).mode & 0o777, 0o700);
    assert.deepEqual(await query(database.url, 'select 1 as one'), [{ one: 1 }]);
  } finally {
    await database.stop();
    await rm(socketDir, { recursive: true, force: true });
  }
});

test('root: a data path that the database user cannot reach is refused in one line', async (t) => {
  if (!isRoot) return t.skip('not root: the database runs as ourselves');
  const dataDir = await makeFolder();
  await mkdir(dataDir, { mode: 0o700 });
  await assert.rejects(startDatabase({ dataDir: join(dataDir, 'deep'), log }), (error: Error) => {
    assert.match(error.message, /^TOLLGATE_DATA \(.*\) cannot be reached by the database user/);
    return !error.message.includes('\n');
  });
});

test('an ordinary user starts it as that user', async (t) => {
  if (!isRoot) return t.skip('not root: every other test here shows it');
  const dataDir = await makeFolder();
  await mkdir(dataDir, { mode: 0o700 });
  const nobody = { uid: 65_534, gid: 65_534 };
  await chown(dataDir, nobody.uid, nobody.gid);
  const child = startChild(dataDir, nobody);
  try {
    const said = await child.line('url', 'failed');
    assert.match(said, /^url /);
    const owner = (await stat(join(dataDir, 'pg'))).uid;
    assert.equal(owner, (await stat(dataDir)).uid);
    assert.equal((await stat(dataDir)).mode & 0o777, 0o700);
  } finally {
    child.process.kill('SIGTERM');
    await until('the child ends', () => child.process.exitCode !== null);
  }
});
