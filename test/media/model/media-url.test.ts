// Every place of a body that a provider would fetch from, in every format. What is refused there,
// what goes on as it was parsed, and what nobody fetches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withParsedUrls } from '../../../media/model/media-url.ts';
import { Problem } from '../../../runtime/problem.ts';

type Members = Record<string, unknown>;
const user = (...content: unknown[]) => [{ role: 'user', content }];

/** Bodies that have this URL in one place, by that place. */
const places: Record<string, (url: unknown) => Members> = {
  // Chat.
  'messages[0].content[0].image_url.url': (url) => ({
    messages: user({ type: 'image_url', image_url: { url, detail: 'low' } }),
  }),
  'messages[0].content[0].image_url': (url) => ({
    messages: user({ type: 'image_url', image_url: url }),
  }),
  'messages[0].content[0].file.file_data': (url) => ({
    messages: user({ type: 'file', file: { file_data: url } }),
  }),
  'messages[0].content[0].input_audio.data': (url) => ({
    messages: user({ type: 'input_audio', input_audio: { data: url, format: 'wav' } }),
  }),
  'messages[0].content[0].input_audio': (url) => ({
    messages: user({ type: 'input_audio', input_audio: url }),
  }),
  'messages[0].content[0].audio_url.url': (url) => ({
    messages: user({ type: 'audio_url', audio_url: { url } }),
  }),
  'messages[0].content[0].video_url.url': (url) => ({
    messages: user({ type: 'video_url', video_url: { url } }),
  }),
  'messages[0].content[0].document_url': (url) => ({
    messages: user({ type: 'document_url', document_url: url }),
  }),
  'messages[0].content[0].image': (url) => ({ messages: user({ type: 'image', image: url }) }),
  'messages[0].content[0].video[1]': (url) => ({
    messages: user({ type: 'video', video: ['https://example.com/1.png', url] }),
  }),
  'messages[0].images[0].image_url.url': (url) => ({
    messages: [{ role: 'assistant', content: '', images: [{ image_url: { url } }] }],
  }),
  // Responses.
  'input[0].content[0].image_url': (url) => ({
    input: user({ type: 'input_image', image_url: url }),
  }),
  'input[0].content[0].file_url': (url) => ({ input: user({ type: 'input_file', file_url: url }) }),
  'input[0].content[0].file_data': (url) => ({
    input: user({ type: 'input_file', file_data: url, filename: 'a.pdf' }),
  }),
  'input[0].output[0].image_url': (url) => ({
    input: [{ type: 'function_call_output', call_id: 'c', output: [{ image_url: url }] }],
  }),
  'input[0].output.image_url': (url) => ({
    input: [{ type: 'computer_call_output', output: { type: 'screenshot', image_url: url } }],
  }),
  'tools[0].server_url': (url) => ({ tools: [{ type: 'mcp', server_url: url }] }),
  'tools[0].input_image_mask.image_url': (url) => ({
    tools: [{ type: 'image_generation', input_image_mask: { image_url: url } }],
  }),
  // Messages.
  'messages[0].content[0].source.url': (url) => ({
    messages: user({ type: 'image', source: { type: 'url', url } }),
  }),
  'messages[0].content[0].content[0].source.url': (url) => ({
    messages: user({ type: 'tool_result', content: [{ source: { type: 'url', url } }] }),
  }),
  'messages[0].content[0].source.content[0].source.url': (url) => ({
    messages: user({ source: { type: 'content', content: [{ source: { type: 'url', url } }] } }),
  }),
  'system[0].source.url': (url) => ({ system: [{ type: 'document', source: { url } }] }),
  'mcp_servers[0].url': (url) => ({ mcp_servers: [{ type: 'url', name: 'x', url }] }),
};
const lists = ['input', 'messages', 'system', 'tools', 'mcp_servers'];
const parse = (body: Members) => withParsedUrls(body, lists);

function refusalOf(body: Members): Problem {
  try {
    parse(body);
  } catch (error) {
    assert.ok(error instanceof Problem);
    return error;
  }
  assert.fail(`${JSON.stringify(body)} was not refused`);
}

