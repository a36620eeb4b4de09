// How sessions end that nobody ended properly: clients, upstreams, wallets and ledgers that are
// lost, limits that are reached.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchHit } from '../../../actors/search/web-search.ts';
import type { VoiceSpec } from '../../../actors/voice/spec.ts';
import type { LiveEvent } from '../../../media/providers/live/contract.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import type { FakeClient } from './fakes.ts';
import { stagesOfFile, until } from './stage.ts';

// slow: It waits for the deadlines of a session in real time.

const open = stagesOfFile();

const sound = (itemId: string, ms: number): LiveEvent => ({
  type: 'audio',
  itemId,
  pcm: new Uint8Array(ms * 48),
});

function report(speechIn: number, speechOut: number): LiveEvent {
  return {
    type: 'usage',
    usage: {
      inputSpeechTokens: speechIn,
      inputTextTokens: 0,
      outputSpeechTokens: speechOut,
      outputTextTokens: 0,
    },
  };
}

const last = (client: FakeClient) => client.told.at(-1) as Record<string, unknown>;

test('a client that is gone: the upstream may still report, then that is settled', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  const { call } = client;
  assert.ok(call !== null);
  call.endsAtOnce = false;
  call.says({ type: 'answer_started', itemId: 'a' }, sound('a', 1_000));
  client.leave();
  assert.equal(call.closedMs, 4_000);
  call.says(report(7, 9));
  call.says({ type: 'ended' });
  const row = await stage.over(client);
  assert.deepEqual([row.reason, row.source], ['client_gone', 'reported']);
  assert.equal(row.charge, 7 * 105 + 9 * 210);
});

test('who renews while usage is awaited finds what cannot be due any more', async () => {
  const stage = await open();
  // Each session holds 346,500.
  const account = await stage.account(650_000n);
  const client = await stage.live(account);
  const { call } = client;
  assert.ok(call !== null);
  call.endsAtOnce = false;
  call.says(report(3, 5), { type: 'answer_started', itemId: 'a' }, sound('a', 1_000));
  client.leave();
  // For whoever must end it in our place.
  await until('what is due is written', async () => (await stage.row(client)).due === 1_365);
  const renewed = await stage.live(account);
  assert.equal(client.session.phase, 'ending', 'its usage is still awaited');
  call.says(report(10, 10));
  call.says({ type: 'ended' });
  assert.equal((await stage.over(client)).charge, 13 * 105 + 15 * 210);
  renewed.send({ type: 'end' });
  await stage.over(renewed);
});

test('an upstream that owes nothing is settled at once, without a reduction before', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.call?.says(report(1, 1));
  client.send({ type: 'end' });
  await stage.over(client);
  const kinds = await stage.sql`SELECT kind FROM ledger WHERE kind = 'reduce'`;
  assert.equal(kinds.length, 0);
});

test('the place of the key is free when its connection ends, whatever is still owed', async () => {
  const stage = await open();
  const account = await stage.account();
  const leave = await stage.live(account);
  const end = await stage.live(account);
  for (const { call } of [leave, end]) {
    assert.ok(call !== null);
    call.endsAtOnce = false;
    call.says({ type: 'answer_started', itemId: 'a' }, sound('a', 1_000));
  }
  assert.equal(stage.places(), 2);
  leave.leave();
  assert.equal(stage.places(), 1);
  end.send({ type: 'end' });
  assert.equal(stage.places(), 1, 'the client waits for its last words');
  await until('it is told', () => end.ended !== null);
  assert.equal(stage.places(), 0);
  assert.equal(stage.host.size, 2, 'both still wait for usage');
  for (const client of [leave, end]) {
    client.call?.says({ type: 'ended' });
    await stage.over(client);
  }
});

test('usage that never comes is estimated from the sound, and marked', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.call?.says(report(1, 1));
  for (let frame = 0; frame < 50; frame += 1) client.frame();
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 2_000));
  client.leave();
  const row = await stage.over(client);
  assert.equal(row.source, 'estimated');
  assert.deepEqual([row.speech_in, row.speech_out], [1 + 16, 1 + 20]);
});

