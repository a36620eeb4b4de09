// Style is a test: the bounds of CONTRIBUTING.md, checked on the sources of every folder.
// It reads text, not syntax trees: the formatter has made the text regular enough for that.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['runtime', 'actors', 'routes', 'media', 'db', 'bench', 'test'];
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'data', '.git']);

const LINE_CHARACTERS_MAX = 100;
const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 500;
const FILE_LINES_P95_MAX = 300;
const ROUTE_LINES_MAX = 120;
const HEADER_LINES_MAX = 3;

interface Source {
  /** From the root, with slashes. */
  path: string;
  text: string;
  lines: string[];
  /** Without comments; strings are kept. */
  code: string;
}

/** Takes comments away and keeps the line numbers. Strings that hold `//` after a colon survive. */
function stripComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1');
}

function walk(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return SKIPPED_FOLDERS.has(entry.name) ? [] : walk(path);
  });
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, lines: text.replace(/\n$/, '').split('\n'), code: stripComments(text) };
}

const present = new Set(readdirSync(root));
const paths = FOLDERS.filter((folder) => present.has(folder)).flatMap(walk);
const sources = paths.filter((path) => path.endsWith('.ts')).map(read);
const product = sources.filter(({ path }) => !/^(test|bench)\//.test(path));

/** Fails with every finding on a line of its own. */
function assertNone(rule: string, findings: string[]): void {
  assert.ok(findings.length === 0, `${rule}\n  ${findings.join('\n  ')}`);
}

/** `path:line` of every line that matches, with what matched. */
function findLines(files: Source[], pattern: RegExp, kind: 'code' | 'text' = 'code'): string[] {
  return files.flatMap((file) =>
    file[kind].split('\n').flatMap((line, index) => {
      const found = pattern.exec(line);
      return found === null ? [] : [`${file.path}:${index + 1} ${found[0].trim()}`];
    }),
  );
}

/** The path of an import cannot be broken: folders set its length. */
function withoutSpecifier(line: string): string {
  return line.replace(/from '\.[^']*';$/, "from '';");
}

test('no line is longer than 100 characters', () => {
  const files = paths.filter((path) => /\.(ts|sql|mjs|js)$/.test(path)).map(read);
  const findings = files.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      [...withoutSpecifier(line)].length > LINE_CHARACTERS_MAX
        ? [`${path}:${index + 1} (${line.length})`]
        : [],
    ),
  );
  assertNone('break these lines', findings);
});

test('no file is longer than 500 lines, 95 of 100 are at most 300', () => {
  const counted = sources.map(({ path, lines }) => ({ path, count: lines.length }));
  const long = counted.filter(({ count }) => count > FILE_LINES_MAX);
  assertNone(
    'split these files',
    long.map(({ path, count }) => `${path} (${count})`),
  );
  const sorted = counted.sort((left, right) => left.count - right.count);
  const p95 = sorted[Math.floor((sorted.length - 1) * 0.95)];
  const above = sorted.filter(({ count }) => count > FILE_LINES_P95_MAX);
  assert.ok(
    p95 !== undefined && p95.count <= FILE_LINES_P95_MAX,
    `too many files over 300 lines: ${above.map(({ path, count }) => `${path} (${count})`)}`,
  );
});

