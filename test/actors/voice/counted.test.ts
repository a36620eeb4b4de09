// What an operator sees of voice sessions: counters of the shard, and how sessions started, ended
// and were refused. And what they say of a wallet, by which the next one is called ahead.
import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { type FakeClient, report, sound } from './fakes.ts';
import { stagesOfFile, until, type VoiceStage } from './stage.ts';

const open = stagesOfFile();
const told: string[] = [];
let stage: VoiceStage;
let account: TestAccount;
before(async () => {
  stage = await open();
  account = await stage.account();
  const client = stage.connect(account);
  const { metrics, fundsEstimate } = client.session.deps;
  metrics.started = (seconds) => void told.push(seconds > 0 && seconds < 60 ? 'started' : 'never');
  metrics.ended = (reason) => void told.push(`ended ${reason}`);
  metrics.refused = (code) => void told.push(`refused ${code}`);
  fundsEstimate.saw = ({ walletId }) => void told.push(`saw ${walletId}`);
  fundsEstimate.forget = ({ walletId }) => void told.push(`forgot ${walletId}`);
  client.leave();
  await stage.over(client);
});
beforeEach(() => {
  told.length = 0;
});

async function end(client: FakeClient): Promise<void> {
  client.send({ type: 'end' });
  await stage.over(client);
}

test('a session is counted when it starts and when it ends, by its reason', async () => {
  await end(await stage.live(account));
  const gone = await stage.live(account);
  gone.leave();
  await stage.over(gone);
  const seen = `saw ${account.walletId}`;
  assert.deepEqual(told, [
    ...[seen, 'started', 'ended client_end'],
    ...[seen, 'started', 'ended client_gone'],
  ]);
});

test('a refusal is counted by its code, a poor wallet is not called ahead', async () => {
  const wrong = stage.connect(account);
  wrong.send('no json');
  await stage.over(wrong);
  const poor = await stage.account(1n);
  const client = stage.connect(poor);
  client.start();
  await stage.over(client);
  assert.deepEqual(told, [
    ...['refused invalid_start', 'ended rejected'],
    ...[`forgot ${poor.walletId}`, 'refused insufficient_credits', 'ended rejected'],
  ]);
});

test('a bug is counted as what it is', async () => {
  const client = await stage.live(account);
  client.call?.says(null as never);
  await stage.over(client);
  assert.equal(told.at(-1), 'ended crashed');
});

test('frames, messages, interruptions, and the frames that were dropped', async () => {
  const { counters } = stage.host;
  const before = { ...counters };
  const client = await stage.live(account);
  for (let frame = 0; frame < 3; frame += 1) client.frame();
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 200));
  client.call?.says({ type: 'audio_done', itemId: 'a' }, report(1, 1));
  await until('it is played', () => client.types().at(-1) === 'listening');
  client.send({ type: 'barge_in' });
  const { framesIn, framesDropped, messagesOut, bargeIns } = counters;
  assert.deepEqual([framesIn - before.framesIn, framesDropped - before.framesDropped], [3, 0]);
  assert.equal(messagesOut - before.messagesOut, client.of('sound').length);
  assert.equal(bargeIns - before.bargeIns, 1);
  client.session.frames.levelMs = 0;
  client.session.frames.atMs = performance.now();
  client.frame();
  client.session.frames.levelMs = client.session.frames.capacityMs;
  client.session.lane?.close();
  client.frame();
  assert.equal(counters.framesIn - framesIn, 2);
  assert.equal(counters.framesDropped - framesDropped, 2, 'too many, and no lane');
  await end(client);
});

test('a flood is told anew when the client has kept its pace meanwhile', async () => {
  const client = await stage.live(account);
  const { frames } = client.session;
  const flood = () => {
    frames.levelMs = 0;
    for (let frame = 0; frame < 100; frame += 1) {
      frames.atMs = performance.now();
      client.frame();
    }
  };
  flood();
  assert.equal(client.of('error').length, 1);
  for (let time = 2; time <= 4; time += 1) {
    frames.levelMs = frames.capacityMs;
    client.frame();
    flood();
    assert.deepEqual(
      client.of('error').map(({ code, fatal }) => `${code} ${fatal}`),
      Array(time).fill('frame_rate_exceeded false'),
    );
  }
  await end(client);
});
