// What a check is, and what several of them share.
import type { Source, TextFile, Tree } from './tree.ts';

export interface Check {
  /** Names the file of its samples, and the check to `report.ts`. */
  id: string;
  /** What the tree obeys; the name of the test. */
  rule: string;
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

/** `path:line` of every line of code that matches, with what matched; comments are left out. */
export function findInCode(files: Source[], pattern: RegExp): string[] {
  return findLines(files, pattern, ({ code }) => code);
}

/** The same in the whole text. */
export function findInText(files: TextFile[], pattern: RegExp): string[] {
  return findLines(files, pattern, ({ text }) => text);
}

/** Folders that lie anywhere above these files, without a slash at the end. */
export function foldersOf(paths: string[]): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      folders.add(path.slice(0, at));
    }
  }
  return folders;
}
