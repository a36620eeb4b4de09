// Images and files of a message may be on the web or in the request: no provider is sent to its own
// disk, to its neighbours, or to the metadata service of its cloud.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed.close());

const text = 'look [[sim tokens=1]]';

/** The bodies of every format that name this URL, by path, and where they do. */
function bodiesWith(url: string): [string, Record<string, unknown>, string][] {
  const model = 'svc-sim-chat';
  const image = { type: 'image_url', image_url: { url } };
  const file = { type: 'file', file: { file_data: url } };
  const source = { type: 'url', url };
  // Neither a word of it nor a call's arguments is where the URL stands that is fetched.
  const said = { role: 'user', content: [{ type: 'text', text: url || text }] };
  const call = { type: 'tool_use', id: 'a', name: 'look', input: { image_url: url } };
  const turns = (part: object) => [
    said,
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ type: 'text', text }, part] },
  ];
  const result = { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source }] };
  const words = { type: 'input_text', text };
  const items = (part: object) => [
    { role: 'user', content: [words] },
    { role: 'user', content: [words, part] },
  ];
  const nested = {
    type: 'document',
    source: { type: 'content', content: [{ type: 'image', source }] },
  };
  const output = [{ type: 'input_image', image_url: url }];
  const custom = { type: 'custom_tool_call_output', call_id: 'a', output };
  const picture = items({ type: 'input_image', image_url: url });
  const document = { type: 'document', source };
  const asked = { model, max_tokens: 9 };
  const chat = (part: object) => [said, { role: 'user', content: [{ type: 'text', text }, part] }];
  const at = 'messages[2].content[1]';
  return [
    [
      '/v1/chat/completions',
      { model, messages: chat(image) },
      'messages[1].content[1].image_url.url',
    ],
    [
      '/v1/chat/completions',
      { model, messages: chat(file) },
      'messages[1].content[1].file.file_data',
    ],
    ['/v1/responses', { model, input: picture }, 'input[1].content[1].image_url'],
    ['/v1/responses', { model, messages: picture }, 'messages[1].content[1].image_url'],
    [
      '/v1/responses',
      { model, input: items({ type: 'input_file', file_url: url }) },
      'input[1].content[1].file_url',
    ],
    [
      '/v1/responses',
      { model, input: items({ type: 'input_file', file_url: url, file_data: 'x' }) },
      'input[1].content[1].file_url',
    ],
    ['/v1/responses', { model, input: [custom] }, 'input[0].output[0].image_url'],
    ['/api/v1/llm/responses', { model, input: picture }, 'input[1].content[1].image_url'],
    ['/v1/messages', { ...asked, messages: turns({ type: 'image', source }) }, `${at}.source.url`],
    ['/v1/messages/count_tokens', { model, messages: turns(document) }, `${at}.source.url`],
    ['/v1/messages', { ...asked, messages: turns(result) }, `${at}.content[0].source.url`],
    ['/v1/messages', { ...asked, messages: turns(nested) }, `${at}.source.content[0].source.url`],
  ];
}

async function post(path: string, body: object) {
  const reply = await fetch(bed.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: reply.status, text: await reply.text() };
}

test('what no provider may fetch is refused in every format', async () => {
  const { started } = await bed.simulator.stats();
  for (const url of [
    '',
    ' ',
    'file:///etc/passwd',
    ' FILE:/etc/passwd',
    'javascript:alert(1)',
    'ftp://example.com/b.png',
    'http://',
    'http://169.254.169.254/latest/meta-data',
    'http://2852039166/',
    'http://[::ffff:169.254.169.254]/',
    'http://metadata.google.internal/',
    'http://127.0.0.1:11434/api/tags',
    'http://localhost/',
    'http://[64:ff9b::169.254.169.254]/',
    'http://example.com\\@169.254.169.254/',
    'http://user@example.com/',
    'http://example.com/a b',
    'http://intranet/',
    'http://db.internal/',
    'http://printer.local./',
    '//169.254.169.254/',
  ]) {
    for (const [path, body, field] of bodiesWith(url)) {
      const reply = await post(path, body);
      assert.equal(reply.status, 400, `${path} ${url}: ${reply.text}`);
      const { message, param, details } = JSON.parse(reply.text).error;
      assert.match(message, /^The URL in '.+' (is|must be) /, `${path} ${url}`);
      assert.equal(message.split("'")[1], field, `${path} ${url}`);
      if (!path.startsWith('/v1/messages')) assert.equal(param ?? details.path, field, path);
    }
  }
  assert.equal((await bed.simulator.stats()).started, started, 'nobody was asked');
});

test('a seal that the client has made himself carries no document past this', async () => {
  const source = { type: 'url', url: 'http://169.254.169.254/' };
  for (const [model, sealed] of [
    ['svc-sim-messages', ['messages', { type: 'document', source }]],
    ['svc-sim-chat', ['chat', { type: 'image_url', image_url: source }]],
    ['svc-sim-responses', ['responses', { type: 'input_image', image_url: source.url }]],
  ] as const) {
    const content = `svc1.${Buffer.from(JSON.stringify(sealed)).toString('base64url')}`;
    const reasoning = { type: 'reasoning', summary: [], encrypted_content: content };
    await post('/v1/responses', { model, input: [reasoning, { role: 'user', content: text }] });
    assert.doesNotMatch(JSON.stringify(await bed.simulator.lastBody()), /169\.254/, model);
  }
});