test('no route file is longer than 120 lines', () => {
  const findings = sources
    .filter(({ path }) => /^routes\/.+\//.test(path))
    // Modules of a page in the browser are no routes.
    .filter(({ path }) => !/\/browser\//.test(path))
    .filter(({ lines }) => lines.length > ROUTE_LINES_MAX)
    .map(({ path, lines }) => `${path} (${lines.length})`);
  assertNone('one operation per route file', findings);
});

const CONTROL = /^\s*(\} )?(if|for|while|switch|catch|else|try|do|finally|with)\b/;
const OPENS_FUNCTION = /(=>|\)(: .+)?) \{$/;
const TEST_CALL = /^\s*(test|describe|it|suite|before|after|beforeEach|afterEach)(\.\w+)*\(/;

/** Length of each function body with its head, by the indentation that the formatter gives. */
function functionLengths(lines: string[]): { line: number; length: number; head: string }[] {
  const found: { line: number; length: number; head: string }[] = [];
  lines.forEach((text, opening) => {
    if (!OPENS_FUNCTION.test(text) || CONTROL.test(text)) return;
    const indent = /^\s*/.exec(text)?.[0] ?? '';
    const isEdge = (line: string) =>
      line.startsWith(indent) && !/^[\s)]/.test(line.slice(indent.length));
    let first = opening;
    // A head over several lines ends with `) {` on the indentation of its first line.
    if (text.slice(indent.length).startsWith(')')) {
      while (first > 0 && (first === opening || !isEdge(lines[first] ?? ''))) first -= 1;
    }
    const head = lines[first] ?? '';
    if (CONTROL.test(head)) return;
    let last = opening + 1;
    while (last < lines.length && !(lines[last] ?? '').startsWith(`${indent}}`)) last += 1;
    found.push({ line: first + 1, length: last - first + 1, head });
  });
  return found;
}

test('no function is longer than 70 lines; callbacks of tests are not counted', () => {
  const findings = sources.flatMap(({ path, lines }) =>
    functionLengths(lines)
      .filter(({ length }) => length > FUNCTION_LINES_MAX)
      .filter(({ head }) => !(path.startsWith('test/') && TEST_CALL.test(head)))
      .map(({ line, length, head }) => `${path}:${line} (${length}) ${head.trim()}`),
  );
  assertNone('split these functions', findings);
});

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
/** Composition: entries and what only they use; they put everything together. */
const COMPOSITION = /^runtime\/((main|shard|development)\.ts$|(commands|composition)\/)/;

function importsOf({ path, code }: Source): string[] {
  const specifiers = code.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*['"](\.[^'"]+)['"]/g);
  return [...specifiers].map(([, name = '']) => normalize(join(dirname(path), name)));
}

