// Leaving before the first word stays free. A key that leaves nearly all of very much has to wait.
// One that pays for a part of it need not, nor does an editor that aborts its completions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { askChat, openChat } from '../harness/chat.ts';
import { eventually } from '../harness/chat-call.ts';
import { freePort } from '../harness/port.ts';
import { askResponses, responseBody } from '../harness/responses.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

/** As many tokens as an editor sends with each completion. */
const editorTokens = 4_000;
const editorText = 'word '.repeat(editorTokens);
/** Forty of these are over the two millions of a minute. */
const longText = editorText.repeat(12);
const manyCount = 40;
const never = '[[sim first_ms=60000]]';

let bed: Testbed;
let metricsUrl: string;
before(async () => {
  const port = await freePort();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  bed = await openTestbed({
    env: { TOLLGATE_METRICS_PORT: `${port}` },
  });
  // The gateway is ready before it listens here.
  await eventually(
    () =>
      fetch(metricsUrl).then(
        ({ ok }) => ok,
        () => false,
      ),
    'metrics',
  );
});
after(() => bed?.close());

/** Leaves so many completions before their first word, once the provider has them all. */
async function abort(account: TestAccount, count: number, text: string): Promise<void> {
  await bed.simulator.reset();
  const controller = new AbortController();
  const { signal } = controller;
  const asked = Array.from({ length: count }, () =>
    openChat(account, `${text}${never}`, {}, { signal }).catch(() => null),
  );
  await bed.simulator.expect({ open: count });
  controller.abort();
  await Promise.all(asked);
  await bed.simulator.expect({ open: 0 });
  await account.quiet();
}

async function givenAway(): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('tollgate_given_away_input_tokens_total{'));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

test('an editor that aborts 60 completions a minute is never refused', async () => {
  const editor = await bed.account();
  const { availableMicros } = await editor.balance();
  const before = await givenAway();
  for (let round = 0; round < 6; round += 1) {
    await abort(editor, 10, editorText);
    assert.equal((await askChat(editor, 'hello')).status, 200, `after ${round * 10 + 10}`);
  }
  const { availableMicros: left } = await editor.quiet();
  // One of those that were aborted would have cost a million.
  assert.ok(availableMicros - left < 200_000n, 'what was aborted is free');
  const counted = (await givenAway()) - before;
  const sent = 60 * editorTokens;
  assert.ok(counted > 0.8 * sent && counted < 1.3 * sent, `${counted} of ${sent} tokens`);
});

test('a key that leaves too much and pays too little has to wait, another one not', async () => {
  const account = await bed.account();
  assert.equal((await askChat(account, 'kept', {}, { key: 'kept' })).status, 200);
  await abort(account, manyCount, longText);
  const refused = await askChat(account, 'hello');
  assert.equal(refused.status, 429);
  assert.equal(refused.body.error?.code, 'rate_limited');
  const seconds = Number(refused.headers.get('retry-after'));
  assert.ok(seconds >= 1 && seconds <= 70, `${seconds} s`);
  const background = await askResponses(account, '', responseBody('hi', { background: true }));
  assert.equal(background.status, 429);
  const replayed = await askChat(account, 'kept', {}, { key: 'kept' });
  assert.deepEqual([replayed.status, replayed.body.svc_usage.replayed], [200, true]);
  const other = await bed.account();
  assert.equal((await askChat(other, 'hello')).status, 200);
});

test('a key that pays for a tenth of it may go on', async () => {
  const account = await bed.account();
  for (let count = 0; count < 6; count += 1) {
    assert.equal((await askChat(account, longText)).status, 200);
  }
  await abort(account, manyCount, longText);
  assert.equal((await askChat(account, 'hello')).status, 200);
});

test('cancels before the first word count as well', async () => {
  const account = await bed.account({ micros: 2_000_000_000n });
  await bed.simulator.reset();
  const started = await Promise.all(
    Array.from({ length: manyCount }, () =>
      askResponses(account, '', responseBody(`${longText}${never}`, { background: true })),
    ),
  );
  await bed.simulator.expect({ open: manyCount });
  for (const { body } of started) {
    assert.equal((await askResponses(account, `/${body.id}/cancel`, {})).status, 200);
  }
  assert.equal((await askChat(account, 'hello')).status, 429);
});
