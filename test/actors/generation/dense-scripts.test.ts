// Answers in scripts of which a character is about a token, in deltas of many characters: what is
// delivered is covered by the hold as with any other text.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../../harness/formats.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

const sentence = '人工智能正在改变我们的生活方式和工作方法';
const deltasCount = 40;
const deltaText = sentence.repeat(5);
/** As its provider counts it: 4,000 characters. */
const usage = { prompt_tokens: 2, completion_tokens: 2_800, total_tokens: 2_802 };
/** Microcredits a token: dollars a million × 100 credits × 5 %. */
const tokenMicros = 1_050n;

let provider: ScriptedServer<null>;
let bed: Testbed;

function chunk(members: object): string {
  return `data: ${JSON.stringify({ id: 'c', ...members })}\n\n`;
}

before(async () => {
  provider = await startScriptedServer<null>(null, async (_behaviour, { response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let sent = 0; sent < deltasCount; sent += 1) {
      response.write(chunk({ choices: [{ index: 0, delta: { content: deltaText } }] }));
      await sleep(5);
    }
    response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
    response.end(`${chunk({ choices: [], usage })}data: [DONE]\n\n`);
  });
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: [{ name: 'provider', family: 'openai-chat', base_url: provider.url }],
      models: [
        {
          alias: 'chinese',
          routes: [{ provider: 'provider', upstream_model: 'chinese' }],
          price: { input_per_million: '10', output_per_million: '10' },
        },
      ],
    },
  });
});
after(async () => {
  await bed?.close();
  provider?.close();
});

const question = { model: 'chinese', text: 'x', stream: true };

test('a wallet of one slice does not get three', async () => {
  const micros = 1_100n * tokenMicros;
  const account = await bed.account({ micros });
  const told = await ask('chat', account, question);
  assert.equal(told.svcUsage?.credits_exhausted, true, told.raw.slice(-500));
  assert.ok(told.text.length > 1_000 && told.text.length < 2_000, `${told.text.length} characters`);
  await account.quiet();
  const shortfalls = await bed.sql`SELECT 1 FROM ledger
    WHERE wallet_id = ${account.walletId} AND shortfall_micros <> 0`;
  assert.equal(shortfalls.length, 0);
});

test('one that can pay for all of it does, by the report', async () => {
  const account = await bed.account();
  const { availableMicros } = await account.balance();
  const told = await ask('chat', account, question);
  assert.equal(told.text.length, deltasCount * deltaText.length);
  const charge = 2_802n * tokenMicros;
  assert.equal(BigInt(told.svcUsage?.charge_microcredits ?? 0), charge);
  assert.equal((await account.quiet()).availableMicros, availableMicros - charge);
});
