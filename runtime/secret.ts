// The master key of encryption at rest: given by TOLLGATE_SECRET, or made once in the data folder.
// A key file that cannot be read stops the start: making a new key would orphan everything sealed.
import { randomBytes } from 'node:crypto';
import { chmod, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FORMAT = /^[A-Za-z0-9_-]{43}$/;

/** Returns 32 bytes as base64url. Throws with one clear line. */
export async function loadMasterKey(dataDir: string, configured: string | null): Promise<string> {
  if (configured !== null) return configured;
  const path = join(dataDir, 'secret');
  const existing = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new Error(`the secret in ${path} cannot be read: ${error.message}`);
  });
  if (existing === null) return createKey(path);
  if (!FORMAT.test(existing.trim())) {
    throw new Error(`${path} is damaged: restore it, or set TOLLGATE_SECRET`);
  }
  await chmod(path, 0o600);
  return existing.trim();
}

async function createKey(path: string): Promise<string> {
  const partial = `${path}.${process.pid}`;
  const made = randomBytes(32).toString('base64url');
  await writeFile(partial, `${made}\n`, { mode: 0o600, flush: true });
  // A link never replaces the key of another process that started at the same moment.
  await link(partial, path).catch(async (error: NodeJS.ErrnoException) => {
    // Some mounted file systems know no links; there the first of two starts may lose.
    if (error.code !== 'EEXIST') await rename(partial, path);
  });
  await rm(partial, { force: true });
  return (await readFile(path, 'utf8')).trim();
}
