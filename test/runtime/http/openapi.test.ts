// The OpenAPI document of a sample table: lint-clean, complete, and true to what is served.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { envelopeSchemaOf, renderProblem, sampleProblem } from '../../../routes/problems.ts';
import { createOpenApiDocument } from '../../../runtime/http/openapi.ts';
import { bytesBody } from '../../../runtime/http/route.ts';
import { chatSchema, testRoute } from './serving.ts';

const okay = { status: 200, json: {} };
const usageSchema = v.pipe(
  v.strictObject({ input_tokens: v.pipe(v.number(), v.integer()) }),
  v.title('usage'),
);
const answerSchema = v.strictObject({ id: v.string(), usage: usageSchema });

const routes = [
  testRoute({
    method: 'POST',
    path: '/v1/chat/completions',
    aliases: ['/api/v1/chat/completions'],
    operationId: 'createChatCompletion',
    summary: 'Generate an answer',
    documents: ['model'],
    access: 'key',
    body: { kind: 'json', schema: chatSchema, bytesMax: 1000 },
    headers: { 'idempotency-key': { description: 'Names the request.' } },
    replies: {
      200: {
        description: 'The answer, or its events.',
        schema: answerSchema,
        mediaType: 'text/event-stream',
        headers: { 'x-svc-request-id': 'Names the generation.' },
      },
    },
    problems: ['insufficient_credits', 'model_not_found', 'upstream_timeout'],
    handle: () => okay,
  }),
  testRoute({
    path: '/v1/generations/{request_id}',
    operationId: 'getGeneration',
    documents: ['model', 'account'],
    access: 'key',
    params: v.strictObject({ request_id: v.pipe(v.string(), v.description('Ours or yours.')) }),
    query: v.strictObject({ limit: v.optional(v.pipe(v.number(), v.integer()), 20) }),
    replies: { 200: { description: 'Its state.', schema: v.strictObject({ usage: usageSchema }) } },
    problems: ['not_found'],
    handle: () => okay,
  }),
  testRoute({
    method: 'POST',
    path: '/v1/audio/transcriptions',
    operationId: 'createTranscription',
    documents: ['model'],
    access: 'key',
    body: {
      kind: 'multipart',
      schema: v.strictObject({ model: v.string() }),
      bytesMax: 1000,
      files: { file: { required: true, bytesMax: 900 } },
    },
    handle: () => okay,
  }),
  testRoute({
    path: '/v1/files/{file_id}',
    operationId: 'getFile',
    summary: 'Read a file',
    documents: ['model'],
    access: 'key',
    params: v.strictObject({ file_id: v.string() }),
    headers: { 'x-own': { description: 'Its own.' } },
    replies: {
      200: {
        description: 'The file.',
        mediaType: 'video/mp4',
        headers: { 'x-svc-file': 'Its own.' },
        isFile: true,
      },
    },
    problems: ['not_found'],
    handle: () => okay,
  }),
  testRoute({
    method: 'POST',
    path: '/api/raw',
    operationId: 'sendRaw',
    documents: ['account'],
    access: 'user',
    body: bytesBody(500),
    handle: () => okay,
  }),
  testRoute({
    path: '/api/me',
    operationId: 'getMe',
    documents: ['account'],
    access: 'user',
    handle: () => okay,
  }),
];

function documentOf(document: 'model' | 'account') {
  return createOpenApiDocument(routes, {
    document,
    title: 'Sample',
    license: { name: 'MIT', identifier: 'MIT' },
    description: 'A sample.',
    serverUrl: 'https://gateway.test',
    tags: { test: 'Test routes.' },
    securitySchemes: {
      ...(document === 'model' ? {} : { session: { type: 'apiKey', in: 'header', name: 'x-s' } }),
      key: { type: 'http', scheme: 'bearer' },
    },
    accessOf: (access) =>
      access === 'key'
        ? { security: [{ key: [] }], problems: ['unauthenticated', 'rate_limited'] }
        : { security: [{ session: [] }], problems: ['unauthenticated', 'session_expired'] },
    sampleProblem,
    renderProblem,
    envelopeSchemaOf,
  });
}

type Json = { [key: string]: Json };
const at = (document: unknown, ...path: string[]) =>
  path.reduce((value, key) => value?.[key] as Json, document as Json);

test('the document lists its own routes once, with version and aliases in words', () => {
  const model = documentOf('model');
  assert.equal(model.openapi, '3.1.0');
  assert.equal(at(model, 'info').version, '1.0.0');
  assert.deepEqual(Object.keys(at(model, 'paths')), [
    '/v1/chat/completions',
    '/v1/generations/{request_id}',
    '/v1/audio/transcriptions',
    '/v1/files/{file_id}',
  ]);
  const description = at(model, 'paths', '/v1/chat/completions', 'post').description;
  assert.match(String(description), /`\/api\/v1\/chat\/completions`/);
  const account = documentOf('account');
  assert.deepEqual(Object.keys(at(account, 'paths')), [
    '/v1/generations/{request_id}',
    '/api/raw',
    '/api/me',
  ]);
});