const bad: [url: string, message: RegExp][] = [
  ['', /is empty/],
  [' \n', /is empty/],
  ['http://example.com\\@169.254.169.254/', /a backslash/],
  ['http://intranet/', /private network/],
  ['http://db.internal/a.png', /private network/],
  ['http://printer.local/a.png', /private network/],
  ['http://2852039166/', /private network/],
  ['http://[64:ff9b::169.254.169.254]/', /private network/],
  ['https://a:b@example.com/', /without a user/],
  ['\u0001http://example.com/', /control character/],
  ['h\tttp://example.com/', /a blank/],
  [' https://example.com/', /a blank/],
  ['file:///etc/passwd', /must be http/],
  [' FILE:/etc/passwd', /must be http/],
  ['gs://bucket/a.png', /must be http/],
  ['blob:https://example.com/1', /must be http/],
  ['data:image/png;base64', /no data/],
  [' data:image/png;base64,AA', /must be http/],
  ['//169.254.169.254/a', /not a URL/],
  ['/srv/secret.png', /not a URL/],
  ['169.254.169.254/latest', /not a URL/],
  [`${' '.repeat(5_000)}https://example.com/`, /must be http/],
  [`h${'\r\n'.repeat(3_000)}ttp://169.254.169.254/`, /must be http/],
];

test('what no provider may fetch is refused in every place, with its path', () => {
  for (const [path, bodyWith] of Object.entries(places)) {
    for (const [url, message] of bad) {
      const problem = refusalOf(bodyWith(url));
      assert.equal(problem.code, 'invalid_request');
      assert.match(problem.message, message, `${path} ${url}`);
      assert.ok(problem.message.startsWith(`The URL in '${path}' `), problem.message);
    }
  }
});

test('what is of the web goes on as it was parsed, and the client’s body stays as it is', () => {
  const url = 'HTTPS://Example.com:443/a/../b.png';
  for (const [path, bodyWith] of Object.entries(places)) {
    const body = bodyWith(url);
    const before = structuredClone(body);
    assert.deepEqual(parse(body), bodyWith('https://example.com/b.png'), path);
    assert.deepEqual(body, before, path);
  }
});

test('a body whose URLs are as they are parsed is no copy', () => {
  const urls = [
    'https://example.com/b.png',
    'data:image/png;base64,iVBORw0KGgo=',
    'data:text/plain,a%20text: with a colon',
    'iVBORw0KGgo=',
    'QUJD\r\n'.repeat(1_000),
    'QUJD'.repeat(250_000),
    null,
    undefined,
    7,
  ];
  for (const [path, bodyWith] of Object.entries(places)) {
    for (const url of urls) {
      const body = bodyWith(url);
      assert.equal(parse(body), body, `${path} ${String(url).slice(0, 40)}`);
    }
  }
});

test('what nobody fetches is left alone', () => {
  const url = 'http://localhost/';
  const schema = { type: 'object', properties: { image_url: url } };
  const bodies: Members[] = [
    { messages: [{ role: 'user', content: url }] },
    { messages: user({ type: 'text', text: url }) },
    { messages: user({ type: 'tool_use', id: 'a', name: 'f', input: { image_url: url } }) },
    { messages: user({ type: 'server_tool_use', input: { file_url: url } }) },
    { messages: user({ type: 'search_result', source: 'doc:1', title: 't', content: [] }) },
    { messages: user({ type: 'web_search_tool_result', content: [{ url }] }) },
    { messages: user({ type: 'text', text: 'a', citations: [{ url }] }) },
    { messages: user({ type: 'document', source: { type: 'text', data: 'note: a text' } }) },
    { input: [{ type: 'web_search_call', action: { type: 'open_page', url: 'about:blank' } }] },
    { input: [{ type: 'message', content: [{ annotations: [{ type: 'url_citation', url }] }] }] },
    { messages: user({ type: 'document', document: { data: '{"time": 12}', id: 'd' } }) },
    { messages: [{ role: 'assistant', content: null, audio: { id: 'audio_1' } }] },
    { input: url },
    { tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] },
    { tools: [{ type: 'function', name: 'f', parameters: schema }] },
    { tools: [{ name: 'f', input_schema: schema }] },
    { tools: [{ type: 'shell', image: 'python:3.12' }] },
  ];
  for (const body of bodies) {
    assert.equal(parse(body), body, JSON.stringify(body));
  }
});

test('an argument hides nothing that is fetched, and a member’s name is of any length', () => {
  const source = { type: 'url', url: 'http://localhost/' };
  const input = { messages: user({ type: 'image', input: { source } }) };
  assert.match(refusalOf(input).message, /content\[0\]\.input\.source\.url/);
  const long = { messages: user({ ['x'.repeat(300)]: { source } }) };
  assert.match(refusalOf(long).message, /^The URL in 'messages' /);
});