test('an answer whose report never came is estimated, though a later one is reported', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  for (let frame = 0; frame < 50; frame += 1) client.frame();
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 2_000));
  client.call?.says({ type: 'answer_done', outcome: 'completed' });
  for (let frame = 0; frame < 50; frame += 1) client.frame();
  // One that could come late is known to be missing only when the next answer begins.
  client.call?.says({ type: 'unreported' });
  client.call?.says({ type: 'answer_started', itemId: 'b' }, sound('b', 1_000), report(1, 1));
  client.call?.says({ type: 'unreported' });
  client.send({ type: 'end' });
  const row = await stage.over(client);
  assert.equal(row.source, 'estimated');
  assert.deepEqual([row.speech_in, row.speech_out], [1 + 16, 1 + 20], 'the first, and the report');
  const { usage } = last(client) as { usage: Record<string, number> };
  assert.equal(usage.total_output_tokens, 1, 'the client is told what was reported');
});

test('sound that trails its own report is not charged again', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 500), report(3, 5));
  client.call?.says({ type: 'answer_done', outcome: 'completed' });
  const pcm = new Uint8Array(40 * 48);
  client.call?.says({ type: 'audio', itemId: 'a', pcm, isReported: true });
  for (let frame = 0; frame < 50; frame += 1) client.frame();
  client.send({ type: 'end' });
  const row = await stage.over(client);
  assert.deepEqual([row.source, row.charge], ['reported', 3 * 105 + 5 * 210]);
});

test('sound that nobody answered costs nothing', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  for (let frame = 0; frame < 50; frame += 1) client.frame();
  client.send({ type: 'end' });
  const row = await stage.over(client);
  assert.deepEqual([row.source, row.charge], ['none', null]);
});

test('the upstream is lost: told, renewable, 1011; what it reported is settled', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.call?.says(report(3, 0), { type: 'failed', kind: 'closed', text: 'closed with 1011' });
  const row = await stage.over(client);
  const [error] = client.of('error');
  assert.deepEqual([error?.code, error?.retryable, error?.fatal], ['upstream_error', true, false]);
  const { reason, renewable, reconnect } = last(client);
  assert.deepEqual([reason, renewable, reconnect], ['upstream_closed', true, true]);
  assert.equal(client.ended?.code, 1011);
  assert.equal(row.charge, 3 * 105);
  assert.ok(!JSON.stringify(client.told).includes('1011'), 'the words of the provider stay here');
});

test('an answer that stalls: the upstream is left, what was heard is charged', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 100));
  await until('it was played', () => client.types().at(-1) === 'thinking');
  assert.equal(client.ended, null);
  // As if that had been half a minute ago.
  client.session.lastWordMs -= 30_000;
  const row = await stage.over(client);
  const [error] = client.of('error');
  assert.deepEqual([error?.code, error?.retryable, error?.fatal], ['upstream_error', true, false]);
  assert.deepEqual([last(client).reason, last(client).renewable], ['upstream_closed', true]);
  assert.deepEqual(client.call?.told, ['close 0']);
  assert.deepEqual([row.source, row.speech_out], ['estimated', 1]);
});

test('an upstream that is lost in a burst: charged is what was sent of it', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  for (let frame = 0; frame < 50; frame += 1) client.frame();
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 30_000));
  const sentMs = () =>
    client.told.reduce((sum, told) => sum + ('bytes' in told ? Number(told.bytes) / 48 : 0), 0);
  assert.ok(sentMs() >= 200 && sentMs() <= 400, `${sentMs()} ms were sent at once`);
  client.call?.says({ type: 'failed', kind: 'closed', text: 'closed with 1011' });
  const row = await stage.over(client);
  const tokens = Math.ceil(sentMs() / 100);
  assert.deepEqual([row.source, row.speech_in, row.speech_out], ['estimated', 16, tokens]);
});

