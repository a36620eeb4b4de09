// The data folder (`TOLLGATE_DATA`): made if missing, closed to everybody else.
// Its mode is only changed when it is new or ours, so that a mistyped path harms nothing.
import { chmod, mkdir, readdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** One of these names, also with an ending while it is being made, says that we made the folder. */
const OUR_NAME = /^(lock|secret|pg|dev\.json)(\.|$)/;
/** Folders of media, which are there alone where database and secret are given. */
const MEDIA_NAMES = ['audio', 'blobs', 'video'];
const HARMLESS_NAMES = ['lost+found', '.gitkeep', '.DS_Store'];

/** Where database and secret are given, nothing but our media lie there. */
async function isOurs(path: string, names: readonly string[]): Promise<boolean> {
  if (names.some((name) => OUR_NAME.test(name))) return true;
  if (!names.every((name) => MEDIA_NAMES.includes(name))) return false;
  const kinds: string[] = await readdir(join(path, 'audio')).catch(() => []);
  return kinds.some((kind) => kind === 'scratch' || kind === 'kept');
}

/**
 * Makes the folder and sets its mode: 0700, or 0711 as root, because the database user must then
 * pass through it to reach `pg`. Returns its real path. Throws with one clear line.
 */
export async function prepareDataFolder(dataDir: string): Promise<string> {
  let path: string;
  let names: string[];
  try {
    // Parents keep the usual mode: as root, the database user has to pass through them.
    await mkdir(dirname(resolve(dataDir)), { recursive: true });
    await mkdir(dataDir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    path = await realpath(dataDir);
    names = await readdir(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`TOLLGATE_DATA (${dataDir}) cannot be used: ${reason}`);
  }
  const foreign = names.filter((name) => !HARMLESS_NAMES.includes(name));
  if (foreign.length > 0 && !(await isOurs(path, foreign))) {
    throw new Error(
      `TOLLGATE_DATA (${dataDir}) holds other files, such as ${join(path, foreign[0] ?? '')}: ` +
        'name an empty or a new folder',
    );
  }
  try {
    await chmod(path, process.getuid?.() === 0 ? 0o711 : 0o700);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const fault = code === 'EPERM' ? 'belongs to another user' : `cannot be used: ${message}`;
    throw new Error(`TOLLGATE_DATA (${dataDir}) ${fault}`);
  }
  return path;
}