test('every problem that a route can give is documented with an example of its envelope', () => {
  const model = documentOf('model');
  const responses = at(model, 'paths', '/v1/chat/completions', 'post', 'responses');
  assert.deepEqual(Object.keys(responses), [
    '200',
    '400',
    '401',
    '402',
    '404',
    '406',
    '413',
    '415',
    '429',
    '500',
    '503',
    '504',
  ]);
  const name = String(at(responses, '402').$ref).split('/').at(-1) ?? '';
  const refusal = at(model, 'components', 'responses', name);
  const body = at(refusal, 'content', 'application/json', 'examples', 'insufficient_credits');
  assert.equal(at(body, 'value', 'error').type, 'insufficient_quota');
  assert.ok('x-should-retry' in at(refusal, 'headers'));
});

test('parameters, bodies and both kinds of a reply are described', () => {
  const model = documentOf('model');
  const chat = at(model, 'paths', '/v1/chat/completions', 'post');
  const content = at(chat, 'responses', '200', 'content');
  assert.deepEqual(Object.keys(content), ['application/json', 'text/event-stream']);
  assert.equal(at(chat, 'requestBody', 'content', 'application/json', 'schema').type, 'object');
  const parameters = at(model, 'paths', '/v1/generations/{request_id}', 'get', 'parameters');
  assert.deepEqual(JSON.parse(JSON.stringify(parameters)), [
    {
      name: 'request_id',
      in: 'path',
      required: true,
      schema: { type: 'string' },
      description: 'Ours or yours.',
    },
    { name: 'limit', in: 'query', required: false, schema: { type: 'integer', default: 20 } },
  ]);
  const form = at(model, 'paths', '/v1/audio/transcriptions', 'post', 'requestBody', 'content');
  const schema = at(form, 'multipart/form-data', 'schema');
  assert.deepEqual(schema.required, ['file', 'model']);
});

test('a file has a HEAD, parts and conditions, and no body where none is sent', () => {
  const model = documentOf('model');
  const item = at(model, 'paths', '/v1/files/{file_id}');
  assert.deepEqual(Object.keys(item), ['get', 'head']);
  const shape = (method: string) => {
    const operation = at(item, method);
    const responses = Object.entries(at(operation, 'responses')).filter(([, told]) => !told.$ref);
    return {
      operationId: operation.operationId,
      parameters: (operation.parameters as unknown as Json[]).map(({ name }) => name),
      contents: Object.fromEntries(
        responses.map(([status, { content = {} }]) => [status, Object.keys(content)]),
      ),
    };
  };
  const conditions = ['if-match', 'if-unmodified-since', 'if-none-match', 'if-modified-since'];
  assert.deepEqual(shape('get'), {
    operationId: 'getFile',
    parameters: ['file_id', 'range', 'if-range', ...conditions, 'x-own'],
    contents: { 200: ['video/mp4'], 206: ['video/mp4'], 304: [], 412: [], 416: [] },
  });
  assert.deepEqual(shape('head'), {
    operationId: 'getFileHead',
    parameters: ['file_id', ...conditions, 'x-own'],
    contents: { 200: [], 304: [], 412: [] },
  });
  const part = at(item, 'get', 'responses', '206');
  for (const name of ['content-range', 'etag', 'content-length', 'x-svc-file', 'x-request-id']) {
    assert.ok(name in at(part, 'headers'), name);
  }
  assert.equal(at(part, 'content', 'video/mp4', 'schema').format, 'binary');
  assert.ok('404' in at(item, 'get', 'responses') && '404' in at(item, 'head', 'responses'));
});

test('a schema object that is used twice is one component', () => {
  const model = documentOf('model');
  assert.ok('Usage' in at(model, 'components', 'schemas'));
  assert.equal(JSON.stringify(model).split('"#/components/schemas/Usage"').length - 1, 2);
});

test('what JSON Schema cannot say stops the start', () => {
  const route = testRoute({
    path: '/v1/bad',
    documents: ['model'],
    query: v.strictObject({ q: v.pipe(v.string(), v.trim()) }),
    handle: () => okay,
  });
  const options = { ...optionsStub, document: 'model' } as const;
  assert.throws(() => createOpenApiDocument([route], options), /trim/);
});

const optionsStub = {
  title: '',
  license: { name: 'MIT', identifier: 'MIT' },
  description: '',
  serverUrl: '',
  tags: {},
  securitySchemes: {},
  accessOf: () => ({ security: [], problems: [] }),
  sampleProblem,
  renderProblem,
  envelopeSchemaOf,
};

test('both documents are clean under the recommended rules', { timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    for (const document of ['model', 'account'] as const) {
      await writeFile(join(folder, `${document}.json`), JSON.stringify(documentOf(document)));
    }
    const rules = {
      extends: ['recommended'],
      rules: { 'info-license': 'off' },
    };
    await writeFile(join(folder, 'redocly.yaml'), JSON.stringify(rules));
    const output = await lint(folder, ['model.json', 'account.json']);
    assert.equal(output.code, 0, output.text);
    assert.match(output.text, /descriptions are valid/);
    assert.doesNotMatch(output.text, /You have \d+/, output.text);
  } finally {
    await rm(folder, { recursive: true });
  }
});

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

test('a body that nobody parses is bytes of any type', () => {
  const raw = at(documentOf('account'), 'paths', '/api/raw', 'post');
  const { required, content } = at(raw, 'requestBody');
  assert.equal(required, true);
  assert.deepEqual(content, {
    '*/*': { schema: { type: 'string', format: 'binary', description: 'At most 500 bytes.' } },
  });
  assert.ok(at(raw, 'responses', '413') !== undefined);
});