test('goAway and then silence: left on a timer, renewable', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.call?.says({ type: 'going_away', leftMs: 3_300 });
  client.call?.says({ type: 'going_away', leftMs: 60_000 });
  assert.ok(client.session.leaveAtMs <= performance.now() + 300, 'with time to say so');
  const watch = startStopwatch();
  await stage.over(client);
  watch.assertWithin(3_300, 'ended before the upstream goes');
  assert.deepEqual([last(client).reason, last(client).renewable], ['upstream_closed', true]);
});

test('the longest duration, and silence, end a session by name', async () => {
  const stage = await open({ secondsMax: 2, idleMs: 60_000 });
  const client = await stage.live(await stage.account());
  await stage.over(client);
  assert.deepEqual([last(client).reason, last(client).renewable], ['max_duration', true]);
  assert.equal(client.ended?.code, 1000);
  const quiet = await open({ idleMs: 1_000 });
  const idle = await quiet.live(await quiet.account());
  for (let frame = 0; frame < 10; frame += 1) idle.frame();
  await quiet.over(idle);
  assert.deepEqual([last(idle).reason, last(idle).renewable], ['idle_timeout', false]);
});

test('who speaks, or listens to an answer, is not idle', async () => {
  const stage = await open({ idleMs: 2_000 });
  const client = await stage.live(await stage.account());
  const begun = performance.now();
  while (performance.now() - begun < 3_000) {
    client.frame(1_024, 3_000);
    await new Promise((resolve) => setTimeout(resolve, 32));
  }
  assert.equal(client.ended, null, 'a voice was heard');
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 3_000));
  client.call?.says({ type: 'audio_done', itemId: 'a' });
  client.call?.says(report(1, 1), { type: 'answer_done', outcome: 'completed' });
  await stage.over(client);
  assert.equal(last(client).reason, 'idle_timeout');
  assert.ok(performance.now() - begun > 3_000 + 3_000 + 1_500);
});

test('a drain ends every session renewable, in every phase', async () => {
  const stage = await open();
  const account = await stage.account();
  const clients = [stage.connect(account), stage.connect(account), await stage.live(account)];
  clients[1]?.start();
  stage.host.finishAll('server_draining');
  for (const client of clients) {
    await stage.over(client);
    assert.deepEqual([last(client).reason, last(client).renewable], ['server_draining', true]);
    assert.equal(client.ended?.code, 1012);
  }
});

test('a key that is revoked, and an account that is disabled: the end in every phase', async () => {
  const stage = await open();
  const account = await stage.account();
  const { keyId, accountId } = account;
  const theirs = [
    (spec: VoiceSpec) => spec.apiKeyId === keyId,
    (spec: VoiceSpec) => spec.accountId === accountId,
  ];
  const other = await stage.live(await stage.account());
  for (const isTheirs of theirs) {
    const early = [stage.connect(account), stage.connect(account)];
    early[1]?.start();
    const client = await stage.live(account);
    client.call?.says(report(3, 5), { type: 'answer_started', itemId: 'a' }, sound('a', 1_000));
    stage.host.withdraw(isTheirs);
    // Twice changes nothing.
    stage.host.withdraw(isTheirs);
    for (const one of [...early, client]) {
      const row = await stage.over(one);
      const [error, ...more] = one.of('error');
      assert.deepEqual(
        [error?.code, error?.retryable, error?.fatal, more.length],
        ['unauthenticated', false, true, 0],
      );
      if (one !== client) assert.deepEqual(one.ended, { code: 1008, reason: 'unauthenticated' });
      else assert.equal(row.charge, 3 * 105 + 5 * 210 + 10 * 210, 'what was used is settled');
    }
    assert.deepEqual([last(client).reason, last(client).renewable], ['error', false]);
    assert.equal(client.ended?.code, 1011);
  }
  assert.equal(other.ended, null, 'who has another key goes on');
  other.leave();
  await stage.over(other);
});

