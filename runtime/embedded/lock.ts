// One server per data folder: a lock file that names its holder by process id and start time.
// Node has no flock; a file left by a killed process is recognised and taken over.
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from './identity.ts';

export interface FolderLock {
  release(): Promise<void>;
}

/** A holder that was just killed takes a moment to be gone. */
const PATIENCE_MS = 500;
const PAUSE_MS = 20;
const GIVE_UP_MS = 5_000;

/** When a process started, as an opaque text; null when there is no such process. */
async function startOf(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    // proc_pid_stat(5): the name in parentheses may hold spaces; then come fields 3 (state) and on.
    const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ') ?? [];
    // A killed process stays listed until its parent, which may not care, has taken note.
    const isDead = fields[0] === 'Z' || fields[0] === 'X';
    return isDead ? null : (fields[19] ?? null);
  }
  const listed = await runCommand('ps', ['-o', 'lstart=', '-p', String(pid)]);
  return listed.ok && listed.output !== '' ? listed.output : null;
}

async function readHolder(path: string): Promise<{ text: string; alive: boolean; pid: number }> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const [pidText = '', started = ''] = text.trim().split('\n');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0) return { text, alive: false, pid: 0 };
  return { text, alive: (await startOf(pid)) === started, pid };
}

/** The process id that holds the lock, or null when nobody alive does. */
export async function findLockHolder(path: string): Promise<number | null> {
  const holder = await readHolder(path);
  return holder.alive ? holder.pid : null;
}

/** Exactly one of several processes creates the file. */
function createFile(path: string, content: string): Promise<boolean> {
  return writeFile(path, content, { flag: 'wx', mode: 0o600 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

/** Moves the file away; puts it back when it was another than the one judged stale. */
async function removeStale(path: string, text: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  const moved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  const same = (await readFile(aside, 'utf8').catch(() => '')) === text;
  if (same) await rm(aside, { force: true });
  else await rename(aside, path);
}

/** Takes the lock for this process. Null when a living process holds it, and goes on to. */
export async function takeLock(path: string): Promise<FolderLock | null> {
  const content = `${process.pid}\n${await startOf(process.pid)}\n`;
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline + GIVE_UP_MS) {
    const taken = await createFile(path, content);
    if (taken) return { release: () => rm(path, { force: true }) };
    const holder = await readHolder(path);
    if (!holder.alive && holder.text !== '') await removeStale(path, holder.text);
    // Alive: perhaps being killed at this moment. Empty: its maker is about to write it.
    else if (performance.now() < deadline) await sleep(PAUSE_MS);
    else if (holder.alive) return null;
    else await removeStale(path, holder.text);
  }
  return null;
}
