// Every format of clients times every family of upstreams times the table of cases, through a real
// gateway over the simulator: the answer, streamed and whole, its price, and the wallet.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { ask } from './ask.ts';
import { type Case, cases } from './cases.ts';
import { type Pair, Play, simulatedPrices, type UpstreamFamily } from './play.ts';
import { type ScriptedUpstream, scriptedCalls, scriptedText, startScripted } from './scripted.ts';
import { families, formats } from './table.ts';

// slow: It runs each client format against each provider family.

/** Upstreams that write calls in turns. */
const scriptedFamilies: readonly UpstreamFamily[] = [
  { name: 'chat', model: 'scripted-chat', refusesInWords: true },
  { name: 'responses', model: 'scripted-responses', refusesInWords: true },
];

let bed: Testbed;
let scripted: ScriptedUpstream;
before(async () => {
  scripted = await startScripted();
  const names = scriptedFamilies.map(({ name }) => name);
  bed = await openTestbed({
    catalog: {
      providers: names.map((name) => ({
        name,
        family: `openai-${name}`,
        base_url: scripted.url,
        simulated: true,
      })),
      models: names.map((name) => ({
        alias: `scripted-${name}`,
        routes: [{ provider: name, upstream_model: 'scripted' }],
        price: simulatedPrices,
        capabilities: ['chat', 'tools'],
      })),
    },
  });
});
after(async () => {
  await bed?.close();
  await scripted?.close();
});

async function run(pair: Pair, { run: play }: Case): Promise<void> {
  const account = await bed.account();
  const { availableMicros } = await account.balance();
  const stage = new Play(pair, account);
  await play(stage);
  await stage.close(availableMicros);
}

for (const format of formats) {
  for (const family of families) {
    const pair = { format, family };
    const rows = cases.filter((row) => row.fits?.(pair) ?? true);
    test(`${format.name} in, ${family.name} out`, { concurrency: 8 }, async (t) => {
      await Promise.all(rows.map((row) => t.test(row.name, () => run(pair, row))));
    });
  }
}

const turns: Case = {
  name: 'calls written in turns',
  async run(play) {
    const request = ask('do both', { tools: ['find', 'list'] });
    const outcome = await play.answer(request, { input: 7, output: 9 });
    assert.equal(outcome.text, scriptedText);
    assert.equal(outcome.finish, 'tool_calls');
    const calls = outcome.calls.map(({ name, arguments: text }) => [name, JSON.parse(text)]);
    assert.deepEqual(
      calls,
      scriptedCalls.map(({ name, arguments: text }) => [name, JSON.parse(text)]),
    );
  },
};

for (const format of formats) {
  for (const family of scriptedFamilies) {
    test(`${format.name} in, ${family.name} out: ${turns.name}`, () =>
      run({ format, family }, turns));
  }
}

test('the books balance after all of it', async () => {
  const findings = await auditLedger(bed.sql);
  assert.deepEqual(
    findings.filter(({ broken }) => broken > 0n),
    [],
  );
});
