// Releases of the browser extension and social profiles over HTTP: drafts, archives, what everybody
// is told, and who is too late.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import yazl from 'yazl';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, openAdminApi, refusal } from '../admin/admin-api.ts';

let bed: Testbed;
let contract: Contract;
let admin: AdminApi;
before(async () => {
  bed = await openTestbed({ shards: 2, own: 'it counts all releases' });
  contract = await Contract.load(bed.url);
  admin = await openAdminApi(bed);
});
after(() => bed?.close());

type Members = Record<string, unknown>;

async function makeZip(content: string): Promise<Buffer> {
  const file = new yazl.ZipFile();
  file.addBuffer(Buffer.from(content), 'manifest.json');
  file.end();
  return buffer(file.outputStream);
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function create(body: Members): Promise<Members> {
  const reply = await admin('POST', '/releases', { body });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.release as Members;
}

function upload(id: unknown, bytes: Uint8Array): Promise<Response> {
  return fetch(`${bed.url}/api/admin/releases/${id}/archive`, {
    method: 'PUT',
    headers: {
      'content-type': 'application/zip',
      'x-svc-session': bed.dev.admin_session_token,
    },
    body: Buffer.from(bytes),
  });
}

async function published(): Promise<Members> {
  const reply = await contract.call('GET', '/api/browser-extension/releases');
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('cache-control'), 'public, max-age=300');
  return reply.json;
}

test('a release is a draft until it has its archive and is published', async () => {
  const none = { chrome: null, firefox: null, edge: null, safari: null };
  assert.deepEqual((await published()).current, none);
  const draft = await create({ version: '1.4.2', browser: 'firefox', notes: 'Faster.' });
  const early = await admin('PATCH', `/releases/${draft.id}`, { body: { published: true } });
  assert.deepEqual([early.status, refusal(early).code], [409, 'invalid_state']);
  const zip = await makeZip('{}');
  assert.equal((await upload(draft.id, Buffer.from('no archive'))).status, 422);
  assert.equal((await upload('rel_000000000000000000000000', zip)).status, 404);
  const uploaded = await upload(draft.id, zip);
  assert.equal(uploaded.status, 200);
  const { release } = (await uploaded.json()) as { release: Members };
  assert.deepEqual([release.sha256, release.size_bytes], [digest(zip), zip.length]);
  const url = String(release.archive_url);
  assert.equal((await fetch(url)).status, 404, 'a draft is told to nobody');
  const publishing = { published: true, revision: release.revision };
  const shown = await admin('PATCH', `/releases/${draft.id}`, { body: publishing });
  assert.equal(shown.status, 200, shown.text);
  const file = await fetch(url);
  assert.equal(file.headers.get('content-type'), 'application/zip');
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), zip);
  const part = await fetch(url, { headers: { range: 'bytes=0-3' } });
  assert.deepEqual([part.status, await part.text()], [206, zip.toString('latin1', 0, 4)]);
  const told = (await published()).current as Record<string, Members | null>;
  assert.deepEqual([told.firefox?.version, told.chrome], ['1.4.2', null]);
  await admin('PATCH', `/releases/${draft.id}`, { body: { published: false } });
  assert.equal((await fetch(url)).status, 404);
  assert.deepEqual((await published()).releases, []);
});

test('the current release is the stable one with the highest version, with an ETag', async () => {
  const elsewhere = (version: string) => ({
    version,
    archive_url: `https://cdn.example.com/${version}.zip`,
    sha256: digest(Buffer.from(version)),
    size_bytes: 1_000,
    published: true,
  });
  const path = '/api/browser-extension/releases';
  await create({ browser: 'chrome', ...elsewhere('2.10.0') });
  const first = await contract.call('GET', path);
  const etag = first.headers.get('etag') ?? '';
  const known = () => contract.call('GET', path, { headers: { 'if-none-match': etag } });
  assert.equal((await known()).status, 304);
  await create({ browser: 'chrome', ...elsewhere('2.9.9') });
  await create({ browser: 'chrome', channel: 'beta', ...elsewhere('3.0.0') });
  const later = await known();
  assert.equal(later.status, 200);
  const { chrome } = later.json.current as Record<string, Members>;
  assert.equal(chrome?.version, '2.10.0');
  assert.equal(chrome?.archive_url, 'https://cdn.example.com/2.10.0.zip');
  const again = await admin('POST', '/releases', {
    body: { browser: 'chrome', ...elsewhere('2.10.0') },
  });
  assert.equal(again.status, 409, again.text);
  const listed = (await admin('GET', '/releases?browser=chrome')).json.data as Members[];
  assert.equal(listed.length, 3);
  const [newest] = listed;
  assert.equal((await admin('DELETE', `/releases/${newest?.id}`)).status, 200);
  assert.equal((await admin('GET', `/releases/${newest?.id}`)).status, 404);
});

