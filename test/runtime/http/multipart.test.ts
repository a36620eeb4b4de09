// multipart/form-data over real sockets: typed fields, bounded files, nothing lost silently.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { createMultipartReader } from '../../../runtime/http/multipart.ts';
import { type Serving, serve, testRoute } from './serving.ts';

let serving: Serving;

before(async () => {
  serving = await serve([
    testRoute({
      method: 'POST',
      path: '/v1/audio/transcriptions',
      body: {
        kind: 'multipart',
        schema: v.strictObject({
          model: v.string(),
          temperature: v.optional(v.pipe(v.number(), v.maxValue(1))),
          'include[]': v.optional(v.array(v.string())),
        }),
        bytesMax: 3 * 1024 * 1024 + 64 * 1024,
        files: {
          file: { required: true, bytesMax: 3 * 1024 * 1024 },
          cover: { required: false, bytesMax: 10 },
        },
      },
      handle: ({ body, files }) => {
        const described = Object.entries(files).map(([name, file]) => ({
          name,
          filename: file.filename,
          mediaType: file.mediaType,
          length: file.bytes.length,
          sum: file.bytes.reduce((sum, byte) => sum + byte, 0),
        }));
        return { status: 200, json: { body, files: described } };
      },
    }),
  ]);
});
after(() => serving.stop());

interface Answer {
  status: number;
  json: { body?: unknown; files?: unknown; error?: { param: string; code: string } };
}

async function post(body: FormData | string, contentType?: string): Promise<Answer> {
  const headers: Record<string, string> = {};
  if (contentType !== undefined) headers['content-type'] = contentType;
  const url = `${serving.origin}/v1/audio/transcriptions`;
  const reply = await fetch(url, { method: 'POST', body, headers });
  return { status: reply.status, json: (await reply.json()) as Answer['json'] };
}

function form(parts: Record<string, string | Blob>): FormData {
  const data = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === 'string') data.append(name, part);
    else data.append(name, part, 'a "name".wav');
  }
  return data;
}

const file = new Blob([new Uint8Array(2_000_000).fill(3)], { type: 'audio/wav' });

test('fields are typed by the schema and files arrive whole', async () => {
  const data = form({ model: 'é', temperature: '0.5', file });
  data.append('include[]', 'one');
  data.append('include[]', 'two');
  const { status, json } = await post(data);
  assert.equal(status, 200, JSON.stringify(json));
  assert.deepEqual(json, {
    body: { model: 'é', temperature: 0.5, 'include[]': ['one', 'two'] },
    files: [
      {
        name: 'file',
        filename: 'a %22name%22.wav',
        mediaType: 'audio/wav',
        length: 2_000_000,
        sum: 6_000_000,
      },
    ],
  });
});

test('a name that is not ASCII comes as clients of several kinds send it', async () => {
  const mail = '=?utf-8?B?w7xiZXIud2F2?=';
  const names: [string, string][] = [
    ['filename="über.wav"', 'über.wav'],
    // .NET sends both, in this order.
    [`filename="${mail}"; filename*=utf-8''%C3%BCber.wav`, 'über.wav'],
    ["filename*=UTF-8'de'%C3%BCber.wav", 'über.wav'],
    ["filename=plain.wav; filename*=utf-8''%FC.wav", 'plain.wav'],
    ["filename=plain.wav; filename*=iso-8859-1''%FC.wav", 'plain.wav'],
    ["filename=plain.wav; filename*=''", 'plain.wav'],
    // .NET, given a name that stands in quotes already.
    [`filename="plain.wav"; filename*=utf-8''%22plain.wav%22`, 'plain.wav'],
  ];
  for (const [parameters, filename] of names) {
    const upload = `--b\r\ncontent-disposition: form-data; name="file"; ${parameters}\r\n\r\nx\r\n`;
    const model = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n';
    const body = `${model}${upload}--b--\r\n`;
    const { status, json } = await post(body, 'multipart/form-data; boundary=b');
    assert.equal(status, 200, JSON.stringify(json));
    const [file] = json.files as { filename: string }[];
    assert.equal(file?.filename, filename, parameters);
  }
});

test('missing, unknown and oversized parts are named', async () => {
  const cases: [FormData, number, string][] = [
    [form({ model: 'm' }), 400, 'file'],
    [form({ model: 'm', file, other: new Blob(['x']) }), 400, 'other'],
    [form({ model: 'm', file, other: 'x' }), 400, 'other'],
    [form({ file }), 400, 'model'],
    [form({ model: 'm', temperature: 'warm', file }), 400, 'temperature'],
    [form({ model: 'm', temperature: '2', file }), 400, 'temperature'],
    [form({ model: 'm', file, cover: new Blob(['x'.repeat(11)]) }), 413, 'cover'],
    [form({ model: 'm', file: new Blob([new Uint8Array(3 * 1024 * 1024 + 1)]) }), 413, 'file'],
  ];
  const full = form({ model: 'm', file, cover: new Blob(['x'.repeat(10)]) });
  assert.equal((await post(full)).status, 200, 'a file may be as large as its bound');
  const twice = form({ model: 'm', file: new Blob(['x']) });
  twice.append('file', new Blob(['y']), 'y');
  cases.push([twice, 400, 'file']);
  for (const [data, status, param] of cases) {
    const { status: actual, json } = await post(data);
    assert.equal(actual, status, param);
    assert.equal(json.error?.param, param);
  }
});

