// Paths that documents and comments name, and whether they lead anywhere.
import { basename, dirname, join, normalize } from 'node:path';
import { type Check, foldersOf } from './check.ts';
import { commentsOf } from './comments.ts';
import { writtenDocuments } from './markdown.ts';
import { FOLDERS, type TextFile, type Tree } from './tree.ts';

/** A folder of ours, a slash, and what may follow: names, patterns, lists in braces. */
const PATH = new RegExp(
  String.raw`(?<![\w./@:~-])(?:${FOLDERS.join('|')})\/(?:[\w.*…<>$/-]|\{[^{}]*\})*`,
  'g',
);
/** A document that is named without its folder. */
const DOCUMENT = /(?<![\w./@-])[\w-]+\.md\b/g;
/** The contract: its owner keeps it beside the repository. */
const CONTRACT = new Set(['customer.md', 'decisions.md', 'identity.md', 'organizations.md']);
const LINK = /\]\(([^)\s]+)\)/g;
/** What stands for a name that the text leaves open. */
const OPEN = /…|\.\.\.|<[^>]*>|\$|<|>/;

/** `a/{b,c}.ts` is `a/b.ts` and `a/c.ts`. */
export function expandBraces(path: string): string[] {
  const list = /\{([^{}]*)\}/.exec(path);
  if (list === null) return [path];
  const { 0: braces, 1: names = '', index } = list;
  return names
    .split(',')
    .map((name) => path.slice(0, index) + name.trim() + path.slice(index + braces.length))
    .flatMap(expandBraces);
}

/** Paths that a text names, each alone and without what ends the sentence. */
export function pathsIn(text: string): string[] {
  return [...text.matchAll(PATH)]
    .map(([path]) => path.replace(/[.>-]+$/, (end) => (end.startsWith('...') ? end : '')))
    .flatMap(expandBraces);
}

interface Known {
  files: Set<string>;
  folders: Set<string>;
  /** Names of documents without their folders. */
  documents: Set<string>;
}

function knownIn({ paths, documents }: Tree): Known {
  return {
    files: new Set(paths),
    folders: foldersOf(paths),
    documents: new Set(documents.map(({ path }) => basename(path))),
  };
}

/**
 * A file, with or without `.ts`, or what the compiler makes of it, or a folder. A `*` must match
 * something. What npm installs is nowhere in the tree.
 */
function exists(path: string, { files, folders }: Known): boolean {
  if (path.includes('/node_modules')) return true;
  const open = OPEN.exec(path);
  if (open !== null) {
    const prefix = path.slice(0, open.index);
    return exists(prefix.slice(0, prefix.lastIndexOf('/')), { files, folders, documents: files });
  }
  const plain = path.replace(/\/+$/, '');
  if (!plain.includes('*')) {
    const source = plain.replace(/\.js$/, '');
    return files.has(plain) || files.has(`${source}.ts`) || folders.has(plain);
  }
  const escaped = plain.replace(/[.+?^$()|[\]\\]/g, String.raw`\$&`);
  const pattern = escaped.replace(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*'));
  const glob = new RegExp(`^${pattern}$`);
  return [...files, ...folders].some((each) => glob.test(each));
}

function missingIn(text: string, known: Known): string[] {
  const names = [...text.matchAll(DOCUMENT)].map(([name]) => name);
  return [
    ...pathsIn(text).filter((path) => !exists(path, known)),
    ...names.filter((name) => !known.documents.has(name) && !CONTRACT.has(name)),
  ];
}

/** Links of a document lead from its own folder; to the web they lead anywhere. */
function brokenLinks({ path }: TextFile, line: string, known: Known): string[] {
  return [...line.matchAll(LINK)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
    .filter((target) => {
      const from = normalize(join(dirname(path), target)).replace(/\/$/, '');
      return !known.files.has(from) && !known.folders.has(from);
    });
}

function missingInDocument(document: TextFile, known: Known): string[] {
  return document.lines.flatMap((line, index) =>
    [...missingIn(line.replace(LINK, ']'), known), ...brokenLinks(document, line, known)].map(
      (path) => `${document.path}:${index + 1} ${path}`,
    ),
  );
}

export const namedPaths: Check = {
  id: 'paths',
  rule: 'every path that a document or a comment names exists',
  advice: 'name what is there now',
  find(tree) {
    const known = knownIn(tree);
    const inComments = tree.sources.flatMap((source) =>
      commentsOf(source).flatMap(({ line, paragraphs }) =>
        missingIn(paragraphs.join('\n'), known).map((path) => `${source.path}:${line} ${path}`),
      ),
    );
    const documents = writtenDocuments(tree.documents);
    return [...documents.flatMap((each) => missingInDocument(each, known)), ...inComments];
  },
};
