// POST /search/key: the page of a development server is lent a key that searches and nothing else.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract } from '../../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../../harness/testbed.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

const lend = (headers: Record<string, string>) =>
  fetch(`${bed.url}/search/key`, { method: 'POST', headers });

test('the key that is lent searches, and generates nothing', async () => {
  const reply = await lend({ origin: bed.url });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  const { api_key: key } = (await reply.json()) as { api_key: string };
  const headers = { 'x-api-key': key };
  const body = { surface: 'web_search', query: 'a lent key' };
  const found = await contract.call('POST', '/api/v1/query', { headers, body });
  assert.equal(found.status, 200, found.text);
  const models = await fetch(`${bed.url}/v1/models`, { headers });
  assert.equal(models.status, 403, await models.text());
});

test('a page of another site is lent nothing, nor a program without an origin', async () => {
  for (const headers of [{ origin: 'https://elsewhere.example' }, {}]) {
    const reply = await lend(headers as Record<string, string>);
    assert.equal(reply.status, 403, await reply.text());
  }
});
