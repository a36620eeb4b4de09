// Preferred models and remote MCP servers of a person: what is saved, told, refused, kept secret.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract, type Reply } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { refusal } from '../admin/admin-api.ts';
import { makePerson, type TestPerson } from './person.ts';

let bed: Testbed;
let contract: Contract;
let person: TestPerson;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
  person = await makePerson(bed, contract);
});
after(() => bed?.close());

type Members = Record<string, unknown>;
const preferences = '/api/me/ai/preferences';
const servers = '/api/me/mcp-servers';
const save = (body: unknown, who = person) => who.call('POST', preferences, body);
const add = (body: unknown, who = person) => who.call('POST', servers, body);

async function server(body: Members, who = person): Promise<Members> {
  const reply = await add(body, who);
  assert.ok(reply.status === 200 || reply.status === 201, reply.text);
  return reply.json.server as Members;
}

test('preferences keep what is absent, and lose what is null', async () => {
  const empty = (await person.call('GET', preferences)).json;
  assert.deepEqual([empty.default_model, empty.revision], [null, 0]);
  const first = await save({ default_model: 'svc-sim-chat', modes: { video: 'svc-video' } });
  assert.equal(first.status, 200, first.text);
  const second = await save({ modes: { code: 'svc-coder' }, expected_revision: 1 });
  const modes = second.json.modes as Members;
  assert.deepEqual(second.json.default_model, { alias: 'svc-sim-chat', available: true });
  assert.deepEqual(modes.video, { alias: 'svc-video', available: true });
  assert.deepEqual(modes.code, { alias: 'svc-coder', available: true });
  assert.equal(modes.voice, null);
  const third = await save({ default_model: null, modes: { video: null } });
  assert.deepEqual([third.json.default_model, (third.json.modes as Members).video], [null, null]);
  assert.equal(third.json.revision, 3);
  const stale = await save({ default_model: null, expected_revision: 2 });
  assert.deepEqual([stale.status, refusal(stale).details.revision], [409, 3]);
});

test('an alias that is unknown, or of another kind, is refused at its path', async () => {
  const cases: readonly (readonly [Members, string])[] = [
    [{ default_model: 'nobody' }, 'default_model'],
    [{ default_model: 'svc-tts' }, 'default_model'],
    [{ modes: { chat: 'svc-video' } }, 'modes.chat'],
    [{ modes: { speech: 'svc-sim-chat' } }, 'modes.speech'],
    [{ modes: { painting: 'svc-video' } }, 'modes.painting'],
    [{ models: {} }, 'models'],
  ];
  for (const [body, param] of cases) {
    const reply = await save(body);
    assert.deepEqual([reply.status, refusal(reply).details.path], [400, param], reply.text);
  }
});

test('two who save at once on one revision are one who did and one who is late', async () => {
  const other = await makePerson(bed, contract);
  const both = await Promise.all(
    ['svc-sim-chat', 'svc-sim-messages'].map((alias) =>
      save({ default_model: alias, expected_revision: 0 }, other),
    ),
  );
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
});

test('a server is unchecked, and its authorization is told to nobody', async () => {
  const secret = 'canary-mcp-secret-77';
  const reply = await add({
    name: 'Docs & co',
    url: 'https://mcp.example.com/mcp#x',
    authorization: secret,
  });
  assert.equal(reply.status, 201, reply.text);
  const made = reply.json.server as Members;
  assert.match(String(made.id), /^mcp_[a-f0-9]{24}$/);
  assert.deepEqual(
    [made.slug, made.url, made.auth, made.state, made.tools, made.enabled, made.trusted],
    ['docs_co', 'https://mcp.example.com/mcp', 'bearer', 'unchecked', [], true, true],
  );
  const listed = await person.call('GET', servers);
  assert.deepEqual((listed.json.data as Members[])[0], made);
  const texts = await bed.sql<{ text: string }[]>`
    SELECT t::text AS text FROM mcp_servers t UNION ALL SELECT t::text FROM audit_events t`;
  const hex = Buffer.from(secret).toString('hex');
  const all = [reply.text, listed.text, ...texts.map(({ text }) => text)];
  for (const text of all) assert.ok(!text.includes(secret) && !text.includes(hex));
});

test('a change keeps what is absent, and another origin needs its authorization', async () => {
  const made = await server({
    name: 'Mine',
    url: 'https://one.example.com/mcp',
    authorization: 'first-secret',
    enabled: false,
    allowed_tools: ['write'],
  });
  const renamed = await server({ id: made.id, name: 'Renamed', url: 'https://one.example.com/v2' });
  assert.deepEqual(
    [renamed.name, renamed.slug, renamed.enabled, renamed.auth],
    ['Renamed', 'mine', false, 'bearer'],
  );
  const moved = { id: made.id, name: 'Mine', url: 'https://two.example.com/mcp' };
  const refused = await add(moved);
  assert.deepEqual([refused.status, refusal(refused).details.path], [400, 'authorization']);
  assert.equal((await server({ ...moved, authorization: null })).auth, 'none');
  assert.equal((await server({ ...moved, url: 'https://three.example.com/' })).auth, 'none');
});

test('a URL is https, and leads to the public web', async () => {
  const urls = [
    'http://mcp.example.com/mcp',
    'https://127.0.0.1/mcp',
    'https://localhost:8443/mcp',
    'https://169.254.169.254/latest',
    'https://[::1]/mcp',
    'https://user:pw@mcp.example.com/',
    'https://mcp.example.com:80/mcp',
    'ftp://mcp.example.com/',
    'no url',
  ];
  for (const url of urls) {
    const reply = await add({ name: 'Bad', url });
    assert.deepEqual(
      [reply.status, refusal(reply).details.path],
      [400, 'url'],
      `${url} ${reply.text}`,
    );
  }
  assert.equal((await add({ name: 'High', url: 'https://mcp.example.com:8443/' })).status, 201);
  const approving = await add({ name: 'A', url: 'https://mcp.example.com/', approve: ['tool'] });
  assert.equal(refusal(approving).details.path, 'approve[0]');
});

test('32 servers an account, however many come at once, and none of somebody else', async () => {
  const other = await makePerson(bed, contract);
  const wanted = Array.from({ length: 36 }, (_, at) =>
    add({ name: 'Same', url: `https://h${at}.example.com/mcp` }, other),
  );
  const replies: Reply[] = await Promise.all(wanted);
  const statuses = replies.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 201).length, 32);
  assert.equal(statuses.filter((status) => status === 409).length, 4);
  const mine = (await other.call('GET', servers)).json.data as Members[];
  assert.equal(new Set(mine.map(({ slug }) => slug)).size, 32);
  const [first] = mine;
  assert.equal((await person.call('DELETE', `${servers}/${first?.id}`)).status, 404);
  const theft = await add({ id: first?.id, name: 'Theft', url: 'https://evil.example.com/' });
  assert.equal(theft.status, 404);
  assert.equal((await other.call('DELETE', `${servers}/${first?.id}`)).status, 200);
  assert.equal((await other.call('DELETE', `${servers}/${first?.id}`)).status, 404);
});
