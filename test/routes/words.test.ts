// What a stranger is told: a pattern that a request does not match is said in words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routes } from '../../routes/table.ts';

/** The patterns without words of their own in a schema, wherever in it they stand. */
function wordless(value: unknown, seen: Set<unknown>): string[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const { type, kind, message, requirement } = value as Record<string, unknown>;
  const isPattern = kind === 'validation' && type === 'regex';
  if (isPattern) return typeof message === 'string' ? [] : [String(requirement)];
  return Object.values(value).flatMap((member) => wordless(member, seen));
}

test('no refusal of a request shows a pattern', () => {
  const seen = new Set<unknown>();
  const found = routes.flatMap(({ path, query, params, body }) =>
    [query, params, body?.schema].flatMap((schema) =>
      wordless(schema, seen).map((pattern) => `${path}: ${pattern}`),
    ),
  );
  assert.deepEqual(found, []);
});
