// Exact models and what is in a request that they cannot take: refused by its path, for nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask, type Format } from '../../harness/formats.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

const model = 'svc-sim-chat';
let bed: Testbed;

before(async () => {
  bed = await openTestbed({ shards: 1 });
});

after(async () => {
  await bed.close();
});

test('a model that hears nothing names the sound where the client has put it', async () => {
  const account = await bed.account();
  const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
  const user = { role: 'user', content: 'hi' };
  const spoken = { role: 'user', content: [{ type: 'text', text: 'what is said' }, sound] };
  const words = { role: 'user', content: [{ type: 'input_text', text: 'what is said' }, sound] };
  const cases: [Format, Record<string, unknown>, string][] = [
    ['chat', { messages: [user, spoken] }, 'messages[1].content'],
    ['responses', { input: [words] }, 'input[0].content'],
    ['responses', { input: null, messages: [user, words] }, 'messages[1].content'],
    ['legacy', { input: [user, words] }, 'input[1].content'],
  ];
  for (const [format, members, path] of cases) {
    for (const stream of [false, true]) {
      const told = await ask(format, account, { model, text: '', members: { ...members, stream } });
      assert.equal(told.status, 400, told.raw);
      assert.match(told.raw, /The model takes no audio/);
      const { param, details } = told.error as { param?: string; details?: { path: string } };
      assert.equal(param ?? details?.path, path, told.raw);
    }
  }
  assert.equal((await account.balance()).heldMicros, 0n);
});
