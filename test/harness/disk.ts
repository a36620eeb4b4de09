// Disks of a test's own, which can be filled and made read-only without harm to others.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Mounts a disk over a folder; false: the test is skipped, since none can be mounted. */
export async function mountOn(
  t: TestContext,
  folder: string,
  options = 'size=1m',
): Promise<boolean> {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `${options},mode=0700`, 'tmpfs', folder]);
  } catch (error) {
    t.skip(`no disk can be mounted: ${String(error).split('\n').at(0)}`);
    return false;
  }
  return true;
}

export async function makeReadOnly(folder: string): Promise<void> {
  await run('mount', ['-o', 'remount,ro', folder]);
}

export async function unmount(folder: string): Promise<void> {
  await run('umount', ['-l', folder]);
}

/** A disk of 1 MiB for as long as the test lasts; null where none can be mounted. */
export async function mountDisk(t: TestContext): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-disk-'));
  let isMounted = false;
  t.after(async () => {
    if (isMounted) await unmount(folder);
    await rm(folder, { recursive: true, force: true });
  });
  isMounted = await mountOn(t, folder);
  return isMounted ? folder : null;
}
