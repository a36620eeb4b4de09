// How files and migrations are called, what is exported how, and what is never left behind.
import { basename, dirname } from 'node:path';
import { type Check, findInCode, findInText } from './check.ts';

const BANNED = new Set(['index', 'utils', 'util', 'helpers', 'common', 'shared', 'misc', 'types']);

export const fileNames: Check = {
  id: 'file-names',
  rule: 'files and folders are named for what they are, in lower case with hyphens',
  advice: 'these names say nothing, or not in lower case with hyphens',
  find({ paths, sources }) {
    const empty = paths.filter(
      (path) =>
        path.includes('/') &&
        path.split('/').some((part) => BANNED.has(basename(part).split('.')[0] ?? '')),
    );
    const odd = sources
      .filter(({ path }) => !/^[a-z0-9]+([-.][a-z0-9]+)*\.ts$/.test(basename(path)))
      .map(({ path }) => path);
    return [...empty, ...odd];
  },
};

export const untyped: Check = {
  id: 'untyped',
  rule: 'nothing is typed as any',
  advice: 'give these a type',
  find: ({ sources }) => findInCode(sources, /(:|\bas|[<|&,(]) ?any\b(?!['\w]| \w)/),
};

export const defaultExports: Check = {
  id: 'default-exports',
  rule: 'nothing is exported as default, except a task',
  advice: 'export a name',
  find: ({ sources }) =>
    findInCode(
      sources.filter(({ path }) => !/^media\/tasks\/|-task\.ts$/.test(path)),
      /^export default\b/,
    ),
};

export const barrels: Check = {
  id: 'barrels',
  rule: 'no file only passes on what others export',
  advice: 'import from where it is',
  find: ({ sources }) => [
    ...findInCode(sources, /^export (type )?\* /),
    ...sources
      .filter(({ code }) => /^export (type )?\{[^}]*\} from/m.test(code))
      .filter(({ code }) => code.replace(/^(import|export (type )?\{)[^;]*;/gm, '').trim() === '')
      .map(({ path }) => path),
  ],
};

/** They say the patterns, so they match them. */
const OWN = 'test/tidy/names.ts';

export const postponed: Check = {
  id: 'postponed',
  rule: 'nothing is put off',
  advice: 'do it, or open an issue',
  find: ({ texts }) =>
    findInText(
      texts.filter(({ path }) => path !== OWN && basename(path) !== 'package-lock.json'),
      /\b(TODO|FIXME|XXX|HACK)\b|\b[Ff]or now\b|\bplaceholder\b|not implemented/,
    ),
};

export const machinePaths: Check = {
  id: 'machine-paths',
  rule: 'no path of a machine is left behind',
  advice: 'no path of one machine',
  find: ({ texts }) =>
    findInText(
      texts.filter(({ path }) => path !== OWN && basename(path) !== 'package-lock.json'),
      /(?<![\w.])\/(work|tmp|home|Users|root)\/\w/,
    ),
};

export const migrations: Check = {
  id: 'migrations',
  rule: 'migrations are named NNNN-<noun>-<what>.sql, from 0001 without a gap',
  advice: 'give these the next number and words in lower case with hyphens',
  find({ paths }) {
    const files = paths.filter((path) => basename(dirname(path)) === 'migrations').sort();
    return files.flatMap((path, index) => {
      const expected = String(index + 1).padStart(4, '0');
      if (!/^\d{4}(-[a-z0-9]+)+\.sql$/.test(basename(path))) return [`${path} is no such name`];
      return basename(path).startsWith(expected) ? [] : [`${path} should be ${expected}`];
    });
  },
};
