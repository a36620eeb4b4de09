// What a check is, and what several of them share.
import type { Source, TextFile, Tree } from './tree.ts';

export interface Check {
  /** Names the test; with hyphens it names the file of the samples. */
  name: string;
  /** What to do about a finding. */
  advice: string;
  /** Every breach as `path:line what`. Empty: the tree obeys. */
  find(tree: Tree): string[];
}

function findLines<F extends TextFile>(
  files: F[],
  pattern: RegExp,
  textOf: (file: F) => string,
): string[] {
  return files.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, index) => {
        const found = pattern.exec(line);
        return found === null ? [] : [`${file.path}:${index + 1} ${found[0].trim()}`];
      }),
  );
}

/** `path:line` of every line of code that matches, with what matched. Comments are not looked at. */
export function findInCode(files: Source[], pattern: RegExp): string[] {
  return findLines(files, pattern, ({ code }) => code);
}

/** The same in the whole text. */
export function findInText(files: TextFile[], pattern: RegExp): string[] {
  return findLines(files, pattern, ({ text }) => text);
}