test('no provider connects to an internal server for its tools', async () => {
  const url = 'http://169.254.169.254/mcp';
  const mcp = { type: 'mcp', server_label: 'x', server_url: url };
  const named = { type: 'url', name: 'x', url };
  const messages = [{ role: 'user', content: text }];
  for (const [path, body, field] of [
    ['/v1/responses', { input: text, tools: [mcp] }, 'tools[0].server_url'],
    ['/v1/messages', { max_tokens: 9, messages, mcp_servers: [named] }, 'mcp_servers[0].url'],
  ] as const) {
    const reply = await post(path, { model: 'svc-sim-responses', ...body });
    assert.equal(reply.status, 400, reply.text);
    assert.ok(reply.text.includes(`The URL in '${field}' is of a private network`), reply.text);
    if (path === '/v1/responses') assert.equal(JSON.parse(reply.text).error.param, field);
  }
});

test('where a search has been is fetched by nobody', async () => {
  const block = { type: 'search_result', source: 'doc:1', title: 't', content: [] };
  const search = { type: 'web_search_call', action: { type: 'open_page', url: 'about:blank' } };
  const user = { role: 'user', content: text };
  const model = 'svc-sim-chat';
  const input = [search, user];
  assert.equal((await post('/v1/responses', { model, input })).status, 200);
  const messages = [{ role: 'assistant', content: [block] }, user];
  assert.equal((await post('/v1/messages', { model, max_tokens: 9, messages })).status, 200);
});

test('the web and data in the request are fine', async () => {
  for (const url of [
    'https://example.com/b.png?c=d',
    'HTTP://example.com:8080/b.png',
    'data:image/png;base64,iVBORw0KGgo=',
    'iVBORw0KGgo=',
  ]) {
    const [, chat] = bodiesWith(url)[0] ?? [];
    const reply = await post('/v1/chat/completions', chat ?? {});
    assert.equal(reply.status, 200, `${url}: ${reply.text}`);
  }
});

const formats = ['chat', 'responses', 'messages', 'gemini'];

test('every family of providers is sent the parsed URL, never the client’s text', async () => {
  const written = 'HTTPS://Example.com:443/x/../%62.png';
  const parsed = 'https://example.com/%62.png';
  for (const [path, body, field] of bodiesWith(written)) {
    if (path.endsWith('count_tokens') || field.endsWith('file_data')) continue;
    for (const format of formats) {
      const reply = await post(path, { ...body, model: `svc-sim-${format}` });
      // Not every family has a form for every part; what it is sent has no other spelling.
      if (reply.status !== 200) {
        assert.equal(reply.status, 400, `${path} ${field} ${format}: ${reply.text}`);
        continue;
      }
      const sent = JSON.stringify(await bed.simulator.lastBody());
      const where = `${path} ${field} ${format}: ${sent}`;
      // What was said, and the arguments of calls, stay as they are.
      const spellings = (json: string) => json.split(written).length - 1;
      assert.ok(sent.includes(parsed), where);
      assert.equal(spellings(sent), spellings(JSON.stringify(body)) - 1, where);
    }
  }
});

test('sound and documents by their addresses are checked and parsed as pictures are', async () => {
  const model = 'svc-sim-chat';
  const written = 'HTTPS://Example.com/a.wav';
  const bodyWith = (part: object) => ({
    model,
    messages: [{ role: 'user', content: [{ type: 'text', text }, part] }],
  });
  const heard = { type: 'input_audio', input_audio: { data: written, format: 'wav' } };
  for (const part of [
    heard,
    { type: 'audio_url', audio_url: { url: written } },
    { type: 'video_url', video_url: { url: written } },
    { type: 'document_url', document_url: written },
  ]) {
    const inner = JSON.parse(JSON.stringify(part).replace(written, 'http://printer.local/'));
    const refused = await post('/v1/chat/completions', bodyWith(inner));
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, /private network/);
    // This model hears nothing.
    if (part === heard) continue;
    const reply = await post('/v1/chat/completions', bodyWith(part));
    assert.equal(reply.status, 200, reply.text);
    const sent = JSON.stringify(await bed.simulator.lastBody());
    assert.ok(sent.includes('https://example.com/a.wav') && !sent.includes(written), sent);
  }
});

test('a stored turn is read again before it is sent again', async () => {
  const model = 'svc-sim-responses';
  const image = { type: 'input_image', image_url: 'https://example.com/b.png' };
  const input = [{ role: 'user', content: [{ type: 'input_text', text }, image] }];
  const first = JSON.parse((await post('/v1/responses', { model, input })).text) as { id: string };
  const next = { model, input: text, previous_response_id: first.id };
  const rewrite = (url: string) => bed.sql`
    UPDATE responses SET input = replace(input::text, ${image.image_url}, ${url})::json
    WHERE input::text LIKE ${'%example.com/b.png%'} OR input::text LIKE ${'%Example.com/b.png%'}`;
  // As an older version has kept it.
  await rewrite('HTTPS://Example.com/b.png');
  assert.equal((await post('/v1/responses', next)).status, 200);
  const sent = JSON.stringify(await bed.simulator.lastBody());
  assert.ok(sent.includes(image.image_url) && !sent.includes('HTTPS:'), sent);
});