test('a shard that waits no longer: clients are told, what is known is settled', async () => {
  const stage = await open();
  const account = await stage.account();
  const client = await stage.live(account);
  const { call } = client;
  assert.ok(call !== null);
  call.endsAtOnce = false;
  call.says(report(10, 0), { type: 'answer_started', itemId: 'a' }, sound('a', 1_000));
  const waiting = stage.connect(account);
  stage.host.finishAll('server_draining');
  assert.equal(last(client).reason, 'server_draining', 'told before the upstream is done');
  stage.host.giveUpAll();
  for (const one of [client, waiting]) {
    assert.deepEqual(one.ended, { code: 1012, reason: 'server_draining' });
    assert.ok(!stage.host.has(one.id));
  }
  await until('it is settled', async () => (await stage.row(client)).state === 'ended');
  const row = await stage.row(client);
  assert.deepEqual([row.source, row.charge], ['estimated', 1_050 + 10 * 210]);
});

test('a client that does not read is ended as slow', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.bufferedBytes = 48 * 5_001;
  await stage.over(client);
  assert.equal(client.of('error').at(-1)?.code, 'slow_consumer');
  assert.equal(last(client).reason, 'error');
});

test('a wallet that does not cover the longest duration refuses the start', async () => {
  const stage = await open();
  // 100 s x 10 tokens x (100 + 10 + 200 + 20) x 1.05
  const holdMicros = 346_500n;
  const poor = stage.connect(await stage.account(holdMicros - 1n));
  poor.start();
  await until('it is told', () => poor.ended !== null);
  const [error] = poor.of('error');
  assert.deepEqual([error?.code, error?.fatal], ['insufficient_credits', true]);
  assert.equal(poor.ended?.code, 1008);
  assert.deepEqual(await stage.over(poor), {});
  assert.equal(stage.calls.length, 0, 'no upstream was called');
  const exact = await stage.live(await stage.account(holdMicros));
  exact.send({ type: 'end' });
  await stage.over(exact);
});

test('usage that outgrows the hold extends it; a dry wallet ends the session', async () => {
  const stage = await open();
  const account = await stage.account(1_000_000n);
  const client = await stage.live(account);
  client.call?.says(report(0, 1_000));
  await until('the hold grew', async () => (await account.balance()).heldMicros > 500_000n);
  client.call?.says(report(0, 5_000));
  await until('it ends', () => client.ended !== null);
  assert.deepEqual([last(client).reason, last(client).renewable], ['credits_exhausted', false]);
  assert.equal(client.ended?.code, 1000);
  const row = await stage.over(client);
  assert.equal(row.charge, 6_000 * 210, 'what was used is charged');
  assert.deepEqual(await account.balance(), { availableMicros: 0n, heldMicros: 0n });
});

test('a ledger that does not answer the end is asked again, and settles once', async () => {
  let lost = 2;
  const stage = await open({
    wallet: (real) => ({
      ...real,
      kind: real.kind,
      id: real.id,
      tell: (message, payload) => real.tell(message, payload),
      ask: async (message, payload, timeoutMs) => {
        const answer = await real.ask(message, payload, timeoutMs);
        if (message !== 'settle' || lost === 0) return answer;
        lost -= 1;
        return { ok: false, reason: 'timeout' };
      },
    }),
  });
  const account = await stage.account(1_000_000n);
  const client = await stage.live(account);
  client.call?.says(report(10, 0));
  client.send({ type: 'end' });
  assert.equal((await stage.over(client)).charge, 1_050);
  assert.equal((await account.balance()).availableMicros, 1_000_000n - 1_050n);
});

test('a hold whose answer is lost is released behind it', async () => {
  const stage = await open({
    wallet: (real) => ({
      kind: real.kind,
      id: real.id,
      tell: (message, payload) => real.tell(message, payload),
      ask: async (message, payload, timeoutMs) => {
        const answer = await real.ask(message, payload, timeoutMs);
        return message === 'hold' ? { ok: false, reason: 'timeout' } : answer;
      },
    }),
  });
  const account = await stage.account();
  const client = stage.connect(account);
  client.start();
  await until('it is told', () => client.ended !== null);
  assert.equal(client.of('error')[0]?.code, 'internal');
  assert.equal((await stage.over(client)).state, 'ended');
  assert.equal((await account.balance()).heldMicros, 0n);
});

