// Who imports whom, and whether as a value: read from the text, which the formatter keeps regular.
import { dirname, join, normalize } from 'node:path';
import type { Source } from './tree.ts';

export interface Import {
  from: string;
  /** Path of the imported file, from the root. */
  to: string;
  line: number;
  /** The compiler keeps it: the imported file runs before this one. */
  isValue: boolean;
}

const STATEMENT =
  /^(?:import|export)[ \n](type[ \n])?([\w$*{][^'"`;()=]*?)\sfrom\s*['"](\.[^'"]+)['"]/gm;
const SIDE_EFFECT = /^import\s*['"](\.[^'"]+)['"]/gm;
const CALL = /(\btypeof\s+)?\bimport\(\s*['"](\.[^'"]+)['"],?\s*\)(\.[A-Z])?/g;

/** Whether a binding of the clause is a value: `{ type A, b }` has one, `{ type A }` has none. */
function bindsValue(clause: string): boolean {
  const named = /\{([^}]*)\}/.exec(clause);
  if (named === null || clause.replace(named[0], '').replace(/[\s,]/g, '') !== '') return true;
  const names = (named[1] ?? '').split(',').map((name) => name.trim());
  return names.some((name) => name !== '' && !/^type\s+\w/.test(name));
}

export function lineOf(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) {
    line += 1;
  }
  return line;
}

/** Relative imports and re-exports of a file; packages are not its business. */
export function importsOf({ path, code }: Source): Import[] {
  const found: Import[] = [];
  const add = (index: number, specifier: string, isValue: boolean) =>
    found.push({
      from: path,
      to: normalize(join(dirname(path), specifier)),
      line: lineOf(code, index),
      isValue,
    });
  for (const { index, 1: type, 2: clause = '', 3: specifier = '' } of code.matchAll(STATEMENT)) {
    add(index, specifier, type === undefined && bindsValue(clause));
  }
  for (const { index, 1: specifier = '' } of code.matchAll(SIDE_EFFECT)) {
    add(index, specifier, true);
  }
  for (const { index, 1: type, 2: specifier = '', 3: member } of code.matchAll(CALL)) {
    add(index, specifier, type === undefined && member === undefined);
  }
  return found.sort((left, right) => left.line - right.line);
}
