// The database folder: made once by initdb, private to its user, listening on one socket only.
// It is built beside its place and renamed, so that a killed first start leaves no half cluster.
import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { findBarrier, type Identity, runCommand } from './identity.ts';

/** Where the database of a data folder is, and whose it is. */
export interface ClusterPlace {
  /** PGDATA. */
  folder: string;
  socketDir: string;
  socketPath: string;
  identity: Identity;
}

export interface Cluster extends ClusterPlace {
  binaries: Binaries;
}

export const databaseUser = 'tollgate';
export const databaseName = 'tollgate';

const INITDB_TIMEOUT_MS = 60_000;
/** sun_path has 108 bytes on Linux and 104 on macOS (unix(7)); some room is left. */
const SOCKET_PATH_BYTES_MAX = 99;
const SOCKET_NAME = '.s.PGSQL.5432';

async function chownTo(path: string, identity: Identity): Promise<void> {
  if (identity !== null) await chown(path, identity.uid, identity.gid);
}

/** What killed first starts left, as far as it can be removed: an initdb may still work in it. */
async function removePartials(folder: string): Promise<void> {
  const parent = dirname(folder);
  const begin = `${basename(folder)}.new`;
  const left = (await readdir(parent)).filter((name) => name.startsWith(begin));
  const options = { recursive: true, force: true };
  await Promise.all(left.map((name) => rm(join(parent, name), options).catch(() => undefined)));
}

/** What initdb or its server failed of, its first complaint: the last one is of clearing up. */
function reasonOf(output: string): string {
  const complaint = /(?:FATAL|PANIC|error): +(.+)/.exec(output)?.[1];
  return complaint ?? output.split('\n').at(-1) ?? '';
}

async function initialise(cluster: ClusterPlace, binaries: Binaries): Promise<void> {
  const parent = dirname(cluster.folder);
  await removePartials(cluster.folder);
  // Of its own: the initdb of one that was killed lives on for a moment, and at last empties its.
  const partial = `${cluster.folder}.new.${process.pid}`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  await chownTo(partial, cluster.identity);
  const made = await runCommand(
    binaries.initdb,
    [
      `--pgdata=${partial}`,
      `--username=${databaseUser}`,
      '--encoding=UTF8',
      '--locale=C',
      // Sorts by bytes like C, yet knows upper and lower case beyond ASCII.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--auth-local=trust',
      '--auth-host=reject',
      '--no-instructions',
    ],
    cluster.identity,
    INITDB_TIMEOUT_MS,
  );
  if (!made.ok) {
    await rm(partial, { recursive: true, force: true });
    throw new Error(
      `the embedded database cannot be created in ${parent}: ${reasonOf(made.output)}`,
    );
  }
  await rename(partial, cluster.folder);
  await removePartials(cluster.folder);
}

/** Refuses what another system user prepared: trust rests on this folder being private. */
async function preparePrivateDir(path: string, identity: Identity): Promise<void> {
  const owner = identity?.uid ?? process.getuid?.();
  await mkdir(path, { mode: 0o700 }).then(
    () => chownTo(path, identity),
    () => undefined,
  );
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== owner) {
    throw new Error(`the socket folder ${path} belongs to another user: remove it`);
  }
  await chmod(path, 0o700);
}

async function chooseSocketDir(folder: string, identity: Identity): Promise<string> {
  const fits = (dir: string) => Buffer.byteLength(join(dir, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX;
  if (fits(folder)) return folder;
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  const candidates = [tmpdir(), '/tmp'].map((parent) => join(parent, `tollgate-${name}`));
  for (const candidate of candidates) {
    if (!fits(candidate)) continue;
    if ((await findBarrier(dirname(candidate), identity)) !== null) continue;
    await preparePrivateDir(candidate, identity);
    return candidate;
  }
  throw new Error(`TOLLGATE_DATA is too long a path for a unix socket: ${folder}`);
}

/** ACLs may allow what mode bits do not show, so the refusal is decided by trying. */
async function assertReachable(dataDir: string, identity: Identity): Promise<void> {
  const barrier = await findBarrier(dataDir, identity);
  if (barrier === null) return;
  const tried = await runCommand('/bin/sh', ['-c', 'cd "$1"', 'sh', dataDir], identity);
  if (tried.ok) return;
  throw new Error(
    `TOLLGATE_DATA (${dataDir}) cannot be reached by the database user, who may not enter ` +
      `${barrier}: choose another folder or allow it with 'chmod o+x ${barrier}'`,
  );
}

/** Finds the place without making a database in it. Throws with one clear line. */
export async function locateCluster(dataDir: string, identity: Identity): Promise<ClusterPlace> {
  await assertReachable(dataDir, identity);
  const folder = join(dataDir, 'pg');
  const socketDir = await chooseSocketDir(folder, identity);
  return { folder, socketDir, socketPath: join(socketDir, SOCKET_NAME), identity };
}

/** Makes the database folder if there is none yet. Throws with one clear line. */
export async function createCluster(place: ClusterPlace, binaries: Binaries): Promise<void> {
  const { folder } = place;
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version !== null) {
    const [major = ''] = binaries.version.split('.');
    if (version.trim() === major) return;
    throw new Error(`${folder} was made by PostgreSQL ${version.trim()}, this is ${major}`);
  }
  const found = await readdir(folder).catch(() => null);
  if (found !== null && found.length > 0) {
    throw new Error(`${folder} holds files but no database: move it away`);
  }
  await rm(folder, { recursive: true, force: true });
  await initialise(place, binaries);
}

/** Address for clients; drivers read the socket folder from the `host` parameter. */
export function databaseUrl(cluster: ClusterPlace): string {
  const host = encodeURIComponent(cluster.socketDir);
  return `postgres://${databaseUser}@localhost:5432/${databaseName}?host=${host}`;
}
