// The text of a repository as the checks see it: a check reads this and nothing else, so a sample
// of three lines is a tree like the real one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const FOLDERS = ['runtime', 'actors', 'routes', 'media', 'db', 'bench', 'test'];
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'data', '.git']);
/** Broken code on purpose: the samples themselves are no part of the tree. */
const SAMPLES = 'test/tidy/samples/';
const IS_TEXT = /\.(ts|sql|mjs|js|md|json|css|html)$|^\.npmrc$/;

export interface TextFile {
  /** From the root, with slashes. */
  path: string;
  text: string;
  lines: string[];
}

export interface Source extends TextFile {
  /** Without comments; strings are kept. */
  code: string;
}

export interface Tree {
  /** Every file of the seven folders and of the root. */
  paths: string[];
  /** Files of the seven folders and of the root that hold text. */
  texts: TextFile[];
  /** The TypeScript of the seven folders. */
  sources: Source[];
  /** Every Markdown file. */
  documents: TextFile[];
}

/** Takes comments away and keeps the line numbers. Strings that hold `//` after a colon survive. */
function stripComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1');
}

/** A tree of these texts; `paths` may name further files, whose text no check reads. */
export function makeTree(texts: ReadonlyMap<string, string>, paths = [...texts.keys()]): Tree {
  const files = [...texts].map(([path, text]) => ({
    path,
    text,
    lines: text.replace(/\n$/, '').split('\n'),
  }));
  return {
    paths,
    texts: files,
    sources: files
      .filter(({ path }) => path.endsWith('.ts'))
      .map((file) => ({ ...file, code: stripComments(file.text) })),
    documents: files.filter(({ path }) => path.endsWith('.md')),
  };
}

function walk(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return SKIPPED_FOLDERS.has(entry.name) ? [] : walk(root, path);
  });
}

/** The tree on the disk. */
export function readTree(root: string): Tree {
  const present = readdirSync(root, { withFileTypes: true });
  const loose = present.filter((entry) => entry.isFile()).map((entry) => entry.name);
  const folders = present
    .filter((entry) => entry.isDirectory() && FOLDERS.includes(entry.name))
    .flatMap((entry) => walk(root, entry.name));
  const paths = [...loose, ...folders];
  const texts = paths
    .filter((path) => IS_TEXT.test(path) && !path.startsWith(SAMPLES))
    .map((path): [string, string] => [path, readFileSync(join(root, path), 'utf8')]);
  return makeTree(new Map(texts), paths);
}

export function isProduct({ path }: { path: string }): boolean {
  return /^(runtime|actors|routes|media|db)\//.test(path);
}
