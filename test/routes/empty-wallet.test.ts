// An empty wallet is refused before what is dear is done for it. Nothing of it reaches the pool, a
// decoder, or the table of responses. A retry gets its answer all the same.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../runtime/ids.ts';
import type { TestAccount } from '../harness/account.ts';
import { wav } from '../harness/recordings.ts';
import { askResponses, endOf, responseBody } from '../harness/responses.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ own: 'it counts the rows of all accounts' });
  await bed.sql`CREATE TABLE written (generation_id text)`;
  await bed.sql.unsafe(`CREATE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO written VALUES (NEW.generation_id); RETURN NEW; END $$`);
  await bed.sql`CREATE TRIGGER written AFTER INSERT ON responses
    FOR EACH ROW EXECUTE FUNCTION note_written()`;
});
after(() => bed?.close());

async function writtenCount(): Promise<number> {
  const [row] = await bed.sql<{ count: number }[]>`SELECT count(*)::int AS count FROM written`;
  return row?.count ?? 0;
}

async function post(
  account: TestAccount,
  path: string,
  body: Members | FormData,
  key?: string,
): Promise<{ status: number; text: string; headers: Headers }> {
  const headers = {
    authorization: `Bearer ${account.apiKey}`,
    ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  };
  const sent = body instanceof FormData ? body : JSON.stringify(body);
  const reply = await fetch(bed.url + path, { method: 'POST', headers, body: sent });
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
}

function recording(bytes: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  form.set('model', 'svc-transcribe');
  form.set('file', new File([bytes], 'a.wav', { type: 'audio/wav' }));
  return form;
}

/** Takes all that a wallet has, until the hold is released. */
async function drain({ walletId, balance }: TestAccount): Promise<void> {
  const { availableMicros } = await balance();
  const owner = { kind: 'generation', id: newId('req', 0), instanceId: 'nobody' };
  const holdId = newId('hold', 0);
  const expiresAtMs = Date.now() + 600_000;
  const hold = { holdId, amountMicros: availableMicros, owner, expiresAtMs, claim: null };
  assert.equal((await bed.wallet(walletId, 'hold', hold)).status, 'held');
}

const schema = { type: 'thing', properties: { a: { pattern: 'a' } } };
const declared = { type: 'json_schema', name: 'x', schema };
const messages = [{ role: 'user', content: 'x' }];
const overWindow = [{ role: 'user', content: 'word '.repeat(400_000) }];
test('nothing dear is done for an empty wallet, on any route', async () => {
  const account = await bed.account({ micros: 0n });
  const format = { response_format: { ...declared, json_schema: declared } };
  const output_config = { format: { type: 'json_schema', schema } };
  const chat = '/v1/chat/completions';
  for (const [path, body] of [
    ...['svc-sim-chat', 'svc-intelligent'].flatMap((model): [string, Members][] => [
      [chat, { model, messages, ...format }],
      [chat, { model, messages: overWindow }],
      ['/v1/responses', { model, input: 'x', text: { format: declared } }],
      ['/api/v1/llm/responses', { model, input: 'x', text: { format: declared } }],
    ]),
    ['/v1/messages', { model: 'svc-sim-messages', max_tokens: 9, messages, output_config }],
    ['/v1/responses', { model: 'svc-sim-chat', input: 'x', previous_response_id: 'resp_0' }],
    [
      '/v1/responses',
      { model: 'svc-sim-chat', input: [{ type: 'item_reference', id: `msg_${'0'.repeat(28)}` }] },
    ],
    ['/v1/audio/transcriptions', recording(new Uint8Array(100_000))],
  ] as [string, Members | FormData][]) {
    const reply = await post(account, path, body);
    assert.equal(reply.status, 402, `${path} ${reply.text.slice(0, 300)}`);
    assert.ok(Number(reply.headers.get('x-svc-required-microcredits')) > 0);
    assert.equal(reply.headers.get('x-svc-available-microcredits'), '0');
  }
});

test('the same requests of a wallet with funds are looked at', async () => {
  const account = await bed.account();
  const format = { response_format: { ...declared, json_schema: declared } };
  const chat = { model: 'svc-sim-chat', messages, ...format };
  assert.equal((await post(account, '/v1/chat/completions', chat)).status, 400);
  const heard = await post(account, '/v1/audio/transcriptions', recording(new Uint8Array(1_000)));
  assert.equal(heard.status, 422);
  const body = { model: 'svc-sim-chat', input: 'x', previous_response_id: 'resp_0' };
  assert.equal((await post(account, '/v1/responses', body)).status, 404);
});

test('no response of an empty wallet is written, and each that is held for is', async () => {
  const [poor, account] = await Promise.all([bed.account({ micros: 0n }), bed.account()]);
  const before = await writtenCount();
  const large = responseBody('word '.repeat(20_000));
  for (let count = 0; count < 10; count += 1) {
    assert.equal((await askResponses(poor, '', large)).status, 402);
    const background = responseBody('x', { background: true });
    assert.equal((await askResponses(poor, '', background)).status, 402);
  }
  assert.equal(await writtenCount(), before);
  for (let count = 0; count < 3; count += 1) {
    const { status, body } = await askResponses(account, '', responseBody('hello'));
    assert.equal(status, 200);
    assert.equal((await askResponses(account, `/${body.id}`)).body.status, 'completed');
    const started = await askResponses(account, '', responseBody('x', { background: true }));
    assert.equal((await endOf(account, started.body.id)).status, 'completed');
  }
  assert.equal(await writtenCount(), before + 6);
});

test('a retry gets its answer with an empty wallet, a new request does not', async () => {
  const account = await bed.account();
  const form = recording(wav(1));
  const first = await post(account, '/v1/audio/transcriptions', form, 'heard');
  assert.equal(first.status, 200, first.text);
  const told = await askResponses(account, '', responseBody('hello'), { key: 'told' });
  const next = responseBody('and now?', { previous_response_id: told.body.id });
  assert.equal((await askResponses(account, '', next, { key: 'next' })).status, 200);
  await account.quiet();
  await drain(account);
  const again = await post(account, '/v1/audio/transcriptions', recording(wav(1)), 'heard');
  assert.deepEqual([again.status, again.text], [200, first.text]);
  const replayed = await askResponses(account, '', next, { key: 'next' });
  assert.deepEqual([replayed.status, replayed.body.svc_usage?.replayed], [200, true]);
  assert.equal((await post(account, '/v1/audio/transcriptions', form, 'new')).status, 402);
  assert.equal((await askResponses(account, '', next, { key: 'newer' })).status, 402);
});

test('credits that another process has granted count a moment later', async () => {
  const account = await bed.account({ micros: 0n });
  const hear = () => post(account, '/v1/audio/transcriptions', recording(wav(1)));
  assert.equal((await hear()).status, 402);
  const operationId = `test.later.${account.walletId}`;
  const grant = { operationId, amountMicros: 10_000_000n, expiresAtMs: null, note: 'test' };
  await bed.wallet(account.walletId, 'grant', { ...grant, kind: 'promotion' });
  await sleep(250);
  assert.equal((await hear()).status, 200);
});