test('malformed bodies are 400 instead of half read', async () => {
  const part = (name: string, value: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const upload = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nx\r\n';
  const whole = `${part('model', 'm')}${upload}--b--\r\n`;
  const type = 'multipart/form-data; boundary=b';
  assert.equal((await post(whole, type)).status, 200);
  assert.equal((await post(whole, 'multipart/form-data; charset=utf-8; boundary="b"')).status, 200);
  const bad: [string, string][] = [
    [whole.slice(0, -6), type],
    ['', type],
    ['garbage', type],
    [whole, 'multipart/form-data'],
    [whole, 'multipart/form-data; boundary='],
    [whole, 'multipart/form-data; boundary=other'],
    [whole.replaceAll('--b', '--b*'), 'multipart/form-data; boundary=b*'],
    [whole.replace('"f"', `"f"\r\na: ${'b'.repeat(8 * 1024)}`), type],
    [`${part('model', 'm')}--b\r\n${'a: b\r\n'.repeat(30)}\r\nx\r\n${upload}--b--\r\n`, type],
    [`--b\r\ncontent-disposition: form-data\r\n\r\nx\r\n${whole}`, type],
    [`${part('model', 'm').repeat(200)}--b--`, type],
    [`${part('model', 'm')}--bx\r\n${upload}--b--`, type],
    [`--b\r\ncontent-disposition: form-data; name="model"\r\n--b--`, type],
    [whole.replaceAll('\r\n', '\n'), type],
    [`${part('__proto__', 'm')}${whole}`, type],
  ];
  for (const [body, contentType] of bad) {
    const { status, json } = await post(body, contentType);
    assert.equal(status, 400, `${contentType} ${body.slice(0, 80)} ${JSON.stringify(json)}`);
  }
  for (let cut = 0; cut < whole.length - 2; cut += 1) {
    const { status } = await post(whole.slice(0, cut), type);
    assert.ok(status === 400 || cut >= whole.length - 2, `cut at ${cut}: ${status}`);
  }
});

test('a hundred parts are read, and one more is refused', async () => {
  const upload = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nx\r\n';
  const model = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n';
  const flag = '--b\r\ncontent-disposition: form-data; name="include[]"\r\n\r\ni\r\n';
  const at = (count: number) =>
    post(`${upload}${model}${flag.repeat(count - 2)}--b--\r\n`, 'multipart/form-data; boundary=b');
  assert.equal((await at(100)).status, 200);
  assert.equal((await at(101)).status, 400);
});

test('a file name is cut, and a file outlives the body that it came in', () => {
  const read = createMultipartReader({
    kind: 'multipart',
    schema: v.strictObject({}),
    bytesMax: 10_000,
    files: { file: { required: true, bytesMax: 100 } },
  });
  const name = `${'n'.repeat(300)}.mp3`;
  const bytes = Buffer.from(
    `--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\nx\r\n--b--\r\n`,
  );
  const { file } = read(bytes, 'multipart/form-data; boundary=b').files;
  bytes.fill(0);
  assert.equal(file?.filename, `${'n'.repeat(251)}.mp3`);
  assert.deepEqual([...(file?.bytes ?? [])], [...Buffer.from('x')]);
});

test('what looks like a delimiter inside a line is data', async () => {
  const head = (rest: string) => `--b\r\ncontent-disposition: form-data; ${rest}\r\n\r\n`;
  const type = 'multipart/form-data; boundary=b';
  for (const data of ['x--b--x', 'x\n--b--', 'x\r--b\r\n', '', '\r\n', '\r\n--', 'x\r\n']) {
    const file = `${head(`name="file"; filename="--b \\"f\\"; name=x"`)}${data}\r\n`;
    const body = `before\r\n${file}--b \t\r\n${head('name=model').slice(5)}m\r\n--b--after`;
    const { status, json } = await post(body, type);
    assert.equal(status, 200, JSON.stringify([data, json]));
    const [described] = json.files as { filename: string; length: number; sum: number }[];
    assert.equal(described?.filename, '--b "f"; name=x');
    assert.equal(described?.length, data.length, data);
    assert.equal(
      described?.sum,
      [...Buffer.from(data)].reduce((sum, byte) => sum + byte, 0),
    );
    assert.deepEqual(json.body, { model: 'm' });
  }
});

test('another media type is 415', async () => {
  assert.equal((await post('{}', 'application/json')).status, 415);
  assert.equal((await post('{}', 'multipart/form-database')).status, 415);
});
