// What must arrive upstream, seen in the body that the simulator got last: images, and what one
// family gives with a tool call and wants back, also when the conversation goes on at another one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type Ask, ask, type ClientFormat, type Outcome, type Turn } from './ask.ts';
import { Play, type UpstreamFamily } from './play.ts';
import { families, formats } from './table.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

async function upstreamBody(): Promise<string> {
  return JSON.stringify(await bed.simulator.lastBody());
}

function send(format: ClientFormat, family: UpstreamFamily, what: Ask): Promise<Outcome> {
  return new Play({ format, family }, account).send(what, true);
}

const first = ask('[[sim call=find,list tokens=3]]', { tools: ['find', 'list'] });

function continued({ calls }: Outcome): Ask {
  const said: Turn = { role: 'assistant', text: '', calls };
  const results = calls.map(({ id }): Turn => ({ role: 'tool', callId: id, text: 'ok' }));
  return { ...first, turns: [...first.turns, said, ...results] };
}

function signaturesIn(body: string): string[] {
  return [...body.matchAll(/"thoughtSignature":"([^"]+)"/g)].map(([, text]) => text ?? '');
}

for (const format of formats) {
  for (const began of families) {
    for (const goesOn of families) {
      test(`${format.name}: calls of ${began.name} go on at ${goesOn.name}`, async () => {
        const outcome = await send(format, began, first);
        assert.equal(outcome.calls.length, 2);
        for (const { id } of outcome.calls) assert.match(id, /^[A-Za-z0-9_-]+$/);
        const final = await send(format, goesOn, continued(outcome));
        assert.equal(final.text, ' t0 t1 t2', final.error ?? '');
        const body = await upstreamBody();
        assert.ok(!body.includes('__sig'), 'the ids are plain again');
        const signatures = signaturesIn(body);
        assert.equal(signatures.length, goesOn.name === 'gemini' ? 1 : 0);
        if (goesOn.name !== 'gemini') return;
        const text = Buffer.from(signatures[0] ?? '', 'base64').toString();
        const isReal = text.startsWith('simulated thought');
        assert.equal(isReal, began.name === 'gemini', 'the signature itself, or the stand-in');
      });
    }
  }
}

const data = 'iVBORw0KGgoAAAANSUhEUg==';

for (const format of formats) {
  for (const family of families) {
    test(`${format.name} in, ${family.name} out: an image arrives`, async () => {
      const imageUrl = `data:image/png;base64,${data}`;
      const turns: Turn[] = [{ role: 'user', text: 'see [[sim tokens=1]]', imageUrl }];
      const outcome = await send(format, family, ask('', { turns }));
      assert.equal(outcome.text, ' t0');
      assert.ok((await upstreamBody()).includes(data));
    });
  }
}

test('messages in, chat out: a budget to think arrives as an effort', async () => {
  const format = formats.find(({ name }) => name === 'messages');
  const family = families.find(({ name }) => name === 'chat');
  assert.ok(format !== undefined && family !== undefined);
  await send(format, family, ask('[[sim tokens=1]]', { thinks: true }));
  assert.match(await upstreamBody(), /"reasoning_effort":"low"/);
});

const image = { type: 'base64', media_type: 'image/png', data };
const pictured = {
  max_tokens: 9,
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
  messages: [
    { role: 'user', content: 'look [[sim tokens=1]]' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look', input: {} }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c',
          is_error: true,
          content: [
            { type: 'text', text: 'here' },
            { type: 'image', source: image },
          ],
        },
      ],
    },
  ],
};

