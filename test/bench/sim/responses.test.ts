// The Responses family of the simulator against the vendor's own client and published types.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { encoded, eventsOf, eventually, post, statsOf } from './probe.ts';
import { readPublished } from './published.ts';

type Params = Pick<
  OpenAI.Responses.ResponseCreateParamsNonStreaming,
  | 'include'
  | 'instructions'
  | 'max_output_tokens'
  | 'reasoning'
  | 'store'
  | 'text'
  | 'tool_choice'
  | 'tools'
>;

const model = 'simulated-responses-large-2026-01-15';
const published = readPublished('openai/resources/responses/responses');
const authorization = { authorization: 'Bearer right' };
let sim: RunningSim;
let client: OpenAI;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
  client = clientWith('right');
});
after(() => sim.close());

function clientWith(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${sim.port}/v1`, maxRetries: 0 });
}

function ask(input: string, more: Params = {}) {
  return { model, input, ...more };
}

function declared(name: string): OpenAI.Responses.FunctionTool {
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  };
  return { type: 'function', name, description: name, strict: false, parameters };
}

const tools = [declared('weather'), declared('clock')];
const patch = { type: 'custom' as const, name: 'apply_patch' };
const webSearch = { type: 'web_search' as const };
const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
const format = { type: 'json_schema' as const, name: 'thing', schema };
const sealedReasoning: Params = { include: ['reasoning.encrypted_content'], store: false };
const everything: [string, Params][] = [
  ['[[sim tokens=40 cached=1 cache_write=1]]', { instructions: 'be kind' }],
  ['[[sim tokens=0]]', {}],
  ['[[sim reasoning=5]]', { reasoning: { summary: 'auto', effort: 'low' } }],
  ['[[sim reasoning=5]]', sealedReasoning],
  ['[[sim tool=weather,clock reasoning=1]]', { tools }],
  [`[[sim call=apply_patch:${encoded('*** Begin\n')}]]`, { tools: [patch] }],
  [
    'penguins [[sim search=2]]',
    { tools: [webSearch], include: ['web_search_call.action.sources'] },
  ],
  ['penguins [[sim search=1 empty=1]]', { tools: [webSearch] }],
  ['[[sim refusal=1]]', {}],
  ['[[sim tokens=20]]', { max_output_tokens: 16 }],
  ['hello', { text: { format } }],
];

/** What the types forbid or want and the provider does all the same. */
const known = /\.(obfuscation is not published|output_text is missing|usage: null|user: null)/;

function findings(value: unknown, type: string): string[] {
  return published.findings(value, type).filter((finding) => !known.test(finding));
}

test('what it sends has the published types, whole and streamed, without a gap', async () => {
  for (const [text, more] of everything) {
    const reply = await post(sim, '/v1/responses', ask(text, more), authorization);
    assert.equal(reply.status, 200, text);
    assert.deepEqual(findings(await reply.json(), 'Response'), [], text);
    const body = { ...ask(text, more), stream: true };
    const events = await eventsOf(await post(sim, '/v1/responses', body, authorization));
    events.forEach(({ name, data }, index) => {
      const { type, sequence_number: number } = data as { type: string; sequence_number: number };
      assert.deepEqual([type, number], [name, index]);
      assert.deepEqual(findings(data, 'ResponseStreamEvent'), [], text);
    });
    const names = events.map(({ name }) => name);
    assert.deepEqual(names.slice(0, 2), ['response.created', 'response.in_progress']);
    const end = more.max_output_tokens === undefined ? 'completed' : 'incomplete';
    assert.equal(names.at(-1), `response.${end}`);
  }
});

test('the stream helper ends with the same response as the whole answer', async () => {
  for (const [text, more] of everything) {
    const whole = await client.responses.create(ask(text, more));
    const stream = client.responses.stream({ ...ask(text, more) });
    const streamed = await stream.finalResponse();
    const comparable = (response: typeof whole) => {
      const { output, usage, status, incomplete_details, tool_usage } = response;
      const ids = /"((?:call|rs|ws|msg|fc|ctc)_)\w+"|"encrypted_content":"\w+"/g;
      const own = (name: string, value: unknown) => (/^parsed/.test(name) ? undefined : value);
      const plain = JSON.stringify(output, own).replace(ids, '$1');
      return { plain, usage, status, incomplete_details, tool_usage };
    };
    assert.deepEqual(comparable(streamed as typeof whole), comparable(whole), text);
  }
});

test('streams the deltas of text, and says their sum', async () => {
  const stream = await client.responses.create({ ...ask('[[sim tokens=200]]'), stream: true });
  let text = '';
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') text += event.delta;
    if (event.type === 'response.output_text.done') assert.equal(event.text, text);
  }
  assert.equal(text, Array.from({ length: 200 }, (_, index) => ` t${index}`).join(''));
});

test('counts words of all items, and input_tokens says the same beforehand', async () => {
  const body = {
    model,
    instructions: 'be very kind',
    input: [
      { role: 'developer' as const, content: 'one two' },
      {
        role: 'user' as const,
        content: [
          { type: 'input_text' as const, text: 'three [[sim tokens=3 cached=2]]' },
          {
            type: 'input_image' as const,
            detail: 'auto' as const,
            image_url: 'data:image/png;base64,iVBORw0KGgo=',
          },
        ],
      },
    ],
  };
  const counted = await client.responses.inputTokens.count(body);
  assert.equal(counted.input_tokens, 9);
  const { usage } = await client.responses.create(body);
  assert.equal(usage?.input_tokens, 9);
  assert.equal(usage?.input_tokens_details.cached_tokens, 2);
  assert.equal(usage?.output_tokens, 3);
});

test('a scripted agent calls tool after tool with the arguments that were given', async () => {
  const first = `call=weather:${encoded({ city: 'Köln' })},clock`;
  const script = `${first} call=apply_patch:${encoded('+ö')}`;
  const namespaced = { type: 'namespace' as const, name: 'places', description: 'x', tools };
  const input: OpenAI.Responses.ResponseInputItem[] = [
    { role: 'user', content: `go [[sim ${script} reasoning=1 text=all_done]]` },
  ];
  const called: unknown[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const body = { model, input, tools: [namespaced, patch], ...sealedReasoning };
    const response = await client.responses.stream(body as never).finalResponse();
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    for (const item of response.output) {
      if (item.type === 'function_call') {
        called.push([item.namespace, item.name, JSON.parse(item.arguments)]);
        input.push({ type: 'function_call_output', call_id: item.call_id, output: 'sunny' });
      }
      if (item.type === 'custom_tool_call') {
        called.push([item.name, item.input]);
        input.push({ type: 'custom_tool_call_output', call_id: item.call_id, output: 'done' });
      }
    }
    input.push({ role: 'user', content: 'go on' });
    if (response.output.some(({ type }) => type === 'message')) {
      assert.equal(response.output_text, 'all done');
      break;
    }
  }
  assert.deepEqual(called, [
    ['places', 'weather', { city: 'Köln' }],
    ['places', 'clock', {}],
    ['apply_patch', '+ö'],
  ]);
});

test('reasons, refuses and searches in items of their own', async () => {
  const thought = await client.responses.create(
    ask('[[sim reasoning=5]]', { reasoning: { summary: 'auto' } }),
  );
  const [reasoning] = thought.output;
  assert.ok(reasoning?.type === 'reasoning');
  assert.deepEqual(
    reasoning.summary.map(({ text }) => text),
    [' r0 r1 r2', ' r3 r4'],
  );
  assert.equal(thought.usage?.output_tokens_details.reasoning_tokens, 5);
  const refusal = await client.responses.create(ask('[[sim refusal=1]]'));
  const message = refusal.output[0];
  assert.ok(message?.type === 'message' && message.content[0]?.type === 'refusal');
  const text = 'emperor penguins [[sim search=2 tokens=2]]';
  const found = await client.responses.create(ask(text, { tools: [webSearch] }));
  assert.deepEqual(
    found.output.map(({ type }) => type),
    ['web_search_call', 'web_search_call', 'message'],
  );
  assert.equal(found.tool_usage?.web_search.num_requests, 2);
  const answer = found.output[2];
  assert.ok(answer?.type === 'message' && answer.content[0]?.type === 'output_text');
  assert.equal(answer.content[0].annotations.length, 2);
  const none = await client.responses.create(ask(text));
  assert.equal(none.output.length, 1);
});

test('satisfies the schema that is asked for, and calls the tool that is insisted on', async () => {
  const parsed = await client.responses.parse(ask('hi', { text: { format } }));
  assert.deepEqual(JSON.parse(parsed.output_text), { n: 1 });
  const forced = await client.responses.create(
    ask('hi', { tools, tool_choice: { type: 'function', name: 'clock' } }),
  );
  const [call] = forced.output;
  assert.ok(call?.type === 'function_call');
  assert.deepEqual([call.name, call.arguments], ['clock', '{"city":"simulated"}']);
});

const call = { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' };
const result = { type: 'function_call_output', call_id: 'call_1', output: 'sunny' };
const user = { role: 'user', content: 'hi' };
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
const refused: [string, object, RegExp][] = [
  ['no input', { input: undefined }, /Missing required parameter: 'input'/],
  ['low ceiling', { max_output_tokens: 4 }, /Expected a value >= 16/],
  ['a parameter of Chat', { max_tokens: 40 }, /Unknown parameter: 'max_tokens'/],
  ['a stream option of Chat', { stream_options: { include_usage: true } }, /include_usage/],
  [
    'tools of Chat',
    { tools: [{ type: 'function', function: { name: 'a' } }] },
    /'tools\[0\]\.name'/,
  ],
  [
    'parts of Chat',
    { input: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] },
    /Invalid value: 'text'/,
  ],
  ['result without call', { input: [user, result] }, /No tool call found/],
  ['call without result', { input: [user, call] }, /No tool output found/],
  ['lonely reasoning', { input: [user, reasoning, user] }, /without its required following item/],
  [
    'changed reasoning',
    { input: [user, { ...reasoning, encrypted_content: 'gAAAAABpx' }] },
    /could not be verified/,
  ],
  [
    'a file whose name does not tell its kind',
    {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_file', filename: 'file', file_data: 'data:application/pdf;base64,AA==' },
          ],
        },
      ],
    },
    /supported format: .*\.pdf.* but got none/,
  ],
  [
    'a JSON object that only the instructions speak of',
    { instructions: 'Answer in JSON.', text: { format: { type: 'json_object' } } },
    /input messages must contain the word 'json'/,
  ],
  ['an unknown response', { previous_response_id: 'resp_1' }, /not found/],
];

test('refuses what the provider refuses', async () => {
  for (const [what, more, message] of refused) {
    await assert.rejects(client.responses.create({ ...ask('hi'), ...more } as never), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError, what);
      assert.match(error.message, message);
      return true;
    });
  }
});

test('words its errors as the provider does', async () => {
  await assert.rejects(
    clientWith('wrong').responses.create(ask('hi')),
    (error) => error instanceof OpenAI.AuthenticationError && error.code === 'invalid_api_key',
  );
  await assert.rejects(
    client.responses.create({ ...ask('hi'), model: 'other' }),
    (error) => error instanceof OpenAI.NotFoundError && error.code === 'model_not_found',
  );
  await assert.rejects(
    client.responses.create(ask('[[sim status=429 retry_after=7]]')),
    (error) => error instanceof OpenAI.RateLimitError && error.headers.get('retry-after') === '7',
  );
});

test('injects faults at the event that was named', async () => {
  const read = async (text: string) => {
    let seen = '';
    let last = '';
    try {
      const stream = await client.responses.create({ ...ask(text), stream: true });
      for await (const event of stream) {
        last = event.type;
        if (event.type === 'response.output_text.delta') seen += event.delta;
      }
    } catch (error) {
      return { seen, last, error };
    }
    return { seen, last, error: null };
  };
  const cut = await read('[[sim fault=cut at=6]]');
  assert.equal(cut.seen, ' t0 t1');
  assert.ok(cut.error instanceof Error);
  const broken = await read('[[sim fault=error at=5]]');
  assert.equal(broken.seen, ' t0');
  assert.ok(broken.error instanceof OpenAI.APIError && broken.error.code === 'server_error');
  const failed = await read('[[sim fault=failed at=5]]');
  assert.deepEqual([failed.last, failed.error], ['response.failed', null]);
  const whole = await client.responses.create(ask('[[sim fault=failed]]'));
  assert.deepEqual([whole.status, whole.error?.code], ['failed', 'server_error']);
  const split = await read('[[sim fault=split_utf8 text=grüße_漢字_🙂_end]]');
  assert.equal(split.seen, 'grüße 漢字 🙂 end');
  const strange = await read('[[sim unknown=1 tokens=3]]');
  assert.equal(strange.seen, ' t0 t1 t2');
  assert.ok((await read('[[sim fault=garbage at=3]]')).error instanceof SyntaxError);
});

test('leaves usage out or reports zeros when told to', async () => {
  const none = await client.responses.stream(ask('[[sim fault=no_usage]]')).finalResponse();
  assert.equal(none.usage, null);
  const zero = await client.responses.create(ask('[[sim fault=zero_usage]]'));
  assert.equal(zero.usage?.total_tokens, 0);
});

test('a stalled stream that the client leaves is counted as aborted', async () => {
  const earlier = await statsOf(sim);
  const stream = await client.responses.create({
    ...ask('[[sim fault=stall at=3]]'),
    stream: true,
  });
  for await (const event of stream) if (event.type === 'response.output_item.added') break;
  await eventually(async () => (await statsOf(sim)).aborted === earlier.aborted + 1);
});
