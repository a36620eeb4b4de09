// As which system user the database runs, and whether that user can reach a path.
// PostgreSQL refuses to run as root: then it runs as `postgres`, which is created when missing.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Null means: as the user that runs this process. */
export type Identity = { uid: number; gid: number } | null;

const USER_NAME = 'postgres';
const COMMAND_TIMEOUT_MS = 10_000;
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Environment of every child here: nothing of ours leaks in, no `PG*` variable can interfere. */
export const childEnvironment = { PATH: SEARCH_PATH, LC_ALL: 'C', TZ: 'UTC' };

export interface CommandResult {
  ok: boolean;
  output: string;
}

/** Runs a program to its end as the given user. Never rejects. */
export function runCommand(
  file: string,
  args: string[],
  identity: Identity = null,
  timeoutMs: number = COMMAND_TIMEOUT_MS,
): Promise<CommandResult> {
  const options = { env: childEnvironment, cwd: '/', timeout: timeoutMs, ...identity };
  return new Promise((resolve) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim();
      resolve({ ok: error === null, output: output === '' ? String(error ?? '') : output });
    });
  });
}

async function lookUpUser(name: string): Promise<Identity> {
  const uid = await runCommand('id', ['-u', name]);
  const gid = await runCommand('id', ['-g', name]);
  if (!uid.ok || !gid.ok) return null;
  return { uid: Number(uid.output), gid: Number(gid.output) };
}

async function createUser(name: string): Promise<void> {
  const shadow = await runCommand('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir=/nonexistent',
    '--shell=/usr/sbin/nologin',
    name,
  ]);
  // BusyBox has no useradd; its adduser takes short options only.
  if (!shadow.ok) await runCommand('adduser', ['-S', '-D', '-H', '-s', '/sbin/nologin', name]);
}

/**
 * The user that owns `clusterDir`, if it exists; else `postgres`. Only root has to choose.
 * Throws with one clear line when root has no user to give the database to.
 */
export async function chooseIdentity(clusterDir: string): Promise<Identity> {
  if (process.getuid?.() !== 0) return null;
  const existing = await stat(clusterDir).catch(() => null);
  if (existing !== null && existing.uid !== 0) return { uid: existing.uid, gid: existing.gid };
  const known = await lookUpUser(USER_NAME);
  if (known !== null) return known;
  await createUser(USER_NAME);
  const created = await lookUpUser(USER_NAME);
  if (created !== null) return created;
  throw new Error(
    `the embedded database cannot run as root, and the system user '${USER_NAME}' is missing ` +
      'and could not be created: create it, or start tollgate as an ordinary user',
  );
}

/**
 * The first folder on the way to `path` (itself included) that the identity may not enter, by
 * owner and mode bits; null when there is none or when the identity is our own.
 */
export async function findBarrier(path: string, identity: Identity): Promise<string | null> {
  if (identity === null) return null;
  const folders = [path];
  for (let parent = dirname(path); parent !== folders[0]; parent = dirname(parent)) {
    folders.unshift(parent);
  }
  for (const folder of folders) {
    const { mode, uid, gid } = await stat(folder);
    const enter = uid === identity.uid ? 0o100 : gid === identity.gid ? 0o010 : 0o001;
    if ((mode & enter) === 0) return folder;
  }
  return null;
}
