// What voice sessions tell the health of their routes, and what they are told by it: the breaker
// opens, is gone around while there is another target, and closes after a probe.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelStatuses } from '../../../actors/monitor/routes.ts';
import type { LiveFailureKind } from '../../../media/providers/live/contract.ts';
import type { TestAccount } from '../../harness/account.ts';
import type { FakeClient } from './fakes.ts';
import { type StageOptions, stagesOfFile, until, type VoiceStage } from './stage.ts';

const openStage = stagesOfFile();

async function open(options: StageOptions): Promise<[VoiceStage, TestAccount]> {
  const stage = await openStage(options);
  return [stage, await stage.account()];
}

const first = 'fake/voice-1';
const second = 'fake/voice-2';

/** A session whose upstream was called; which route that was. */
async function start(stage: VoiceStage, account: TestAccount): Promise<[FakeClient, string]> {
  const { calls } = stage;
  const before = calls.length;
  const client = stage.connect(account);
  client.start();
  await until('an upstream is called', () => calls.length > before);
  client.call = calls.at(-1) ?? null;
  return [client, client.call?.routeId ?? ''];
}

async function fails(stage: VoiceStage, account: TestAccount, kind: LiveFailureKind) {
  const [client] = await start(stage, account);
  client.call?.says({ type: 'failed', kind, text: 'HTTP 500' });
  await stage.over(client);
}

const recordOf = (stage: VoiceStage, routeId: string) =>
  stage.health.records(Date.now()).find((record) => record.routeId === routeId);

test('a start that works is a success with its time; who leaves before is no verdict', async () => {
  const [stage, account] = await open({});
  const client = await stage.live(account);
  const { state, successRate, firstEventMs } = stage.health.stats(first, Date.now());
  assert.deepEqual([state, successRate], ['closed', 1]);
  assert.ok(firstEventMs !== null && firstEventMs >= 0);
  client.leave();
  await stage.over(client);
  const [hasty] = await start(stage, account);
  hasty.leave();
  await stage.over(hasty);
  const record = recordOf(stage, first);
  assert.equal(record?.failures, 0);
  assert.ok(Math.abs((record?.successes ?? 0) - 1) < 0.2, 'one session was ready');
});

test('a target that does not start is the last for a while, and failover counts', async () => {
  const [stage, account] = await open({ targets: 2 });
  const [client, called] = await start(stage, account);
  assert.equal(called, first);
  client.call?.says({ type: 'failed', kind: 'connect', text: 'refused' });
  assert.equal(stage.calls.at(-1)?.routeId, second);
  stage.calls.at(-1)?.says({ type: 'ready' });
  assert.ok(client.types().includes('session.ready'));
  const [next, route] = await start(stage, account);
  assert.equal(route, second, 'the first one rests');
  for (const each of [client, next]) {
    each.leave();
    await stage.over(each);
  }
  assert.ok((recordOf(stage, first)?.failures ?? 0) > 0.8);
  assert.equal(recordOf(stage, second)?.failures, 0);
});

test('five failed starts open the breaker, which the status of the model shows', async () => {
  const [stage, account] = await open({});
  for (let count = 0; count < 5; count += 1) await fails(stage, account, 'timeout');
  const nowMs = Date.now();
  assert.equal(stage.health.stats(first, nowMs).state, 'open');
  const targets = [{ routeId: first }];
  const catalog = { models: [{ alias: 'svc-voice-1', targets }], routes: [] };
  const probed = new Map([[first, true]]);
  // Five that are a moment old weigh a little less than five: one more is needed.
  await fails(stage, account, 'timeout');
  const observed = stage.health.records(Date.now());
  const [status] = modelStatuses(catalog as never, probed, observed);
  assert.deepEqual([status?.status, status?.routes_operational], ['unavailable', 0]);
  // The only target there is, is called all the same.
  const [last, route] = await start(stage, account);
  assert.equal(route, first);
  last.leave();
  await stage.over(last);
});

/** Opens the breaker of the first target, long enough ago for its pauses to be over. */
function halfOpen({ health }: VoiceStage): void {
  const pastMs = Date.now() - 20_000;
  const failure = { kind: 'failed', status: 500, retryAfterMs: null, detail: '' } as const;
  for (let count = 0; count < 5; count += 1) health.failed(first, failure, pastMs);
}

test('an open breaker is gone around; half-open it takes one, which closes it', async () => {
  const [stage, account] = await open({ targets: 2 });
  halfOpen(stage);
  assert.equal(stage.health.stats(first, Date.now()).state, 'half-open');
  const [probe, probed] = await start(stage, account);
  const [other, gone] = await start(stage, account);
  assert.deepEqual([probed, gone], [first, second], 'one probe at a time');
  probe.call?.says({ type: 'ready' });
  assert.equal(stage.health.stats(first, Date.now()).state, 'closed');
  const [third, again] = await start(stage, account);
  assert.equal(again, first);
  for (const client of [probe, other, third]) {
    client.leave();
    await stage.over(client);
  }
});

test('a probe that its client gives up is given back', async () => {
  const [stage, account] = await open({ targets: 2 });
  halfOpen(stage);
  const [probe] = await start(stage, account);
  probe.leave();
  await stage.over(probe);
  const [next, route] = await start(stage, account);
  assert.equal(route, first);
  next.leave();
  await stage.over(next);
});

test('a session that is lost is a failure; one announced, or ended by us, is none', async () => {
  const [stage, account] = await open({});
  const lost = await stage.live(account);
  lost.call?.says({ type: 'failed', kind: 'closed', text: 'closed with 1011' });
  await stage.over(lost);
  const failures = recordOf(stage, first)?.failures ?? 0;
  assert.ok(failures > 0.8);
  const warned = await stage.live(account);
  warned.call?.says({ type: 'going_away', leftMs: 60_000 });
  warned.call?.says({ type: 'failed', kind: 'closed', text: 'closed with 1000' });
  await stage.over(warned);
  const ended = await stage.live(account);
  ended.send({ type: 'end' });
  await stage.over(ended);
  assert.ok((recordOf(stage, first)?.failures ?? 0) <= failures);
});
