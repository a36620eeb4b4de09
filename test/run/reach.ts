// What a test file reaches: its own text and that of all sources it imports, directly or not. The
// runner decides from it which files share a process, so that no list of files has to be kept.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface Module {
  /** From the root, with slashes. */
  path: string;
  /** Without comments. */
  code: string;
  /** As they are written. */
  specifiers: string[];
}

/** Gives a source by its path from the root, null where there is none. */
export type ReadModule = (path: string) => Module | null;

const SPECIFIER = /(?:\bfrom|\bimport|\bimport\()\s*['"]([^'"]+)['"]/g;

/** Takes comments away. Strings that hold `//` after a colon survive. */
function stripComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1');
}

export function parseModule(path: string, text: string): Module {
  const code = stripComments(text);
  const specifiers = [...code.matchAll(SPECIFIER)].map(([, specifier = '']) => specifier);
  return { path, code, specifiers };
}

/** Reads each source once, however many files reach it. */
export function moduleReader(root: string): ReadModule {
  const known = new Map<string, Module | null>();
  return (path) => {
    let module = known.get(path);
    if (module === undefined) {
      const file = join(root, path);
      const isSource = path.endsWith('.ts') && existsSync(file);
      module = isSource ? parseModule(path, readFileSync(file, 'utf8')) : null;
      known.set(path, module);
    }
    return module;
  };
}

/** The file comes first. */
export function reachOf(path: string, read: ReadModule): Module[] {
  const waiting = [path];
  const seen = new Set(waiting);
  const reached: Module[] = [];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const module = read(next);
    if (module === null) continue;
    reached.push(module);
    for (const specifier of module.specifiers) {
      if (!specifier.startsWith('.')) continue;
      const target = normalize(join(dirname(next), specifier));
      if (seen.has(target)) continue;
      seen.add(target);
      waiting.push(target);
    }
  }
  return reached;
}
