// The contract as it is published. Both documents are valid and lint-clean, and name every route of
// the table. What routes answer is what they say.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { routes } from '../../routes/table.ts';
import type { TestAccount } from '../harness/account.ts';
import { chatBody } from '../harness/chat.ts';
import { type CallOptions, Contract } from '../harness/contract.ts';
import { sampled } from '../harness/sample.ts';
import { testSeed } from '../harness/seed.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

// slow: It lints both documents, and calls every route of them.

let bed: Testbed;
let contract: Contract;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ own: 'its address uses up its failures' });
  contract = await Contract.load(bed.url);
  account = await bed.account();
});
after(() => bed?.close());

function lint(folder: string, files: string[]): Promise<{ code: number | null; text: string }> {
  const manifest = createRequire(import.meta.url).resolve('@redocly/cli/package.json');
  const cli = join(dirname(manifest), 'bin', 'cli.js');
  const env = { PATH: dirname(process.execPath), HOME: folder, REDOCLY_TELEMETRY: 'off' };
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [cli, 'lint', ...files], { cwd: folder, env });
    let text = '';
    const collect = (data: Buffer) => {
      text += data;
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('close', (code) => resolve({ code, text }));
  });
}

test('both documents are OpenAPI 3.1.0 of version 1.0.0 and lint-clean', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-lint-'));
  try {
    const files: string[] = [];
    for (const [path, document] of contract.documents) {
      const info = document.info as Record<string, unknown>;
      assert.equal(document.openapi, '3.1.0');
      assert.equal(info.version, '1.0.0');
      files.push(`${path.replaceAll('/', '-').slice(1)}`);
      await writeFile(join(folder, files.at(-1) ?? ''), JSON.stringify(document));
    }
    // A WebSocket answers 101, which is no success to the linter; the next test looks for them.
    const off = { 'operation-2xx-response': 'off' };
    const rules = { extends: ['recommended'], rules: off };
    await writeFile(join(folder, 'redocly.yaml'), JSON.stringify(rules));
    const output = await lint(folder, files);
    assert.equal(output.code, 0, output.text);
    assert.doesNotMatch(output.text, /You have \d+/, output.text);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** A route that is there to refuse has one of these first, and no reply. */
const unavailable: ReadonlySet<unknown> = new Set(['not_available', 'upgrade_required']);

test('every route documents a success, a WebSocket its upgrade, one that refuses neither', () => {
  for (const { path, replies, socket, problems } of routes) {
    const [first] = Object.keys(replies);
    if (first === undefined) assert.ok(unavailable.has(problems[0]), path);
    else assert.ok(socket === undefined ? first?.startsWith('2') : first === '101', path);
  }
});

test('every route of the table is in the documents that it names', () => {
  for (const route of routes) {
    for (const name of route.documents) {
      const path = name === 'model' ? '/api/v1/openapi.json' : '/api/openapi.json';
      const paths = contract.documents.get(path)?.paths as Record<string, Record<string, unknown>>;
      const listed = paths[route.path]?.[route.method.toLowerCase()];
      assert.ok(listed, `${route.method} ${route.path} is not in ${path}`);
    }
    assert.ok(route.documents.length > 0 || route.tag === 'pages', route.path);
  }
});

test('the check finds an undocumented status, type, member and body', async () => {
  const good = await contract.call('GET', '/api/health');
  const check = (over: Partial<typeof good>) => () =>
    contract.check('GET', '/api/health', { ...good, ...over });
  check({})();
  assert.throws(check({ status: 418 }), /not documented/);
  assert.throws(check({ headers: new Headers({ 'x-request-id': 'a' }) }), /has the type/);
  assert.throws(check({ json: { ...good.json, secret: 1 } }), /additional properties/);
  assert.throws(check({ json: { ok: true } }), /required property/);
  await assert.rejects(contract.call('GET', '/api/nothing'), /in no document/);
});

test('the reference begins with what a key is for', () => {
  const document = contract.documents.get('/api/v1/openapi.json');
  const tags = (document?.tags ?? []) as { name: string }[];
  assert.deepEqual(
    tags.map(({ name }) => name),
    ['Generation', 'Models', 'Audio', 'Video', 'Query', 'Voice', 'Discovery'],
  );
});

test('operation ids are unique in each document', () => {
  for (const document of contract.documents.values()) {
    const ids = Object.values(document.paths as Record<string, Record<string, object>>).flatMap(
      (item) =>
        Object.values(item).map((operation) => (operation as { operationId: string }).operationId),
    );
    assert.equal(new Set(ids).size, ids.length);
  }
});

function filled(template: string): string {
  return template.replace(/\{[^}]+\}/g, 'req_000000000000000000000000');
}

interface Attempt {
  name: string;
  options: CallOptions;
}

/** What a caller may show. */
interface Shown {
  apiKey: string;
  session: string;
  adminSession: string;
}

/** A route that signs out gets sessions of its own: the others are needed after it. */
async function shownTo(template: string): Promise<Shown> {
  const { apiKey, sessionToken: session } = account;
  const adminSession = bed.dev.admin_session_token;
  if (!template.endsWith('/logout')) return { apiKey, session, adminSession };
  const [user, admin] = [await bed.account(), await bed.account({ admin: true })];
  return { apiKey, session: user.sessionToken, adminSession: admin.sessionToken };
}

/** Requests that every route must answer as documented, whatever it does. */
function attempts(method: string, shown: Shown): Attempt[] {
  const { apiKey, session, adminSession } = shown;
  const isBodiless = method === 'GET' || method === 'HEAD';
  const body = isBodiless ? {} : { body: {} };
  const credentials: Attempt[] = [
    { name: 'nothing', options: { ...body } },
    { name: 'a key', options: { ...body, headers: { authorization: `Bearer ${apiKey}` } } },
    { name: 'X-API-Key', options: { ...body, headers: { 'x-api-key': apiKey } } },
    {
      name: 'a session',
      options: { ...body, headers: { 'x-svc-session': session } },
    },
    {
      name: 'an admin session',
      options: { ...body, headers: { 'x-svc-session': adminSession } },
    },
    { name: 'nonsense', options: { ...body, headers: { authorization: 'Bearer nonsense' } } },
    { name: 'another scheme', options: { ...body, headers: { authorization: 'Basic YTpi' } } },
    { name: 'an old session', options: { ...body, headers: { 'x-svc-session': 'x'.repeat(43) } } },
    {
      name: 'an Accept of images',
      options: {
        ...body,
        headers: { accept: 'image/png', authorization: `Bearer ${apiKey}` },
      },
    },
  ];
  if (isBodiless) return credentials;
  const signed = {
    authorization: `Bearer ${apiKey}`,
    'x-svc-session': session,
  };
  return [
    ...credentials,
    { name: 'broken JSON', options: { headers: signed, body: '{"model":' } },
    { name: 'a JSON array', options: { headers: signed, body: [] } },
    { name: 'prototype keys', options: { headers: signed, body: '{"__proto__":{"a":1}}' } },
    { name: 'no body', options: { headers: { ...signed, 'content-type': 'application/json' } } },
    {
      name: 'a form',
      options: { headers: { ...signed, 'content-type': 'text/plain' }, body: 'a' },
    },
    { name: '9 MiB', options: { headers: signed, body: `"${'x'.repeat(9 * 1024 * 1024)}"` } },
  ];
}

test('every operation answers as documented to every caller and to bad bodies', async () => {
  console.log(`# contract: seed ${testSeed}`);
  let paths = 0;
  for (const { method, template } of contract.operations()) {
    const shown = await shownTo(template);
    const aliases = template.startsWith('/v1/') ? [template, `/api${template}`] : [template];
    for (const path of aliases.map(filled)) {
      paths += 1;
      for (const { name, options } of sampled(attempts(method, shown), 5, testSeed + paths)) {
        try {
          const reply = await contract.call(method, path, options);
          if (reply.status >= 400 && method !== 'HEAD') assertEnvelope(template, reply.json);
        } catch (error) {
          throw new Error(`${method} ${path} with ${name}`, { cause: error });
        }
      }
    }
  }
});

function assertEnvelope(template: string, body: Record<string, unknown>): void {
  const error = body.error as Record<string, unknown>;
  if (template === '/api/health') return;
  if (template.startsWith('/oauth/')) {
    assert.deepEqual(Object.keys(body), ['error', 'error_description']);
    assert.equal(typeof error, 'string');
    return;
  }
  if (template.startsWith('/v1/messages')) {
    assert.deepEqual(Object.keys(body), ['type', 'error', 'request_id']);
    assert.deepEqual(Object.keys(error), ['type', 'message']);
  } else if (template.startsWith('/v1/') && !template.startsWith('/v1/voice/')) {
    assert.deepEqual(Object.keys(body), ['error']);
    assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
  } else {
    assert.equal(body.ok, false);
    assert.equal(typeof error.request_id, 'string');
  }
}

test('good replies of the generation routes are as documented, on both paths', async () => {
  const headers = { authorization: `Bearer ${account.apiKey}` };
  for (const prefix of ['/v1', '/api/v1']) {
    const key = { ...headers, 'idempotency-key': `contract${prefix}` };
    const body = chatBody('[[sim tokens=3 reasoning=2 cached=1]]');
    const whole = await contract.call('POST', `${prefix}/chat/completions`, { headers: key, body });
    assert.equal(whole.status, 200);
    const streamed = await contract.call('POST', `${prefix}/chat/completions`, {
      headers: key,
      body: { ...body, stream: true },
    });
    assert.match(streamed.headers.get('content-type') ?? '', /^text\/event-stream/);
    const id = whole.headers.get('x-svc-request-id') ?? '';
    assert.equal(streamed.headers.get('x-svc-request-id'), id);
    const state = await contract.call('GET', `${prefix}/generations/${id}`, { headers });
    assert.equal(state.json.status, 'completed');
    const late = await contract.call('POST', `${prefix}/generations/${id}/cancel`, { headers });
    assert.equal(late.status, 409);
    const models = await contract.call('GET', `${prefix}/models`, { headers });
    assert.equal(models.json.object, 'list');
    for (const status of [400, 401, 408, 429, 500, 529]) {
      const failed = chatBody(`[[sim status=${status}]]`);
      await contract.call('POST', `${prefix}/chat/completions`, { headers, body: failed });
    }
    const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
    const called = await contract.call('POST', `${prefix}/chat/completions`, {
      headers,
      body: { ...chatBody('[[sim tool=look]]'), tools },
    });
    assert.equal(called.status, 200);
    const searched = await contract.call('POST', `${prefix}/chat/completions`, {
      headers,
      body: { ...chatBody('hello'), web_search: true },
    });
    assert.equal(searched.status, 200);
    const required = { metadata: { require_web_search: true } };
    const unsearched = await contract.call('POST', `${prefix}/chat/completions`, {
      headers,
      body: { ...chatBody('[[sim status=500]]'), ...required },
    });
    assert.equal(unsearched.status, 503);
  }
});

test('receipts of managed routes and details of usage are documented in every format', async () => {
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const { messages } = chatBody('[[sim tokens=3]]');
  const asked = {
    '/v1/chat/completions': { messages },
    '/v1/responses': { input: 'hello' },
    '/v1/messages': { messages, max_tokens: 64 },
    '/api/v1/llm/responses': { messages },
  };
  for (const [path, members] of Object.entries(asked)) {
    const body = { model: 'svc-intelligent', ...members };
    const good = await contract.call('POST', path, { headers, body });
    assert.equal(good.status, 200, path);
    const { svc_routing: receipt } = good.json;
    const check = (over: Record<string, unknown>) => () =>
      contract.check('POST', path, { ...good, json: { ...good.json, ...over } });
    check({})();
    assert.throws(check({ svc_routing: {} }), /svc_routing must have required/, path);
    const more = { ...(receipt as object), provider: 'simulator' };
    assert.throws(check({ svc_routing: more }), /svc_routing must NOT have additional/, path);
    if (path !== '/v1/chat/completions') continue;
    const counts = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    assert.throws(check({ usage: counts }), /usage must have required property/);
  }
});

test('what a request means without a member is documented', () => {
  const asked: Record<string, RegExp[]> = {
    '/v1/chat/completions': [/`code` if absent/, /`off` if absent/, /lets the service decide/],
    '/v1/audio/speech': [/1\.0 if absent/],
    '/api/v1/llm/responses': [/In place of `input`/, /it has `json_schema`/, /it has `name`/],
  };
  for (const { template, members } of contract.operations()) {
    for (const words of asked[template] ?? []) assert.match(JSON.stringify(members), words);
  }
});

/** As any JSON: a test that reads a member which is not there fails. */
const documentAt = (path: string) => JSON.parse(JSON.stringify(contract.documents.get(path)));

test('the reference names the scope that a key needs, and the bounds of a page', () => {
  const { security } = documentAt('/api/v1/openapi.json').paths['/v1/audio/speech'].post;
  assert.deepEqual(security, [{ apiKey: ['audio:speech'] }, { apiKeyHeader: ['audio:speech'] }]);
  const [limit] = documentAt('/api/openapi.json').paths['/api/me/api-keys'].get.parameters;
  assert.deepEqual(limit.schema, { type: 'integer', minimum: 1, maximum: 100 });
});

test('only who can send a bad request is told of one', () => {
  const { get } = documentAt('/api/openapi.json').paths['/api/public/models'];
  assert.equal(get.responses[400], undefined);
});

test('the headers of a refusal that clients act on are in the reference', async () => {
  const path = '/v1/chat/completions';
  const { paths, components } = documentAt('/api/v1/openapi.json');
  const { responses } = paths[path].post;
  const { apiKey } = await bed.account({ micros: 0n, requestsPerMinute: 1 });
  const headers = { authorization: `Bearer ${apiKey}` };
  for (const [status, names] of [
    [402, ['x-svc-required-microcredits', 'x-svc-available-microcredits', 'x-should-retry']],
    [429, ['retry-after', 'x-ratelimit-reset-requests', 'x-ratelimit-limit-concurrency']],
  ] as const) {
    const reply = await contract.call('POST', path, { headers, body: chatBody('hello') });
    assert.equal(reply.status, status, reply.text);
    const documented = components.responses[responses[status].$ref.split('/').at(-1)].headers;
    for (const name of names) {
      assert.ok(reply.headers.has(name) && name in documented, `${status} ${name}`);
    }
  }
});

/** What a person decides, or does with a code from a mail, works once and for one person. */
const personal = /^\/(oauth|api\/auth|api\/app\/auth|api\/me\/(account|sessions|authorizations))\//;

/** What they name is somebody's own, or an administrator's to make. */
const named = /\/(revoke|update|rotate|verify|rewards\/\w+|organizations\/(default|\{.*))$/;

test('what the reference shows as a request works as it stands', async () => {
  const key = { headers: { authorization: `Bearer ${account.apiKey}` } };
  // Another test has called the sign-out with the first account's session.
  const { sessionToken } = await bed.account();
  const session = { headers: { 'x-svc-session': sessionToken } };
  const paths = new Set<string>();
  for (const { method, template, members } of contract.operations()) {
    const { content = {} } = (members.requestBody ?? {}) as { content?: Record<string, unknown> };
    const { example } = (content['application/json'] ?? {}) as { example?: unknown };
    if (template.includes('/admin/') || named.test(template)) continue;
    if (personal.test(`${template}/`)) continue;
    if (content['application/json'] === undefined) continue;
    if (!Object.keys(members.responses ?? {}).some((status) => status < '300')) continue;
    assert.ok(example !== undefined, `${method} ${template}`);
    const access = /^\/api\/(me|app|enterprise)\//.test(template) ? session : key;
    const { status, text } = await contract.call(method, template, { ...access, body: example });
    assert.ok(status >= 200 && status < 300, `${method} ${template}: ${text}`);
    paths.add(template);
  }
  assert.ok(paths.size >= 7, [...paths].join(' '));
});

test('the reference pages are served with everything they load', async () => {
  for (const path of ['/docs', '/docs/account']) {
    const page = await fetch(bed.url + path);
    assert.equal(page.status, 200);
    const html = await page.text();
    for (const [, source] of html.matchAll(/src="([^"]+)"/g)) {
      const script = await fetch(new URL(source ?? '', bed.url + path));
      assert.equal(script.status, 200, source);
      await script.arrayBuffer();
    }
  }
});
