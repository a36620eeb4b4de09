// Who may take everything: `Services` is for the declarations of routes and for the composition.
import type { Check } from './check.ts';
import { isComposition } from './directions.ts';
import { lineOf } from './imports.ts';
import { isProduct, type Source } from './tree.ts';

/** Where the type is, and what makes a route a value with it. */
const ALLOWED = new Set(['routes/services.ts', 'routes/define.ts', 'routes/table.ts']);

const IMPORT = /^import\s[^'"`;=]*?\bServices\b[^'"`;=]*?from\s*['"]\.[^'"]*['"];?$/m;
const ALIAS = /\bServices\s+as\s+\w+/g;
/** The whole type, but neither a part of it nor its import. */
const WHOLE = /(?<!\bPick<\s*)\bServices\b(?!\[)/g;
/** The same without its name: what a route's input has under this name. */
const UNNAMED = /\]?\['services'\]/g;

function namesOf({ path, code }: Source): string[] {
  const at = (index: number, what: string) => `${path}:${lineOf(code, index)} ${what}`;
  const statement = IMPORT.exec(code)?.[0];
  const unnamed = [...code.matchAll(UNNAMED)].map(({ index }) => at(index, "['services']"));
  if (statement === undefined) return unnamed;
  const aliased = [...statement.matchAll(ALIAS)].map(({ 0: alias }) =>
    at(code.indexOf(statement), alias),
  );
  const rest = code.replace(statement, (text) => text.replace(/[^\n]/g, ' '));
  return [
    ...aliased,
    ...[...rest.matchAll(WHOLE)].map(({ index }) => at(index, 'Services')),
    ...unnamed,
  ];
}

export const wholeServices: Check = {
  id: 'whole-services',
  rule: 'nothing outside a handler takes the whole of Services',
  advice: "take Pick<Services, 'a' | 'b'>, or the services themselves",
  find: ({ sources }) =>
    sources
      .filter((file) => isProduct(file) && !ALLOWED.has(file.path) && !isComposition(file.path))
      .flatMap(namesOf),
};