test('imports go one way: runtime <- db, media <- actors <- routes <- main, shard', () => {
  const findings = sources.flatMap((source) => {
    const own = source.path.split('/')[0] ?? '';
    const composes = COMPOSITION.test(source.path);
    const allowed = new Set([own, ...(composes ? (ALLOWED.bench ?? []) : (ALLOWED[own] ?? []))]);
    return importsOf(source)
      .filter((target) => !allowed.has(target.split('/')[0] ?? ''))
      .map((target) => `${source.path} imports ${target}`);
  });
  const composed = sources
    .filter(({ path }) => !/^(test|bench)\//.test(path))
    .flatMap((source) =>
      importsOf(source)
        .filter((target) => COMPOSITION.test(target) && !COMPOSITION.test(source.path))
        .map((target) => `${source.path} imports ${target}, which is an entry`),
    );
  assertNone('turn these imports around', [...findings, ...composed]);
});

test('the simulator shares no code with the product, so that it cannot share its mistakes', () => {
  const findings = sources
    .filter(({ path }) => path.startsWith('bench/sim/'))
    .flatMap((source) =>
      importsOf(source)
        .filter((target) => !target.startsWith('bench/sim/'))
        .map((target) => `${source.path} imports ${target}`),
    );
  assertNone('the simulator stands alone', findings);
});

test('the environment is read in runtime/config.ts only', () => {
  const files = product.filter(({ path }) => path !== 'runtime/config.ts');
  assertNone('take it from the configuration', findLines(files, /\bprocess\.env\b/));
});

test('SQL and database drivers are in db only', () => {
  const files = product.filter(({ path }) => !path.startsWith('db/'));
  const verbs = [
    String.raw`select\s+[\w*"].*\sfrom\s+\w`,
    String.raw`insert\s+into\s+\w`,
    String.raw`update\s+\w+\s+set\s`,
    String.raw`delete\s+from\s+\w`,
  ];
  const statement = new RegExp(`['"\`(\\s](${verbs.join('|')})`, 'i');
  assertNone('move these statements to db', [
    ...findLines(files, statement),
    ...findLines(files, /from ['"](postgres|pg)['"]/),
  ]);
});

test('vendor names are in media/providers, the simulator and the configuration only', () => {
  const files = product.filter(
    ({ path }) => !/^media\/providers\/|^runtime\/config\.ts$/.test(path),
  );
  const vendor = /openai|anthropic|gemini|mistral|deepgram|elevenlabs|openrouter/i;
  assertNone('the core knows no vendor', findLines(files, vendor));
});

test('no any, no default export, no barrel', () => {
  const files = sources.filter(({ path }) => !/^media\/tasks\/|-task\.ts$/.test(path));
  assertNone('give these a type', findLines(sources, /(:|\bas|[<|&,(]) ?any\b(?!['\w ])/));
  assertNone('export a name', findLines(files, /^export default\b/));
  assertNone('import from where it is', findLines(sources, /^export (type )?\* /));
  const barrels = sources
    .filter(({ code }) => /^export (type )?\{[^}]*\} from/m.test(code))
    .filter(({ code }) => code.replace(/^(im|ex)port [^;]*;/gm, '').trim() === '')
    .map(({ path }) => path);
  assertNone('a file that only passes on is a barrel', barrels);
});

test('files and folders are named for what they are', () => {
  const banned = new Set([
    'index',
    'utils',
    'util',
    'helpers',
    'common',
    'shared',
    'misc',
    'types',
  ]);
  const findings = paths.filter((path) =>
    path.split('/').some((part) => banned.has(basename(part).split('.')[0] ?? '')),
  );
  assertNone('these names say nothing', findings);
  const odd = sources.filter(({ path }) => !/^[a-z0-9]+([-.][a-z0-9]+)*\.ts$/.test(basename(path)));
  assertNone(
    'lower case with hyphens',
    odd.map(({ path }) => path),
  );
});

test('every file opens with one to three lines that say what it is', () => {
  const findings = sources.flatMap(({ path, lines }) => {
    const end = lines.findIndex((line) => !line.startsWith('//'));
    if (end === 0) return [`${path} has none`];
    return end > HEADER_LINES_MAX ? [`${path} has ${end}`] : [];
  });
  const migrations = paths
    .filter((path) => path.endsWith('.sql'))
    .filter((path) => !read(path).text.startsWith('--'));
  assertNone('say it in one to three comment lines', [...findings, ...migrations]);
});

test('nothing is put off, and no path of a machine is left behind', () => {
  const own = 'test/tidy.test.ts';
  const rootFiles = [...present].filter((name) => /\.(md|json)$|^\.npmrc$/.test(name));
  const documents = rootFiles.filter((name) => name !== 'package-lock.json').map(read);
  const files = [...sources, ...documents].filter(({ path }) => path !== own);
  const postponed = /\b(TODO|FIXME|XXX|HACK)\b|\b[Ff]or now\b|\bplaceholder\b|not implemented/;
  assertNone('do it, or open an issue', findLines(files, postponed, 'text'));
  const machine = /(?<![\w.])\/(work|tmp|home|Users|root)\/\w/;
  assertNone('no path of one machine', findLines(files, machine, 'text'));
});

interface LockedPackage {
  optionalDependencies?: Record<string, string>;
}

test('the lock file names every optional package, also those of other platforms', () => {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
    read('package-lock.json').text,
  );
  const locked = new Set(
    Object.keys(lock.packages).map((path) => path.split('node_modules/').at(-1)),
  );
  // A registry mirror with holes makes npm leave them out, and then `npm ci` refuses the file.
  const missing = Object.values(lock.packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies).filter((name) => !locked.has(name)),
  );
  assertNone('add them with version, os and cpu', missing);
});
