// Providers so quick that one read brings many deltas, each shorter than a token: no more of
// them goes out than the hold covers, however the reads are cut.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, post } from '../../harness/formats.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

const sliceTokens = 16;

/** Deltas of each write. */
let provider: ScriptedServer<readonly number[]>;
let bed: Testbed;
before(async () => {
  provider = await startScriptedServer<readonly number[]>([], (writes, { response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void (async () => {
      for (const count of writes) {
        response.write(letter.repeat(count));
        await sleep(60);
      }
      response.end('data: [DONE]\n\n');
    })();
  });
  bed = await openTestbed({
    shards: 1,
    env: { TOLLGATE_SLICE_TOKENS: String(sliceTokens) },
    catalog: {
      providers: [{ name: 'quick', family: 'openai-chat', base_url: provider.url, api_key: 'k' }],
      models: [
        {
          alias: 'm-quick',
          routes: [{ provider: 'quick', upstream_model: 'up' }],
          price: { input_per_million: '2', output_per_million: '10' },
          capabilities: ['chat'],
        },
      ],
    },
  });
});
after(async () => {
  await bed?.close();
  provider?.close();
});

const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'a' } }] };
const letter = `data: ${JSON.stringify(chunk)}\n\n`;
const question = { model: 'm-quick', text: 'hi', stream: true };

for (const writes of [[40], [12, 12, 12], [1, 1, 1, 1, 40], [15, 2], [16], [17]]) {
  test(`deltas that come as ${writes.join(', ')} end with the hold`, async () => {
    provider.behaviour = writes;
    const poor = await post('chat', await bed.account({ micros: 1n }), question);
    assert.equal(poor.status, 402);
    const required = BigInt(poor.headers.get('x-svc-required-microcredits') ?? '0');
    const account = await bed.account({ micros: required });
    const told = await ask('chat', account, question);
    const count = writes.reduce((sum, each) => sum + each, 0);
    const deltas = told.raw.split('"content":"a"').length - 1;
    assert.equal(deltas, Math.min(count, sliceTokens), told.raw);
    assert.equal(told.svcUsage?.credits_exhausted, count > sliceTokens);
  });
}