for (const { name, model } of families) {
  test(`messages in, ${name} out: the image and the failure of a tool arrive`, async () => {
    const response = await fetch(`${account.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...pictured }),
    });
    assert.equal(response.status, 200, await response.text());
    const body = await upstreamBody();
    assert.ok(body.includes(data));
    assert.match(body, /"is_error":true|This call failed|"error":"here"/);
  });
}

const say = (text: string) => ({ type: 'text', text });
const found = (text: string) => ({
  type: 'search_result',
  source: 'notes/7',
  title: 'Notes',
  content: [say(text)],
  citations: { enabled: true },
});
const read = {
  max_tokens: 9,
  tools: pictured.tools,
  messages: [
    {
      role: 'user',
      content: [
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'flat words' },
        },
        { type: 'document', source: { type: 'content', content: [say('one piece'), say('two')] } },
        found('asked words'),
        say('read [[sim tokens=1]]'),
      ],
    },
    ...pictured.messages.slice(1, 2),
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c', content: [found('told')] }],
    },
  ],
};

for (const { name, model } of families) {
  test(`messages in, ${name} out: instructions and a greeting may stand first`, async () => {
    const messages = [
      { role: 'system', content: 'be kind' },
      { role: 'system', content: [say('be brief')] },
      { role: 'assistant', content: 'Good morning!' },
      { role: 'user', content: '[[sim tokens=1]]' },
    ];
    for (const path of ['messages', 'messages/count_tokens']) {
      const response = await fetch(`${account.baseUrl}/v1/${path}`, {
        method: 'POST',
        headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ model, max_tokens: 9, system: 'be honest', messages }),
      });
      const answer = await response.text();
      assert.equal(response.status, 200, answer);
      if (path !== 'messages') continue;
      const body = await upstreamBody();
      for (const text of ['be honest', 'be kind', 'be brief', 'Good morning!']) {
        assert.ok(body.includes(text), body);
      }
    }
  });
}

/** All that a body says, what it says in base64 too. */
function wordsIn(body: string): string {
  const encoded = [...body.matchAll(/"(?:data:[^"]*;base64,)?([A-Za-z0-9+/]{8,}={0,2})"/g)];
  return [body, ...encoded.map(([, text]) => Buffer.from(text ?? '', 'base64'))].join('\n');
}

for (const { name, model } of families) {
  test(`messages in, ${name} out: text documents and search results arrive`, async () => {
    const response = await fetch(`${account.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...read }),
    });
    assert.equal(response.status, 200, await response.text());
    const body = await upstreamBody();
    const words = wordsIn(body);
    for (const text of ['flat words', 'one piece', 'asked words', 'notes/7', 'told']) {
      assert.ok(words.includes(text), `${text} is not in ${body}`);
    }
    // The vendor's Chat takes PDF alone, other servers of the format take no files.
    if (name === 'chat') assert.ok(!body.includes('"type":"file"'), body);
  });
}

test('a stored response goes on at the family that signed its calls', async () => {
  const post = async (members: Record<string, unknown>) => {
    const response = await fetch(`${account.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'svc-sim-gemini', ...members }),
    });
    assert.equal(response.status, 200);
    return (await response.json()) as {
      id: string;
      output: { call_id: string; content?: { text: string }[] }[];
    };
  };
  const tools = [{ type: 'function', name: 'find', parameters: { type: 'object' } }];
  const asked = await post({ input: '[[sim call=find tokens=2]]', tools });
  const callId = asked.output[0]?.call_id ?? '';
  const answered = await post({
    previous_response_id: asked.id,
    input: [{ type: 'function_call_output', call_id: callId, output: 'ok' }],
    tools,
  });
  assert.equal(answered.output[0]?.content?.[0]?.text, ' t0 t1');
  const [signature] = signaturesIn(await upstreamBody());
  assert.match(Buffer.from(signature ?? '', 'base64').toString(), /^simulated thought/);
});

const counters = families.filter(({ name }) => name !== 'chat');
/** What a generation tells the model beside the client's words: in one way each, or not at all. */
const told: Record<string, Record<string, unknown>> = {
  'the client’s words alone': { tools: [{ name: 'find', input_schema: { type: 'object' } }] },
  'a client’s context': { client_context: { timezone: 'Europe/Berlin', locale: 'de' } },
  'a format in words': { response_format: { type: 'json_object' } },
};
for (const [family, [how, members]] of counters.flatMap((one) =>
  Object.entries(told).map((entry) => [one, entry] as const),
)) {
  test(`${family.name} counts beforehand what it reports afterwards: ${how}`, async () => {
    const body = {
      model: family.model,
      system: 'be kind',
      messages: [{ role: 'user', content: 'one two three [[sim json=good]]' }],
      ...members,
    };
    const post = async (path: string, members: Record<string, unknown> = {}) => {
      const response = await fetch(account.baseUrl + path, {
        method: 'POST',
        headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, ...members }),
      });
      assert.equal(response.status, 200);
      return (await response.json()) as Record<string, unknown>;
    };
    const counted = await post('/v1/messages/count_tokens');
    const { usage } = await post('/v1/messages', { max_tokens: 16 });
    assert.equal(counted.svc_estimated, false);
    assert.equal(counted.input_tokens, (usage as { input_tokens: number }).input_tokens);
    if (how === 'the client’s words alone') assert.equal(counted.input_tokens, 7);
  });
}
