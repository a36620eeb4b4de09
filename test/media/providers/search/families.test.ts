// The families of search providers: what is registered, and that no reader of any of them throws,
// whatever JSON a provider answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isScoring,
  searchFamily,
  searchFamilyNames,
  servesSurface,
} from '../../../../media/providers/search/families.ts';
import type { SearchFamily } from '../../../../media/providers/search/family.ts';
import type { ServedSurface } from '../../../../media/search/surfaces.ts';
import { fc } from '../../../harness/properties.ts';
import { testSeed } from '../../../harness/seed.ts';
import { askOf } from './ask.ts';
import { replies as listed, suggestions } from './searxng/replies.ts';
import { replies } from './serper/replies.ts';

const families = searchFamilyNames.map((name) => searchFamily(name) as SearchFamily);
const recorded: readonly unknown[] = [
  ...Object.values(replies),
  ...Object.values(listed),
  ...Object.values(suggestions),
];

test('families are found by the name of their provider', () => {
  assert.deepEqual(
    families.map(({ name }) => name),
    searchFamilyNames,
  );
  assert.equal(searchFamily('unknown'), null);
  assert.equal(searchFamily('__proto__'), null);
});

test('a family serves the surfaces that it has endpoints for, and no other name', () => {
  assert.equal(servesSurface('serper', 'engine_news'), true);
  assert.equal(servesSurface('serper', 'engine_flights'), false);
  assert.equal(servesSurface('searxng', 'engine_shopping'), false);
  assert.equal(servesSurface('unknown', 'web_search'), false);
  for (const name of ['constructor', '__proto__', 'web_answer', 'sonar']) {
    assert.equal(servesSurface('serper', name), false, name);
  }
});

test('only a family with scores is told to have them', () => {
  assert.equal(isScoring('serper'), false);
  assert.equal(isScoring('searxng'), false);
  assert.equal(isScoring('unknown'), false);
});

/** Every place in a value, as the path that leads to it. */
function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, each]) => pathsIn(each, [...path, name]))];
}

function replaced(value: unknown, [name, ...rest]: string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string,
    unknown
  >;
  copy[name] = replaced(copy[name], rest, by);
  return copy;
}

/** A recorded reply with nonsense somewhere in it. */
const damaged = fc
  .constantFrom(...recorded)
  .chain((reply) =>
    fc
      .tuple(fc.constantFrom(...pathsIn(reply)), fc.jsonValue())
      .map(([path, nonsense]) => replaced(reply, path, nonsense)),
  );

test(`readers take any JSON (seed ${testSeed})`, () => {
  const states = new Set<string>();
  fc.assert(
    fc.property(
      fc.oneof(damaged, fc.jsonValue()),
      fc.integer({ min: 100, max: 599 }),
      (body, status) => {
        for (const { endpoints, readFailure } of families) {
          for (const surface of Object.keys(endpoints) as ServedSurface[]) {
            const reading = endpoints[surface]?.read(body, askOf(surface, 'alps'));
            states.add(reading?.state ?? '');
            if (reading?.state === 'read') JSON.stringify(reading.data);
          }
          states.add(readFailure(status, body));
        }
      },
    ),
    { numRuns: 300 },
  );
  assert.ok(states.has('read') && states.has('failed'));
});
