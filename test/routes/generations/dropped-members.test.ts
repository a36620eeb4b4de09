// `x-svc-dropped-members` names what the provider was not told, however the answer is asked for.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

const header = 'x-svc-dropped-members';

async function ask(
  path: string,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<{ status: number; dropped: string | null }> {
  const response = await fetch(`${bed.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${account.apiKey}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  await response.text();
  return { status: response.status, dropped: response.headers.get(header) };
}

const messages = [{ role: 'user', content: '[[sim tokens=2 first_ms=50]]' }];
const asked = { model: 'svc-sim-chat', messages, temperature: 0.5, plugins: [1], route: 'x' };

test('an answer names what was dropped, whole, streamed and attached to', async () => {
  for (const stream of [false, true]) {
    const told = await ask('/v1/chat/completions', { ...asked, stream });
    assert.deepEqual(told, { status: 200, dropped: 'plugins, route' });
  }
  // Long enough that the second one finds it running, however busy the machine is.
  const content = '[[sim tokens=2 first_ms=3000]]';
  const slow = { ...asked, messages: [{ role: 'user', content }] };
  const key = { 'idempotency-key': 'dropped-members' };
  const both = await Promise.all([
    ask('/v1/chat/completions', slow, key),
    ask('/v1/chat/completions', { ...slow, stream: true }, key),
  ]);
  for (const { status } of both) assert.equal(status, 200);
  assert.ok(both.every(({ dropped }) => dropped === 'plugins, route'));
});

test('members of another format are named, and nothing is where nothing was dropped', async () => {
  const base = { model: 'svc-sim-messages', messages };
  const chat = await ask('/v1/chat/completions', { ...base, logit_bias: { 1: 1 }, top_p: 0.5 });
  assert.deepEqual(chat, { status: 200, dropped: 'logit_bias' });
  const own = await ask('/v1/messages', { ...base, max_tokens: 9, speed: 'fast', newest: true });
  assert.deepEqual(own, { status: 200, dropped: 'speed, newest' });
  const plain = await ask('/v1/messages', { ...base, max_tokens: 9, temperature: 0.5 });
  assert.deepEqual(plain, { status: 200, dropped: null });
});

test('names are bounded, and in characters that a header may have', async () => {
  const odd = Object.fromEntries([
    ['имя', 1],
    ['a, b\r\nx-evil: 1', 1],
    ['\ud800', 1],
    ['l'.repeat(5_000), 1],
    ...Array.from({ length: 100 }, (_, index) => [`member_${index}`, 1]),
  ]) as Record<string, number>;
  const { status, dropped } = await ask('/v1/chat/completions', { ...asked, ...odd });
  assert.equal(status, 200);
  assert.match(dropped ?? '', /^[\w%., -]{1,3000}$/);
  assert.ok(dropped?.includes(encodeURIComponent('имя')));
  assert.equal(dropped?.split(', ').length, 32);
});
