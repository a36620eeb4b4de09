// Every move of the turn's states, as decided; and what a client may see, whatever happens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMove, stateOf, type TurnState, wayTo } from '../../../actors/voice/turn.ts';
import { fc } from '../../harness/properties.ts';

const states: TurnState[] = ['connecting', 'listening', 'thinking', 'speaking', 'ended'];
const allowed = new Set([
  'connecting listening',
  'listening thinking',
  'thinking speaking',
  'thinking listening',
  'speaking listening',
  'speaking thinking',
  ...states.slice(0, 4).map((state) => `${state} ended`),
]);

test('exactly the decided moves are allowed', () => {
  for (const from of states) {
    for (const to of states) assert.equal(isMove(from, to), allowed.has(`${from} ${to}`));
  }
});

test('a way is made of allowed moves and ends where it should', () => {
  for (const from of states) {
    for (const to of states) {
      const way = wayTo(from, to);
      if (way.length === 0) continue;
      assert.equal(way.at(-1), to);
      let at = from;
      for (const state of way) {
        assert.ok(isMove(at, state), `${at} ${state}`);
        at = state;
      }
    }
  }
  assert.deepEqual(wayTo('listening', 'speaking'), ['thinking', 'speaking']);
  assert.deepEqual(wayTo('ended', 'listening'), []);
});

test('whatever the facts are, a client sees allowed moves only, and the true state at last', () => {
  const fact = fc.record({ isAwaited: fc.boolean(), isHeard: fc.boolean() });
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 30 }), (facts) => {
      let at: TurnState = 'listening';
      for (const each of facts) {
        for (const state of wayTo(at, stateOf(each))) {
          assert.ok(isMove(at, state));
          at = state;
        }
        assert.equal(at, stateOf(each));
      }
    }),
  );
});
