// Client id metadata documents: which URLs may be one, what they may say, and how long they are
// kept. The guard that fetches them has tests of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDocumentUrl, readDocument } from '../../../actors/oauth/document.ts';
import { createClientDocuments } from '../../../actors/oauth/documents.ts';
import { documentLimits } from '../../../actors/oauth/limits.ts';
import type { OutboundReply } from '../../../runtime/outbound/contract.ts';
import { fc } from '../../harness/properties.ts';

const url = 'https://app.example.com/oauth/client.json';
const document = {
  client_id: url,
  client_name: 'Notes',
  redirect_uris: ['https://app.example.com/callback', 'http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
  logo_uri: 'https://app.example.com/logo.png',
};
const read = (members: object, at = url) =>
  readDocument(at, Buffer.from(JSON.stringify({ ...document, client_id: at, ...members })));

test('a document is an https URL with a path, in one spelling', () => {
  for (const id of [
    url,
    'https://a.example/c',
    'https://a.example:8443/c?v=1',
    'https://[::1]/c',
  ]) {
    assert.ok(isDocumentUrl(id), id);
  }
  for (const id of [
    'http://app.example.com/c',
    'https://app.example.com',
    'https://app.example.com/',
    'https://user@app.example.com/c',
    'https://app.example.com/c#x',
    'https://app.example.com/a/../c',
    'https://app.example.com/./c',
    'https://app.example.com/%2e%2e/c',
    'https://APP.example.com/c',
    'https://app.example.com:443/c',
    'https://app.example.com\\c',
    'https:/app.example.com/c',
    'https://0x7f.1/c',
    'https://app.example.com/c d',
    `https://app.example.com/${'c'.repeat(1_000)}`,
    'svc-cli',
    '',
  ]) {
    assert.ok(!isDocumentUrl(id), id);
  }
});

test('a document describes a public client, and never more', () => {
  assert.deepEqual(read({ refresh_grace_seconds: 60, first_party: true, enabled: false }), {
    id: url,
    displayName: 'Notes',
    type: 'public',
    redirectUris: document.redirect_uris,
    grants: ['authorization_code', 'refresh_token'],
    scopes: ['profile', 'email', 'offline_access', 'app'],
    refreshGraceSeconds: 10,
    firstParty: false,
    enabled: true,
    secrets: [],
    documentHost: 'app.example.com',
  });
  assert.deepEqual(read({ scope: 'profile openid' })?.scopes, ['profile']);
  assert.deepEqual(read({ grant_types: undefined })?.grants, ['authorization_code']);
  const device = 'urn:ietf:params:oauth:grant-type:device_code';
  assert.deepEqual(read({ grant_types: ['authorization_code', device] })?.grants, [
    'authorization_code',
  ]);
  const uris = ['javascript:alert(1)', 'http://app.example.com/', 'https://u@a.example/', 'x'];
  const mixed = read({ redirect_uris: [...uris, 'https://a.example/cb'] });
  assert.deepEqual(mixed?.redirectUris, ['https://a.example/cb']);
  for (const client_name of [undefined, '', 'a\u202eb', 'x'.repeat(61)]) {
    assert.equal(read({ client_name })?.displayName, 'app.example.com');
  }
});

test('what is wrong in a document makes it none', () => {
  for (const members of [
    { client_id: 'https://other.example/client.json' },
    { client_id: `${url}/` },
    { client_id: undefined },
    { redirect_uris: undefined },
    { redirect_uris: [] },
    { redirect_uris: ['javascript:alert(1)'] },
    { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`) },
    { token_endpoint_auth_method: 'client_secret_basic' },
    { token_endpoint_auth_method: 'private_key_jwt' },
    { client_secret: 'x' },
    { client_secret_expires_at: 0 },
    { grant_types: ['client_credentials'] },
    { response_types: ['token'] },
    { scope: 'openid' },
  ]) {
    const bytes = Buffer.from(JSON.stringify({ ...document, ...members }));
    assert.equal(readDocument(url, bytes), null, JSON.stringify(members));
  }
  for (const text of ['', 'null', '[]', '"x"', '{', '\ufeff{}']) {
    assert.equal(readDocument(url, Buffer.from(text)), null, text);
  }
  assert.equal(readDocument(url, Buffer.from([0xff, 0xfe])), null);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(readDocument(url, Buffer.from(JSON.stringify(value))), null);
    }),
  );
});

type Scripted = { status?: number; type?: string; body?: string; cache?: string } | 'away' | 'shut';

/** Documents over a guard that answers as it is told, and a clock that is moved. */
function openDocuments() {
  const asked: string[] = [];
  let nowMs = 1_000_000;
  let answer: Scripted = {};
  let gate: Promise<void> = Promise.resolve();
  const documents = createClientDocuments({
    clock: () => nowMs,
    outbound: {
      async fetch(target): Promise<OutboundReply> {
        asked.push(target);
        await gate;
        if (answer === 'away') return { ok: false, reason: 'source_unreachable', message: '' };
        if (answer === 'shut') return { ok: false, reason: 'source_refused', message: '' };
        const { status = 200, type = 'application/json', cache, body } = answer;
        const bytes = Buffer.from(body ?? JSON.stringify({ ...document, client_id: target }));
        return {
          ok: true,
          status,
          type,
          headers: new Map(cache === undefined ? [] : [['cache-control', cache]]),
          length: bytes.length,
          url: target,
          body: (async function* () {
            yield bytes;
          })(),
          bytes: async () => ({ ok: true, bytes }),
          close: () => {},
        };
      },
    },
  });
  return {
    asked,
    find: (at = url) => documents.find(at),
    pass: (ms: number) => {
      nowMs += ms;
    },
    say: (next: Scripted) => {
      answer = next;
    },
    hold: () => {
      let open = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return open;
    },
  };
}

const minuteMs = 60_000;

test('a document is kept as long as its server says, between five minutes and a day', async () => {
  for (const [cache, keptMs] of [
    [undefined, 5 * minuteMs],
    ['max-age=1', 5 * minuteMs],
    ['no-store', 5 * minuteMs],
    ['no-cache, max-age=7200', 5 * minuteMs],
    ['public, max-age=3600', 60 * minuteMs],
    ['max-age=999999999', 1_440 * minuteMs],
    ['max-age=x', 5 * minuteMs],
  ] as const) {
    const bed = openDocuments();
    bed.say(cache === undefined ? {} : { cache });
    assert.equal((await bed.find())?.id, url);
    bed.pass(keptMs - 1);
    await bed.find();
    assert.equal(bed.asked.length, 1, cache);
    bed.pass(1);
    await bed.find();
    assert.equal(bed.asked.length, 2, cache);
  }
});

test('one fetch serves all who ask at once', async () => {
  const bed = openDocuments();
  const open = bed.hold();
  const finds = Array.from({ length: 50 }, () => bed.find());
  open();
  const clients = await Promise.all(finds);
  assert.equal(bed.asked.length, 1);
  assert.ok(clients.every((client) => client?.id === url));
});

test('what is no document is not asked for again at once', async () => {
  for (const answer of [
    'shut',
    { status: 404 },
    { status: 204 },
    { type: 'text/html' },
    { body: '{}' },
  ] as const) {
    const bed = openDocuments();
    bed.say(answer);
    assert.equal(await bed.find(), null);
    assert.equal(await bed.find(), null);
    assert.equal(bed.asked.length, 1, JSON.stringify(answer));
    bed.pass(documentLimits.wrongMs);
    bed.say({});
    assert.equal((await bed.find())?.id, url);
  }
  const bed = openDocuments();
  assert.equal(await bed.find('https://app.example.com/'), null);
  assert.equal(bed.asked.length, 0, 'no such document can be');
});

test('where the server is away the last document counts for a day, and no longer', async () => {
  const bed = openDocuments();
  assert.ok(await bed.find());
  bed.pass(6 * minuteMs);
  for (const answer of ['away', { status: 503 }, { status: 429 }] as const) {
    bed.say(answer);
    assert.ok(await bed.find(), JSON.stringify(answer));
    bed.pass(documentLimits.awayMs);
  }
  bed.pass(24 * 60 * minuteMs);
  assert.equal(await bed.find(), null);
  const withdrawn = openDocuments();
  await withdrawn.find();
  withdrawn.pass(6 * minuteMs);
  withdrawn.say({ status: 410 });
  assert.equal(await withdrawn.find(), null, 'a server that answers is believed');
});

test('strangers cannot have more than a few documents fetched at once', async () => {
  const bed = openDocuments();
  const open = bed.hold();
  const names = Array.from({ length: documentLimits.fetchesMax }, (_, n) => `${url}?n=${n}`);
  const finds = names.map((name) => bed.find(name));
  await assert.rejects(bed.find(), { code: 'overloaded' });
  open();
  await Promise.all(finds);
  assert.ok(await bed.find());
});