test('a bug in one session is told to its client, settles, and nobody else notices', async () => {
  const stage = await open();
  const account = await stage.account();
  const neighbour = await stage.live(account);
  const client = await stage.live(account);
  client.call?.says(report(10, 0));
  client.call?.says(null as never);
  await stage.over(client);
  assert.deepEqual(client.of('error')[0]?.code, 'internal');
  assert.equal(last(client).reason, 'error');
  assert.equal(client.ended?.code, 1011);
  await until('it is settled', async () => (await stage.row(client)).charge === 1_050);
  assert.equal(neighbour.ended, null);
  neighbour.send({ type: 'end' });
  await stage.over(neighbour);
});

test('what was used is written down while the session lives', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.call?.says(report(10, 0));
  await until('it is written', async () => (await stage.row(client)).due === 1_050);
  assert.equal((await stage.row(client)).state, 'live');
  client.leave();
  await stage.over(client);
});

test('tools: the time at once, a search with its price, a call that is given up', async () => {
  const hit: SearchHit = { title: 'T', url: 'http://t', snippet: 'S', date: null };
  const signals: AbortSignal[] = [];
  let find: ((hits: SearchHit[] | null) => void) | null = null;
  const stage = await open({
    search: (signal) => {
      signals.push(signal);
      return new Promise((resolve) => {
        find = resolve;
      });
    },
  });
  const members = { tools_enabled: true, client_context: { timezone: 'Asia/Tokyo' } };
  const client = await stage.live(await stage.account(), members);
  const { call } = client;
  assert.ok(call !== null);
  assert.deepEqual(
    call.setup.tools.map(({ name }) => name),
    ['current_time', 'web_search'],
  );
  client.forget();
  const ask = (callId: string, name: string, argumentsJson: string) =>
    call.says({ type: 'tool_call', callId, name, argumentsJson });
  ask('c1', 'current_time', '{}');
  assert.match(JSON.stringify(call.results[0]?.output), /Asia\/Tokyo/);
  ask('c2', 'web_search', '{"query":"news"}');
  await until('it searches', () => find !== null);
  (find as unknown as (hits: SearchHit[]) => void)([hit]);
  await until('it found', () => call.results.length === 2);
  assert.match(JSON.stringify(call.results[1]?.output), /http:\/\/t/);
  ask('c3', 'web_search', '{"query":"more"}');
  client.send({ type: 'barge_in' });
  assert.equal(signals[1]?.aborted, true);
  ask('c4', 'launch_missiles', '{}');
  call.says({ type: 'tool_refused', callId: 'c5', name: 'current_time' });
  const states = client.of('tool').map(({ id, state }) => `${id} ${state}`);
  assert.deepEqual(states, [
    'c1 started',
    'c1 completed',
    'c2 started',
    'c2 completed',
    'c3 started',
    'c3 failed',
    'c4 started',
    'c4 failed',
    'c5 started',
    'c5 failed',
  ]);
  assert.equal(call.results.length, 3, 'nobody waits for the result of the last one');
  client.send({ type: 'end' });
  const row = await stage.over(client);
  assert.deepEqual([row.searches, row.charge], [1, 105_000]);
});

test('without tools_enabled nothing is offered and nothing is run', async () => {
  const stage = await open({ search: async () => [] });
  const client = await stage.live(await stage.account());
  assert.deepEqual(client.call?.setup.tools, []);
  client.call?.says({
    type: 'tool_call',
    callId: 'c',
    name: 'web_search',
    argumentsJson: '{"query":"x"}',
  });
  assert.deepEqual(client.of('tool').at(-1)?.state, 'failed');
  client.leave();
  await stage.over(client);
});
