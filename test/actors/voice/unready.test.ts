// Upstreams of a session that is not ready yet: which one is tried, for how long, and what its
// client hears of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FakeClient } from './fakes.ts';
import { type StageOptions, stagesOfFile, until, type VoiceStage } from './stage.ts';

const open = stagesOfFile();

const last = (client: FakeClient) => client.told.at(-1) as Record<string, unknown>;

test('an upstream that cannot be reached: the next is tried, then the client is told', async () => {
  const stage = await open({ targets: 2 });
  const account = await stage.account();
  const client = stage.connect(account);
  client.start();
  await until('the first is called', () => stage.calls.length === 1);
  stage.calls[0]?.says({ type: 'failed', kind: 'connect', text: 'refused' });
  assert.equal(stage.calls.length, 2);
  stage.calls[1]?.says({ type: 'ready' });
  assert.ok(client.types().includes('session.ready'));
  client.send({ type: 'end' });
  await stage.over(client);
  const unlucky = stage.connect(account);
  unlucky.start();
  await until('the first is called', () => stage.calls.length === 3);
  stage.calls[2]?.says({ type: 'failed', kind: 'busy', text: 'HTTP 429' });
  stage.calls[3]?.says({ type: 'failed', kind: 'timeout', text: 'late' });
  assert.equal(unlucky.of('error')[0]?.code, 'upstream_error');
  const row = await stage.over(unlucky);
  assert.deepEqual([row.state, row.charge], ['ended', null]);
});

/** A stage on which the answer to a hold waits until it is let go. */
async function openHeldBack(options: StageOptions = {}): Promise<[VoiceStage, () => void]> {
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const stage = await open({
    ...options,
    foresees: true,
    wallet: (real) => ({
      kind: real.kind,
      id: real.id,
      tell: (message, payload) => real.tell(message, payload),
      ask: async (message, payload, timeoutMs) => {
        const answer = await real.ask(message, payload, timeoutMs);
        if (message === 'hold') await gate;
        return answer;
      },
    }),
  });
  return [stage, letGo];
}

test('an upstream that goes while the hold is on its way is left on the same timer', async () => {
  const [stage, letGo] = await openHeldBack();
  const client = stage.connect(await stage.account());
  client.start();
  stage.calls[0]?.says({ type: 'ready' }, { type: 'going_away', leftMs: 3_300 });
  letGo();
  await until('it is live', () => client.types().includes('session.ready'));
  await stage.over(client);
  assert.deepEqual([last(client).reason, last(client).renewable], ['upstream_closed', true]);
  assert.deepEqual(client.of('error'), [], 'it was left before it went');
});

test('an upstream that is lost while the hold is on its way: the next is tried', async () => {
  const [stage, letGo] = await openHeldBack({ targets: 2 });
  const client = stage.connect(await stage.account());
  client.start();
  const lost = { type: 'failed', kind: 'closed', text: 'closed with 1011' } as const;
  stage.calls[0]?.says({ type: 'ready' }, { type: 'going_away', leftMs: 3_300 }, lost);
  assert.equal(stage.calls.length, 2);
  stage.calls[1]?.says({ type: 'ready' });
  letGo();
  await until('it is live', () => client.types().includes('session.ready'));
  assert.deepEqual(client.types(), ['connecting', 'session.ready', 'listening']);
  assert.equal(client.session.leaveAtMs, Number.POSITIVE_INFINITY, 'this one does not go');
  client.send({ type: 'end' });
  assert.deepEqual((await stage.over(client)).reason, 'client_end');
});

test('a start has one deadline, however many upstreams take their time', async () => {
  const stage = await open({ targets: 9 });
  const client = stage.connect(await stage.account());
  client.start();
  await until('the first is called', () => stage.calls.length === 1);
  // As if it had been accepted almost a quarter of a minute ago.
  client.session.acceptedMs = performance.now() - 14_000;
  stage.calls[0]?.says({ type: 'failed', kind: 'timeout', text: 'late' });
  assert.equal(stage.calls.length, 2, 'the next one has its chance');
  const row = await stage.over(client);
  const [error] = client.of('error');
  assert.deepEqual([error?.code, error?.retryable, error?.fatal], ['upstream_error', true, true]);
  assert.equal(client.ended?.code, 1008);
  assert.deepEqual([stage.calls.length, row.charge], [2, null]);
});