test('an archive elsewhere is told whole, by https', async () => {
  const given = { version: '9.0', browser: 'edge', sha256: 'a'.repeat(64), size_bytes: 5 };
  const cases: readonly (readonly [Members, string])[] = [
    [{ ...given, archive_url: 'http://h.example/a.zip' }, 'archive_url'],
    [{ ...given, archive_url: 'https://u:p@h.example/a.zip' }, 'archive_url'],
    [{ ...given, archive_url: 'https://h.example/a.zip', sha256: 'short' }, 'sha256'],
    [{ version: '9.0', browser: 'edge', archive_url: 'https://h.example/a.zip' }, 'sha256'],
    [given, 'sha256'],
    [{ version: 'nine', browser: 'edge' }, 'version'],
    [{ version: '9.0', browser: 'lynx' }, 'browser'],
  ];
  for (const [body, param] of cases) {
    const reply = await admin('POST', '/releases', { body });
    assert.deepEqual([reply.status, refusal(reply).details.path], [400, param], reply.text);
  }
});

test('social profiles are replaced whole, on the revision that was read', async () => {
  const all = async () => (await admin('GET', '/social-profiles')).json;
  const before = await all();
  assert.equal(before.revision, 0);
  const builtIn = before.profiles as Members[];
  assert.ok(builtIn.every(({ enabled, is_custom }) => enabled === false && is_custom === false));
  assert.ok(builtIn.length <= 32);
  const profiles = [
    { key: 'github', label: 'Code', url: 'https://github.com/acme', enabled: true },
    { key: 'our-forum', label: 'Forum', url: 'https://forum.example.com', enabled: true },
    { key: 'x', label: 'X', url: '', enabled: false },
  ];
  const put = (body: unknown) => admin('PUT', '/social-profiles', { body });
  const written = await put({ expected_revision: 0, profiles });
  assert.deepEqual([written.status, written.json.revision], [200, 1], written.text);
  const stale = await put({ expected_revision: 0, profiles: [] });
  assert.equal(stale.status, 409);
  const { details } = refusal(stale);
  assert.deepEqual([details.revision, (details.profiles as Members[]).length], [1, 3]);
  const open = await contract.call('GET', '/api/social-profiles');
  assert.deepEqual(open.json, {
    ok: true,
    revision: 1,
    profiles: [
      { ...profiles[0], is_custom: false },
      { ...profiles[1], is_custom: true },
    ],
  });
  const cases: readonly (readonly [unknown[], string])[] = [
    [[{ ...profiles[0], key: 'Bad' }], 'profiles[0].key'],
    [[profiles[0], profiles[0]], 'profiles[1].key'],
    [[{ ...profiles[0], url: '' }], 'profiles[0].url'],
    [[{ ...profiles[0], url: 'javascript:alert(1)' }], 'profiles[0].url'],
    [[{ ...profiles[0], label: 'l'.repeat(61) }], 'profiles[0].label'],
    [[{ ...profiles[0], is_custom: true }], 'profiles[0].is_custom'],
    [Array.from({ length: 33 }, (_, at) => ({ ...profiles[0], key: `k${at}` })), 'profiles'],
  ];
  for (const [wrong, param] of cases) {
    const reply = await put({ expected_revision: 1, profiles: wrong });
    assert.deepEqual([reply.status, refusal(reply).details.path], [400, param], reply.text);
  }
});
