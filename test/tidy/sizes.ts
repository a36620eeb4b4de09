// Bounds of CONTRIBUTING.md that are lengths: of lines, functions, files and folders.
import type { Check } from './check.ts';
import { isProduct, type Source } from './tree.ts';

const LINE_CHARACTERS_MAX = 100;
const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 500;
const FILE_LINES_P95_MAX = 300;
const ROUTE_LINES_MAX = 120;
const FOLDER_FILES_MAX = 32;
const HEADER_LINES_MAX = 3;

/** The path of an import cannot be broken: folders set its length. */
function withoutSpecifier(line: string): string {
  return line.replace(/from '\.[^']*';$/, "from '';");
}

export const lineLength: Check = {
  id: 'line-length',
  rule: `no line is longer than ${LINE_CHARACTERS_MAX} characters`,
  advice: 'break these lines',
  find: ({ texts }) =>
    texts
      .filter(({ path }) => /\/.*\.(ts|sql|mjs|js)$/.test(path))
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, index) =>
          [...withoutSpecifier(line)].length > LINE_CHARACTERS_MAX
            ? [`${path}:${index + 1} (${line.length})`]
            : [],
        ),
      ),
};

const sized = ({ path, lines }: Source) => `${path} (${lines.length})`;

export const fileLength: Check = {
  id: 'file-length',
  rule: `no file is longer than ${FILE_LINES_MAX} lines`,
  advice: 'split these files',
  find: ({ sources }) => sources.filter(({ lines }) => lines.length > FILE_LINES_MAX).map(sized),
};

export const fileLengths: Check = {
  id: 'file-lengths',
  rule: `95 of 100 files have at most ${FILE_LINES_P95_MAX} lines`,
  advice: 'split some of these files',
  find({ sources }) {
    const sorted = sources.toSorted((left, right) => left.lines.length - right.lines.length);
    const p95 = sorted[Math.floor((sorted.length - 1) * 0.95)];
    if (p95 === undefined || p95.lines.length <= FILE_LINES_P95_MAX) return [];
    return sorted.filter(({ lines }) => lines.length > FILE_LINES_P95_MAX).map(sized);
  },
};

export const routeLength: Check = {
  id: 'route-length',
  rule: `no route file is longer than ${ROUTE_LINES_MAX} lines`,
  advice: 'one operation per route file',
  find: ({ sources }) =>
    sources
      .filter(({ path }) => /^routes\/.+\//.test(path))
      // Modules of a page in the browser are no routes.
      .filter(({ path }) => !/\/browser\//.test(path))
      .filter(({ lines }) => lines.length > ROUTE_LINES_MAX)
      .map(sized),
};

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

export const functionLength: Check = {
  id: 'function-length',
  rule: `no function has over ${FUNCTION_LINES_MAX} lines; callbacks of tests are not counted`,
  advice: 'split these functions',
  find: ({ sources }) =>
    sources.flatMap(({ path, lines }) =>
      functionLengths(lines)
        .filter(({ length }) => length > FUNCTION_LINES_MAX)
        .filter(({ head }) => !(path.startsWith('test/') && TEST_CALL.test(head)))
        .map(({ line, length, head }) => `${path}:${line} (${length}) ${head.trim()}`),
    ),
};

export const header: Check = {
  id: 'header',
  rule: 'every file opens with one to three lines that say what it is',
  advice: 'say it in one to three comment lines',
  find({ sources, texts }) {
    const findings = sources.flatMap(({ path, lines }) => {
      const end = lines.findIndex((line) => !line.startsWith('//'));
      if (end === 0) return [`${path} has none`];
      return end > HEADER_LINES_MAX ? [`${path} has ${end}`] : [];
    });
    const statements = texts.filter(({ path, text }) => /\.sql$/.test(path) && !/^--/.test(text));
    return [...findings, ...statements.map(({ path }) => `${path} has none`)];
  },
};

export const folderSize: Check = {
  id: 'folder-size',
  rule: `no folder of the product holds more than ${FOLDER_FILES_MAX} files`,
  advice: 'give what belongs together a folder',
  find({ paths }) {
    const counts = new Map<string, number>();
    for (const path of paths.filter((each) => isProduct({ path: each }))) {
      const folder = path.slice(0, path.lastIndexOf('/'));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    return [...counts]
      .filter(([, count]) => count > FOLDER_FILES_MAX)
      .map(([folder, count]) => `${folder} (${count})`);
  },
};
