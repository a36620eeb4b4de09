// A managed route whose models have lost their providers: what its callers are told.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask } from '../../harness/formats.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, makeRecord, openAdminApi } from './admin-api.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let adminApi: AdminApi;
before(async () => {
  bed = await openTestbed({ own: 'it changes the catalog' });
  adminApi = await openAdminApi(bed);
});
after(() => bed?.close());

const upstream_model = 'simulated-chat-large-2026-01-15';

const make = (kind: string, body: Members) => makeRecord(adminApi, kind, body);

function model(alias: string, provider: string, more: Members): Members {
  const price = { input_per_million: '2.50', output_per_million: '10.00' };
  return { alias, routes: [{ provider, upstream_model }], price, ...more };
}

test('a route tells that nobody is there to run it; no policy is blamed', async () => {
  const account = await bed.account();
  const base_url = `${bed.dev.simulator_url}/v1`;
  await make('providers', { name: 'gone', family: 'openai-chat', base_url, simulated: true });
  await make('models', model('able', 'gone', { capabilities: ['chat', 'tools'] }));
  await make('models', model('plain', 'simulator', { context_window: 400 }));
  await make('routes', { alias: 'nobody', pool: [{ model: 'able' }] });
  await make('routes', {
    alias: 'somebody',
    pool: [{ model: 'able', quality: 90 }, { model: 'plain' }],
  });
  await adminApi('POST', '/providers/gone/disable');
  const about = (model: string, members = {}) =>
    ask('chat', account, { model, text: 'hi', members });
  const refused = await about('nobody');
  assert.deepEqual([refused.status, refused.error?.code], [503, 'no_route_available']);
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  const incapable = await about('somebody', { tools });
  assert.deepEqual([incapable.status, incapable.error?.code], [400, 'invalid_request']);
  const long = await ask('chat', account, { model: 'somebody', text: 'word '.repeat(500) });
  assert.equal(long.error?.code, 'context_length_exceeded');
  assert.match(long.error?.message ?? '', /maximum context length is 400 tokens/);
  const { svcRouting } = await about('somebody');
  assert.deepEqual(
    [svcRouting?.selected_model, svcRouting?.decision_category],
    ['plain', 'quality'],
  );
  await account.quiet();
});
