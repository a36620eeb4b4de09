// Reads samples: small trees as text, each with what a check must find in it.
// `@refused NAME` and `@accepted NAME` begin one, `@file PATH` a file, `@found` what is found.
import assert from 'node:assert/strict';
import { makeTree, type Tree } from './tree.ts';

export interface Sample {
  kind: 'refused' | 'accepted';
  name: string;
  tree: Tree;
  /** The findings as lines. */
  found: string;
}

interface Draft {
  kind: Sample['kind'];
  name: string;
  files: Map<string, string[]>;
  found: string[];
}

/** `a-{1..3}.ts` is three paths, of files with the same text. */
function expandRange(path: string): string[] {
  const range = /\{(\d+)\.\.(\d+)\}/.exec(path);
  if (range === null) return [path];
  const first = Number(range[1]);
  const length = Number(range[2]) - first + 1;
  return Array.from({ length }, (_, index) => path.replace(range[0], String(first + index)));
}

/** `@repeat 3 TEXT` is three lines. */
function expandRepeat(line: string): string[] {
  const repeat = /^@repeat (\d+) (.*)$/.exec(line);
  return repeat === null ? [line] : Array<string>(Number(repeat[1])).fill(repeat[2] ?? '');
}

function finish({ kind, name, files, found }: Draft): Sample {
  const texts = [...files].map(([path, lines]): [string, string] => [
    path,
    `${lines.join('\n')}\n`,
  ]);
  return { kind, name, tree: makeTree(new Map(texts)), found: found.join('\n') };
}

export function parseSamples(text: string): Sample[] {
  const drafts: Draft[] = [];
  let sinks: string[][] = [];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const { 1: word, 2: rest = '' } = /^@(refused|accepted|file|found)\b ?(.*)$/.exec(line) ?? [];
    const draft = drafts.at(-1);
    if (word === 'refused' || word === 'accepted') {
      drafts.push({ kind: word, name: rest, files: new Map(), found: [] });
      sinks = [];
    } else if (word === undefined) {
      for (const sink of sinks) sink.push(...expandRepeat(line));
    } else {
      assert.ok(draft !== undefined, `${line}: outside of a sample`);
      const paths = word === 'file' ? expandRange(rest) : [];
      sinks = word === 'found' ? [draft.found] : paths.map(() => []);
      for (const [index, path] of paths.entries()) draft.files.set(path, sinks[index] ?? []);
    }
  }
  return drafts.map(finish);
}
