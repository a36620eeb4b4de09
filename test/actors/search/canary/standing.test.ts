// How a surface stands after rounds of its canary: one that goes wrong says nothing, two do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  afterRound,
  type CanaryOutcome,
  createStandings,
  newCourse,
} from '../../../../actors/search/canary/standing.ts';

const letters: Record<string, CanaryOutcome> = { o: 'expected', m: 'missed', n: 'nothing' };

/** The standing after each round: `w`, `d` or `u`. */
function standings(rounds: string): string {
  let course = newCourse;
  return [...rounds]
    .map((letter) => {
      const outcome = letters[letter];
      assert.ok(outcome !== undefined);
      course = afterRound(course, outcome);
      return course.standing[0];
    })
    .join('');
}

test('twice in a row without its host it is degraded, twice with nothing unavailable', () => {
  for (const [rounds, expected] of [
    ['ooo', 'www'],
    ['omom', 'wwww'],
    ['mm', 'wd'],
    ['mmo', 'wdw'],
    ['nn', 'wu'],
    ['nno', 'wuw'],
    ['nnon', 'wuww'],
    ['mn', 'wd'],
    ['nm', 'wd'],
    ['mnn', 'wdu'],
    ['nnm', 'wud'],
    ['nnmn', 'wudd'],
    ['nnmnn', 'wuddu'],
    ['mmnmn', 'wdddd'],
  ] as const) {
    assert.equal(standings(rounds), expected, rounds);
  }
});

test('what was told of a surface counts for that one alone, until it is told anew', () => {
  const known = createStandings();
  const surface = { name: 'engine_news', version: '1' };
  assert.equal(known.of(surface), 'well');
  known.set([{ surface: 'engine_news', version: '1', standing: 'unavailable' }]);
  assert.equal(known.of(surface), 'unavailable');
  assert.equal(known.of({ ...surface, version: '2' }), 'well', 'its targets are others');
  assert.equal(known.of({ ...surface, name: 'engine_images' }), 'well');
  known.set([]);
  assert.equal(known.of(surface), 'well');
});
