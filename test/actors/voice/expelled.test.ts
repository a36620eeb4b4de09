// Sessions whose client does what nobody may go on doing: thrown out, and not back at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { voiceLimits } from '../../../actors/voice/limits.ts';
import { type FakeClient, untilAborted } from './fakes.ts';
import { stagesOfFile } from './stage.ts';

const open = stagesOfFile();

function misbehave(client: FakeClient): void {
  for (let count = 0; count < 4; count += 1) client.send('nonsense');
  assert.equal(client.of('error').at(-1)?.fatal, true);
}

test('it hears of it at once, of the end a moment later, and is not let in before', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  const begunMs = performance.now();
  misbehave(client);
  assert.equal(client.call?.closedMs, voiceLimits.lingerMs, 'the upstream is left at once');
  assert.deepEqual([client.ended, stage.places()], [null, 1]);
  const told = client.told.length;
  for (let count = 0; count < 1_000; count += 1) client.frame();
  client.send('nonsense');
  assert.equal(client.told.length, told, 'nobody listens any more');
  await stage.over(client);
  assert.ok(performance.now() - begunMs >= voiceLimits.expelledMs);
  assert.equal(client.told.at(-1)?.type, 'session.ended');
  assert.deepEqual([client.ended?.code, stage.places()], [1011, 0]);
});

test('who leaves by itself is not waited for, and neither is a server that stops', async () => {
  const stage = await open();
  const account = await stage.account();
  const gone = await stage.live(account);
  misbehave(gone);
  gone.leave();
  assert.equal(stage.places(), 0);
  await stage.over(gone);
  const last = await stage.live(account);
  misbehave(last);
  last.session.self.tell('giveUp', null);
  await stage.over(last);
  assert.equal(last.ended?.code, 1011);
});

test('what was said and done is told before a fatal error, only the end behind it', async () => {
  const stage = await open({ search: untilAborted });
  const account = await stage.account();
  const wrongs = [misbehave, ({ session }: FakeClient) => session.self.tell('withdraw', null)];
  for (const wrong of wrongs) {
    const client = await stage.live(account, { tools_enabled: true });
    const argumentsJson = '{"query":"news"}';
    client.call?.says(
      { type: 'tool_call', callId: 'c', name: 'web_search', argumentsJson },
      { type: 'transcript', role: 'assistant', itemId: 'a', text: 'One moment', final: false },
    );
    wrong(client);
    await stage.over(client);
    const fatal = client.told.findIndex((event) => 'fatal' in event && event.fatal === true);
    const types = client.told.map(({ type }) => type);
    assert.deepEqual(types.slice(fatal - 2), ['transcript', 'tool', 'error', 'session.ended']);
  }
});
