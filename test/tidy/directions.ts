// Which way imports go between the seven folders, and who may import whoever starts a process.
import type { Check } from './check.ts';
import { importsOf } from './imports.ts';
import type { Source } from './tree.ts';

/** Which folders the files of a folder may import from, besides their own. */
const ALLOWED: Record<string, string[]> = {
  runtime: [],
  db: ['runtime'],
  media: ['runtime'],
  actors: ['runtime', 'db', 'media'],
  routes: ['runtime', 'db', 'media', 'actors'],
  bench: ['runtime', 'db', 'media', 'actors', 'routes'],
  test: ['runtime', 'db', 'media', 'actors', 'routes', 'bench'],
};

/** Composition: the entries that put everything together. */
export function isComposition(path: string): boolean {
  return /^runtime\/((main|shard|start|development)|(commands|composition)\/[^/]+)\.ts$/.test(path);
}

const topOf = (path: string) => path.split('/')[0] ?? '';

function allowedFor(path: string): Set<string> {
  const own = topOf(path);
  const others = isComposition(path) ? ALLOWED.bench : ALLOWED[own];
  return new Set([own, ...(others ?? [])]);
}

function findImports(sources: Source[], isRefused: (from: string, to: string) => boolean) {
  return sources
    .flatMap(importsOf)
    .filter(({ from, to }) => isRefused(from, to))
    .map(({ from, line, to }) => `${from}:${line} imports ${to}`);
}

export const direction: Check = {
  id: 'direction',
  rule: 'imports go one way: runtime <- db, media <- actors <- routes <- the entries of runtime',
  advice: 'turn these imports around',
  find: ({ sources }) => findImports(sources, (from, to) => !allowedFor(from).has(topOf(to))),
};

export const entries: Check = {
  id: 'entries',
  rule: 'an entry is imported by entries only',
  advice: 'move what is shared out of the entry',
  find: ({ sources }) =>
    findImports(
      // A test may call what an entry exports.
      sources.filter(({ path }) => !path.startsWith('test/')),
      (from, to) => isComposition(to) && !isComposition(from),
    ),
};

export const simulator: Check = {
  id: 'simulator',
  rule: 'the simulator shares no code with the product, so that it cannot share its mistakes',
  advice: 'the simulator stands alone',
  find: ({ sources }) =>
    findImports(
      sources.filter(({ path }) => path.startsWith('bench/sim/')),
      (_from, to) => !to.startsWith('bench/sim/'),
    ),
};
