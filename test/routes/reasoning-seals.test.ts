// Reasoning on its way through clients to the provider that wants it back. Nobody reads it, and it
// is taken from the account that got it alone, under the key of now and the key before.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { NativeValue } from '../../media/model/events.ts';
import { createSeals, type Seals } from '../../media/model/seals.ts';
import { createSealer } from '../../runtime/seal.ts';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

type Members = Record<string, unknown>;

const newKey = () => randomBytes(32).toString('base64url');
const secret = newKey();
const previous = newKey();
const model = 'svc-sim-responses';

let bed: Testbed;
let account: TestAccount;
let other: TestAccount;
before(async () => {
  const env = { TOLLGATE_SECRET: secret, TOLLGATE_SECRET_PREVIOUS: previous };
  bed = await openTestbed({ env });
  account = await bed.account();
  other = await bed.account();
});
after(() => bed?.close());

function sealsUnder(masterKey: string, { accountId }: TestAccount): Seals {
  return createSeals({
    sealer: createSealer(masterKey),
    previousSealer: null,
    unboundUntilMs: () => 0,
    clock: Date.now,
    openedMax: 10,
    refused: (fault) => assert.fail(fault),
  })(accountId);
}

async function post(path: string, body: object, by = account, headers = {}): Promise<Members> {
  const { apiKey } = by;
  const reply = await fetch(bed.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  assert.equal(reply.status, 200, text);
  return JSON.parse(text) as Members;
}

const asked = {
  model,
  input: '[[sim reasoning=4 tokens=2]]',
  include: ['reasoning.encrypted_content'],
  reasoning: { effort: 'low', summary: 'auto' },
};

/** The reasoning item of a response. */
function reasoningOf({ output }: Members): Members & { encrypted_content: string } {
  const item = (output as Members[]).find(({ type }) => type === 'reasoning');
  assert.ok(item !== undefined);
  return item as Members & { encrypted_content: string };
}

/** The reasoning that the provider gets back when the item comes with this seal. */
async function told(item: Members, sealed: string, by = account): Promise<Members | undefined> {
  const reasoning = { ...item, encrypted_content: sealed };
  const said = { type: 'message', role: 'assistant', content: 'so' };
  const input = [{ role: 'user', content: 'a' }, reasoning, said, { role: 'user', content: 'b' }];
  await post('/v1/responses', { model, input }, by);
  const sent = await bed.simulator.lastBody();
  assert.doesNotMatch(JSON.stringify(sent), /svc1\./);
  return (sent.input as Members[]).find(({ type }) => type === 'reasoning');
}

function withCharacter(text: string, at: number): string {
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
}

test('reasoning is sealed for its account, and told alike on replay and read', async () => {
  const key = { 'idempotency-key': 'sealed-1' };
  const first = await post('/v1/responses', asked, account, key);
  const item = reasoningOf(first);
  const sealed = item.encrypted_content;
  const content = sealsUnder(secret, account).open(sealed);
  assert.equal(content?.format, 'responses');
  const plain = JSON.stringify(content?.value.encrypted_content).slice(1, -1);
  assert.ok(!Buffer.from(sealed.slice(5), 'base64url').includes(plain));
  const replayed = await post('/v1/responses', asked, account, key);
  assert.equal(reasoningOf(replayed).encrypted_content, sealed);
  const read = await fetch(`${bed.url}/v1/responses/${first.id}`, {
    headers: { authorization: `Bearer ${account.apiKey}` },
  });
  assert.equal(reasoningOf((await read.json()) as Members).encrypted_content, sealed);

  const back = await told(item, sealed);
  assert.deepEqual(
    { id: back?.id, encrypted_content: back?.encrypted_content },
    content?.value,
    'the provider gets its own',
  );
  assert.equal(await told(item, sealed, other), undefined, 'from another account');
  for (const at of [6, 20, sealed.length - 1]) {
    assert.equal(await told(item, withCharacter(sealed, at)), undefined, `altered at ${at}`);
  }
  assert.equal(await told(item, sealed.slice(0, -4)), undefined, 'cut');
});

test('a continued response brings its reasoning along', async () => {
  const first = await post('/v1/responses', asked);
  const next = { model, input: '[[sim tokens=1]]', previous_response_id: first.id };
  await post('/v1/responses', next);
  const sent = (await bed.simulator.lastBody()).input as Members[];
  const content = sealsUnder(secret, account).open(reasoningOf(first).encrypted_content);
  const found = sent.find(({ type }) => type === 'reasoning');
  assert.equal(found?.encrypted_content, content?.value.encrypted_content);
  const named = { type: 'item_reference', id: reasoningOf(first).id };
  const said = { type: 'message', role: 'assistant', content: 'so' };
  await post('/v1/responses', { model, input: [named, said, { role: 'user', content: 'b' }] });
  const again = (await bed.simulator.lastBody()).input as Members[];
  assert.deepEqual(
    again.find(({ type }) => type === 'reasoning')?.encrypted_content,
    content?.value.encrypted_content,
  );
});

test('the master key before opens what it sealed; a key that is gone does not', async () => {
  const item = reasoningOf(await post('/v1/responses', asked));
  const content = sealsUnder(secret, account).open(item.encrypted_content) as NativeValue;
  const before = await told(item, sealsUnder(previous, account).seal(content));
  assert.equal(before?.encrypted_content, content.value.encrypted_content);
  assert.equal(await told(item, sealsUnder(previous, other).seal(content)), undefined);
  assert.equal(await told(item, sealsUnder(newKey(), account).seal(content)), undefined);
});

test('a client of Messages carries it in the signature, under the same rules', async () => {
  const thinking = { type: 'enabled', budget_tokens: 1_024 };
  const first = [{ role: 'user', content: '[[sim reasoning=3 tokens=2]]' }];
  const body = { model, max_tokens: 4_000, messages: first, thinking };
  const { content } = await post('/v1/messages', body);
  const [thought] = content as Members[];
  const sealed = String(thought?.signature);
  assert.ok(sealsUnder(secret, account).open(sealed) !== null);
  for (const [signature, by, isTaken] of [
    [sealed, account, true],
    [withCharacter(sealed, 30), account, false],
    [sealed, other, false],
  ] as const) {
    const answer = [
      { ...thought, signature },
      { type: 'text', text: 'so' },
    ];
    const last = { role: 'user', content: '[[sim tokens=1]]' };
    const messages = [...first, { role: 'assistant', content: answer }, last];
    await post('/v1/messages', { ...body, messages }, by);
    const sent = JSON.stringify(await bed.simulator.lastBody());
    assert.equal(sent.includes('"encrypted_content"'), isTaken);
    assert.ok(!sent.includes('svc1.'));
  }
});

test('seals of the build before count for 30 days from the first start of this one', async () => {
  const item = reasoningOf(await post('/v1/responses', asked));
  const { format, value } = sealsUnder(secret, account).open(item.encrypted_content) as NativeValue;
  const unbound = (content: unknown) =>
    `svc1.${Buffer.from(JSON.stringify(content)).toString('base64url')}`;
  const back = await told(item, unbound([format, value]));
  assert.equal(back?.encrypted_content, value.encrypted_content);
  assert.equal(await told(item, unbound([format, { ...value, status: 'completed' }])), undefined);
  await bed.sql`UPDATE seals SET bound_since = now() - interval '30 days 1 second'`;
  await bed.gateway.killMain();
  assert.equal(await told(item, unbound([format, value])), undefined);
});
