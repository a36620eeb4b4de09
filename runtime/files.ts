// Where the files of the package lie that are read or run by their path. Code is run from `dist`
// or joined from `dist/bundle`, so nothing may go by the place of its own module.
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';

function findPackage(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder))) {
    const outer = new URL('..', folder);
    if (outer.href === folder.href) throw new Error('there is no package.json above the code');
    folder = outer;
  }
  return folder;
}

const packageFolder = findPackage();

/** A file that was written, by its path in the repository: `db/migrations/`. */
export function sourceFile(path: string): URL {
  return new URL(path, packageFolder);
}

/** A module that tsc has compiled, by its path in `dist`: `media/tasks/resample.js`. */
export function compiledFile(path: string): URL {
  return new URL(`dist/${path}`, packageFolder);
}

async function changedAt(file: URL): Promise<number> {
  return (await stat(file).catch(() => null))?.mtimeMs ?? 0;
}

/**
 * Of an entry of the bundle in `dist`: it is younger than all that it was made of. tsc writes
 * `.tsbuildinfo` whenever it writes anything else.
 */
export async function isFresh(entry: string, dist = compiledFile('')): Promise<boolean> {
  const inputs = [new URL('.tsbuildinfo', dist), sourceFile('package-lock.json')];
  const changes = await Promise.all(inputs.map(changedAt));
  return (await changedAt(new URL(`bundle/${entry}`, dist))) > Math.max(...changes);
}

/** The entry joined with all that it imports (`bundle.ts`), or as tsc left it if that is stale. */
export async function entryFile(entry: string, dist = compiledFile('')): Promise<URL> {
  return new URL((await isFresh(entry, dist)) ? `bundle/${entry}` : entry, dist);
}
