// Targets asked for an administrator or a canary: each once, whatever rests, and what that means
// for their rest.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DownRoute } from '../../../actors/provider-health/down.ts';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import { probeTargets } from '../../../actors/search/probing.ts';
import { searchAsk, searchSurface, searchTarget } from '../../harness/search-surface.ts';
import { fakeClient, outcome, type State } from './fakes.ts';

const { signal } = new AbortController();
const names = ['found', 'empty', 'refused', 'busy', 'exhausted', 'credential', 'failed', 'timeout'];
const targets = names.map((name) => searchTarget(`${name}/web_search`));
const surface = searchSurface(targets);

test('each target is asked once, and told in the order of the record', async () => {
  const health = createRouteHealth();
  const client = fakeClient((routeId) => outcome(routeId.split('/')[0] as State));
  for (let round = 1; round <= 2; round += 1) {
    const told = await probeTargets({ client, health }, surface, searchAsk('q'), signal);
    assert.equal(client.asked.length, round * names.length, 'what rests is asked all the same');
    const shown = told.map(({ routeId, state, items, problem }) => [
      routeId,
      state,
      items,
      problem,
    ]);
    assert.deepEqual(shown, [
      ['found/web_search', 'found', 1, null],
      ['empty/web_search', 'empty', 0, null],
      ['refused/web_search', 'refused', 0, 'invalid_request'],
      ['busy/web_search', 'busy', 0, 'upstream_busy'],
      ['exhausted/web_search', 'exhausted', 0, 'upstream_error'],
      ['credential/web_search', 'credential', 0, 'upstream_error'],
      ['failed/web_search', 'failed', 0, 'upstream_error'],
      ['timeout/web_search', 'timeout', 0, 'upstream_timeout'],
    ]);
    assert.ok(told.every(({ ms }) => ms >= 0));
  }
  const rests = targets.map(({ upstream }) => health.restOf(upstream, Date.now())?.why ?? null);
  assert.deepEqual(rests, [null, null, null, 'busy', 'unpaid', 'down', null, null]);
});

test('a success ends the rest of a refused credential, and all are told', async () => {
  const told: DownRoute[] = [];
  const health = createRouteHealth(undefined, (found) => told.push(found));
  const one = searchTarget('one/web_search');
  const answers: State[] = ['credential', 'credential', 'failed', 'found'];
  const client = fakeClient((_routeId, call) => outcome(answers[call - 1] ?? 'found'));
  const downs: boolean[] = [];
  for (let round = 0; round < 4; round += 1) {
    await probeTargets({ client, health }, searchSurface([one]), searchAsk('q'), signal);
    downs.push(health.down.isDown(one.upstream));
  }
  assert.deepEqual(downs, [true, true, true, false]);
  assert.deepEqual(
    told.map(({ routeId, isDown }) => [routeId, isDown]),
    [
      ['one/web_search', true],
      ['one/web_search', false],
    ],
  );
  assert.ok(!JSON.stringify(told).includes('key-1'), 'no credential is told');
});
