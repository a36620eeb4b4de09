// The WebSocket and the compaction of this format are not there yet: they are refused in a way that
// clients go on from.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import WebSocket from 'ws';
import type { TestAccount } from '../../harness/account.ts';
import { callResponses } from '../../harness/responses.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

interface Refusal {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  error: Record<string, unknown>;
}

/** How a handshake is refused. */
async function handshake(path: string, apiKey: string): Promise<Refusal> {
  const socket = new WebSocket(`${account.baseUrl.replace('http', 'ws')}${path}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  let text = '';
  for await (const chunk of reply) text += chunk;
  const { error } = JSON.parse(text) as Pick<Refusal, 'error'>;
  return { status: reply.statusCode ?? 0, headers: reply.headers, error };
}

test('a WebSocket of responses is refused by 426, in the envelope', async () => {
  for (const path of ['/v1/responses', '/api/v1/responses']) {
    const { status, headers, error } = await handshake(path, account.apiKey);
    assert.equal(status, 426);
    assert.equal(headers.upgrade, 'websocket');
    assert.equal(error.code, 'upgrade_required');
    assert.equal(error.type, 'invalid_request_error');
    assert.equal(error.param, null);
  }
  assert.equal((await handshake('/v1/responses', 'none')).status, 401);
});

test('a plain GET of the path is the wrong method, and a POST still generates', async () => {
  const plain = await callResponses(account, '');
  assert.equal(plain.status, 405);
  assert.equal(plain.headers.get('allow'), 'POST, OPTIONS');
  const body = { model: 'svc-sim-chat', input: '[[sim tokens=1]]' };
  assert.equal((await callResponses(account, '', body)).status, 200);
});

test('compaction has a refusal of its own, and a body without a model another', async () => {
  const refused = async (body: Record<string, unknown>) => {
    const reply = await callResponses(account, '/compact', body);
    const { error } = (await reply.json()) as { error: { code: string; param: string | null } };
    return [reply.status, error.code, error.param, reply.headers.get('x-should-retry')];
  };
  const input = [{ type: 'message', role: 'user', content: 'hello' }];
  const known = { model: 'svc-sim-chat', input };
  assert.deepEqual(await refused(known), [400, 'not_available', null, 'false']);
  assert.deepEqual(await refused({ input }), [400, 'invalid_request', 'model', null]);
});
