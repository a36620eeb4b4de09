// Characters that PostgreSQL does not hold (NUL, halves of surrogate pairs): what people say to
// models carries them through everything; what names something is refused by its path.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { Contract, type Reply } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

type Members = Record<string, unknown>;

const nul = '\u0000';
const half = '\ud800';
let bed: Testbed;
let contract: Contract;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
  account = await bed.account();
});
after(() => bed?.close());

function ask(path: string, body: Members, key = account.apiKey): Promise<Reply> {
  return contract.call('POST', path, { headers: { authorization: `Bearer ${key}` }, body });
}

function read(path: string): Promise<Reply> {
  return contract.call('GET', path, { headers: { authorization: `Bearer ${account.apiKey}` } });
}

function administer(method: string, path: string, body?: unknown): Promise<Reply> {
  const headers = { 'x-svc-session': bed.dev.admin_session_token };
  return contract.call(method, path, { headers, ...(body === undefined ? {} : { body }) });
}

test('what is said to a model may have any character, in every format, also stored', async () => {
  const said = `a${nul}b${half}c [[sim tokens=2]]`;
  const messages = [{ role: 'user', content: said }];
  const bodies: [string, Members][] = [
    ['/v1/chat/completions', { messages }],
    ['/v1/responses', { input: said, instructions: nul, metadata: { note: nul } }],
    ['/v1/messages', { messages, max_tokens: 9, system: nul }],
    ['/v1/messages/count_tokens', { messages }],
    ['/api/v1/llm/responses', { input: said }],
  ];
  for (const model of ['svc-sim-chat', 'svc-sim-responses', 'svc-sim-messages', 'svc-sim-gemini']) {
    for (const [path, body] of bodies) {
      const whole = { ...body, model };
      const counts = path.endsWith('count_tokens');
      const named = counts ? whole : { ...whole, request_id: `${model}${path}` };
      const first = await ask(path, named);
      assert.equal(first.status, 200, `${model} ${path}: ${first.text}`);
      if (counts) continue;
      const again = await ask(path, named);
      assert.equal((again.json.svc_usage as Members).replayed, true, `${model} ${path}`);
      if (path !== '/v1/responses') continue;
      const stored = await read(`/v1/responses/${first.json.id as string}`);
      assert.equal(stored.json.instructions, nul);
      const items = await read(`/v1/responses/${first.json.id as string}/input_items`);
      assert.ok(items.text.includes('a\\u0000b\ufffdc'), items.text);
    }
  }
});

test('what names a request is one line of text, or refused by its path', async () => {
  for (const name of [nul, half, 'a\nb', '\u007f']) {
    for (const model of ['svc-sim-chat', 'svc-intelligent']) {
      for (const member of ['conversation_id', 'request_id']) {
        const reply = await ask('/v1/responses', { model, input: 'x', [member]: name });
        assert.equal(reply.status, 400, reply.text);
        assert.equal((reply.json.error as Members).param, member);
      }
    }
  }
  const spoken = 'Ünïcode 🧾 тест';
  const good = { model: 'svc-intelligent', input: 'x', conversation_id: spoken };
  assert.equal((await ask('/v1/responses', good)).status, 200);
});

test('no path and no query brings a NUL to the database', async () => {
  const paths = ['/v1/generations/%00', '/v1/responses/resp_%00'];
  for (const path of paths) {
    const reply = await read(path);
    assert.equal(reply.status, 400, path);
  }
  const administered = [
    '/api/admin/users/%00',
    '/api/admin/users?search=%00',
    '/api/admin/wallets/%00',
    '/api/admin/wallets/%00/ledger',
    '/api/admin/wallets?account_id=%00',
    '/api/admin/providers/%00',
    '/api/admin/audit?actor=%00',
    '/api/admin/audit?subject=%00',
  ];
  for (const path of administered) {
    const reply = await administer('GET', path);
    assert.equal(reply.status, 400, path);
    assert.match(reply.text, /NUL/, path);
  }
  const revoked = await administer('POST', '/api/me/api-keys/revoke', { api_key_id: nul });
  assert.equal(revoked.status, 400, revoked.text);
});

test('what administrators write is one line of text, or refused by its path', async () => {
  const price = { input_per_million: '1', output_per_million: '1' };
  const routes = [{ provider: 'simulator', upstream_model: 'x' }];
  const provider = { name: 'odd', family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' };
  const grant = { operation_id: 'odd', amount_microcredits: 1 };
  for (const odd of [`a${nul}`, `a${half}`, 'a\nX-Evil: b']) {
    const bodies: [string, Members, string][] = [
      ['/api/admin/providers', { ...provider, api_key: odd }, 'api_key'],
      ['/api/admin/providers', { ...provider, base_url: `http://a/${odd}` }, 'base_url'],
      ['/api/admin/models', { alias: 'odd', display_name: odd, routes, price }, 'display_name'],
      [
        '/api/admin/models',
        { alias: 'odd', routes: [{ provider: 'simulator', upstream_model: odd }], price },
        'routes[0].upstream_model',
      ],
      ['/api/admin/providers/simulator/test', { upstream_model: odd }, 'upstream_model'],
      [`/api/admin/wallets/${account.walletId}/grants`, { ...grant, note: odd }, 'note'],
      [`/api/admin/users/${account.accountId}/keys`, { label: odd }, 'label'],
      ['/api/me/api-keys', { label: odd }, 'label'],
    ];
    for (const [path, body, field] of bodies) {
      const reply = await administer('POST', path, body);
      const { details, message } = reply.json.error as { details: Members; message: string };
      assert.deepEqual([reply.status, details.path], [400, field], `${path}: ${reply.text}`);
      assert.match(message, /expected (one line of text|visible ASCII|an http or https URL)/);
    }
  }
});
