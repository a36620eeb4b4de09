// How apps say who they are: both places, their encodings, and what is nobody's word.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { isAuthentic, readClient } from '../../../actors/oauth/client-secret.ts';
import { fc } from '../../harness/properties.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test('a public client is its name, and an empty secret is none', () => {
  const named = { clientId: 'svc-cli', secret: null };
  assert.deepEqual(readClient(undefined, { client_id: 'svc-cli' }), named);
  assert.deepEqual(readClient(undefined, { client_id: 'svc-cli', client_secret: '' }), named);
  assert.deepEqual(readClient(basic('svc-cli:'), {}), named);
});

test('a secret stands in the header or in the form', () => {
  const shown = { clientId: 'web', secret: 'x' };
  assert.deepEqual(readClient(undefined, { client_id: 'web', client_secret: 'x' }), shown);
  assert.deepEqual(readClient(basic('web:x'), {}), shown);
  assert.deepEqual(readClient(basic('web:x'), { client_id: 'web' }), shown);
  assert.deepEqual(readClient(basic('web:x').replace('Basic', 'bAsIc'), {}), shown);
});

test('whoever says it twice, or otherwise, has said nothing', () => {
  const refused = [
    readClient(undefined, {}),
    readClient(basic('web:x'), { client_secret: 'x' }),
    readClient(basic('web:x'), { client_id: 'web', client_secret: 'x' }),
    readClient(basic('web:x'), { client_id: 'other' }),
    readClient(basic('web'), {}),
    readClient(basic(':x'), {}),
    readClient(basic('web:%zz'), {}),
    readClient('Basic', { client_id: 'web' }),
    readClient('Basic !!!', { client_id: 'web' }),
  ];
  for (const shown of refused) assert.equal(shown, null);
  const other = readClient('Bearer svc_at_1', { client_id: 'web' });
  assert.deepEqual(other, { clientId: 'web', secret: null });
});

test('both parts of the header are decoded as in a form', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string(), (id, secret) => {
      const encoded = (text: string) => new URLSearchParams({ t: text }).toString().slice(2);
      const shown = readClient(basic(`${encoded(id)}:${encoded(secret)}`), {});
      assert.deepEqual(shown, { clientId: id, secret: secret === '' ? null : secret });
    }),
  );
});

test('any header and form is read or refused', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (header, id, secret) => {
      readClient(header, { client_id: id, client_secret: secret });
      readClient(basic(header), { client_id: id });
    }),
  );
});

test('a confidential client shows a secret that is good, the former one until its time', () => {
  const secret = (text: string, untilMs: number | null) => ({
    hash: hash('sha256', text, 'base64'),
    untilMs,
  });
  const client = {
    type: 'confidential',
    secrets: [secret('new', null), secret('former', 1_000)],
  } as const;
  assert.equal(isAuthentic(client, 'new', 2_000), true);
  assert.equal(isAuthentic(client, 'former', 999), true);
  assert.equal(isAuthentic(client, 'former', 1_000), false);
  assert.equal(isAuthentic(client, 'other', 999), false);
  assert.equal(isAuthentic(client, null, 999), false);
  assert.equal(isAuthentic({ type: 'confidential', secrets: [] }, 'new', 0), false);
});

test('a public client has no secret', () => {
  const client = { type: 'public', secrets: [] } as const;
  assert.equal(isAuthentic(client, null, 0), true);
  assert.equal(isAuthentic(client, 'x', 0), false);
});
