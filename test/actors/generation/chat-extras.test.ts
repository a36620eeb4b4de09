// What servers of the Chat format say in members of their own alone, such as thinking in
// `reasoning_details` or pictures: its client is shown it, so it is an answer that has begun.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, post } from '../../harness/formats.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

/** What comes 300 ms after the thinking. */
type Then = 'answer' | 'cut';

/** 10 tokens in and 30 out. */
const chargeMicros = 10n * 210n + 30n * 1_050n;
const price = { input_per_million: '2', output_per_million: '10' };

let first: ScriptedServer<Then>;
let second: ScriptedServer<Then>;
let bed: Testbed;

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c', choices })}\n\n`;
}

const usage = { prompt_tokens: 10, completion_tokens: 30, total_tokens: 40 };
const end = `${chunk({}, 'stop')}data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\n`;

function startThinker(name: string): Promise<ScriptedServer<Then>> {
  return startScriptedServer<Then>('answer', (then, { response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant', content: '' }));
    const thought = { type: 'reasoning.text', index: 0, text: `thought of the ${name}` };
    response.write(chunk({ reasoning_details: [thought] }));
    setTimeout(() => {
      if (then === 'cut') response.destroy();
      else response.end(`${chunk({ content: `said by the ${name}` })}${end}data: [DONE]\n\n`);
    }, 300);
  });
}

before(async () => {
  first = await startThinker('first');
  second = await startThinker('second');
  const servers = { first, second };
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: Object.entries(servers).map(([name, { url }]) => ({
        name,
        family: 'openai-chat',
        base_url: url,
      })),
      models: ['left', 'cut', 'foreign'].map((alias) => ({
        alias,
        routes: Object.keys(servers).map((provider) => ({ provider, upstream_model: alias })),
        price,
      })),
    },
  });
});
after(async () => {
  await bed?.close();
  first?.close();
  second?.close();
});

test('who leaves while the model thinks has begun to be answered, and pays', async () => {
  const account = await bed.account();
  const { availableMicros } = await account.balance();
  const control = new AbortController();
  const { signal } = control;
  const question = { model: 'left', text: 'x', stream: true, key: 'left', signal };
  const reader = (await post('chat', account, question)).body?.getReader();
  assert.ok(reader !== undefined);
  let told = '';
  while (!told.includes('thought of the first')) {
    told += Buffer.from((await reader.read()).value ?? []).toString();
  }
  control.abort();
  await sleep(100);
  assert.equal((await account.quiet()).availableMicros, availableMicros - chargeMicros);
  const again = await ask('chat', account, { model: 'left', text: 'x', key: 'left' });
  assert.equal(again.text, 'said by the first');
  assert.equal(again.svcUsage?.replayed, true);
});

test('no other route goes on behind thinking that was shown', async () => {
  const account = await bed.account();
  first.first = ['cut'];
  const told = await ask('chat', account, { model: 'cut', text: 'x', stream: true });
  assert.match(told.raw, /thought of the first/);
  assert.doesNotMatch(told.raw, /by the second/);
  assert.equal(told.error?.code, 'upstream_error', told.raw);
});

test('a client of another format was shown nothing: the next route answers', async () => {
  const account = await bed.account();
  first.first = ['cut'];
  const told = await ask('messages', account, { model: 'foreign', text: 'x', stream: true });
  assert.equal(told.text, 'said by the second', told.raw);
});
