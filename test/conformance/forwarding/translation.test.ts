// Every conversation of every format is taken by every family, and means the same there: the same
// words and calls come back. Also conversations that some formats allow and others do not, with
// results that are missing, late or strange.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { answerText, answerToolCalls } from '../../../media/model/answer.ts';
import type { GenerationRequest, Message } from '../../../media/model/request.ts';
import { requireFamily } from '../../../media/providers/generation/families.ts';
import { fc } from '../../harness/properties.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';
import type { Members } from './bodies.ts';
import { randomFormats } from './formats.ts';
import { type Heard, hear, type SimulatedFamily, simulatedFamilies } from './provider.ts';

const seed = testSeed;

let sim: RunningSim;
before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
});
after(() => sim.close());

/** What every family can say alike. */
function meaning({ answer }: Heard): unknown {
  const calls = answerToolCalls(answer).map(({ name, arguments: text }) => [name, text]);
  return { text: answerText(answer), calls };
}

/** Refusals are said in each format its own way; one of them takes no smaller ceiling. */
function isComparable({ messages, outputFormat, outputTokensMax }: GenerationRequest): boolean {
  if (outputTokensMax !== null && outputTokensMax < 16) return false;
  const refuses = messages.some(({ parts }) =>
    parts.some((part) => part.type === 'text' && part.text.includes('refusal=1')),
  );
  return !refuses && outputFormat.type !== 'json_object';
}

for (const { name, body, read } of randomFormats) {
  test(`${name}: every family takes it and says the same`, async () => {
    const url = `http://127.0.0.1:${sim.port}`;
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const request = read(structuredClone(sent));
        const able = simulatedFamilies.filter(
          (family) => requireFamily(family.name).lacks(request) === null,
        );
        const heard = await Promise.all(able.map((family) => hear(family, url, request)));
        for (const { failure } of heard) assert.equal(failure, null);
        if (!isComparable(request)) return;
        const [first] = heard;
        assert.ok(first);
        for (const other of heard) assert.deepEqual(meaning(other), meaning(first));
      }),
      { seed, numRuns: sampledRuns(200, 60) },
    );
  });
}

/** Some messages left out, doubled or moved: what clients make of a conversation they cut. */
const damage = fc.array(fc.tuple(fc.nat(30), fc.constantFrom('drop', 'double', 'last')), {
  maxLength: 4,
});

function damaged(messages: Message[], steps: readonly [number, string][]): Message[] {
  let made = messages;
  for (const [place, how] of steps) {
    const at = place % made.length;
    const message = made[at];
    if (message === undefined) continue;
    const rest = made.toSpliced(at, 1);
    if (how === 'double') made = made.toSpliced(at, 0, message);
    else if (rest.length > 0) made = how === 'drop' ? rest : [...rest, message];
  }
  return made;
}

for (const { name, body, read } of randomFormats) {
  test(`${name}: a damaged conversation is taken by the families that mend it`, async () => {
    const url = `http://127.0.0.1:${sim.port}`;
    const mending = simulatedFamilies.filter(({ name: each }) =>
      /^(gemini|anthropic-messages)$/.test(each),
    );
    await fc.assert(
      fc.asyncProperty(body, damage, async (sent, steps) => {
        const request = read(structuredClone(sent));
        const messages = damaged(request.messages, steps);
        const source = { ...request.source, rewritten: true };
        for (const family of mending) {
          const { failure } = await hear(family, url, { ...request, messages, source });
          assert.equal(failure, null);
        }
      }),
      { seed, numRuns: sampledRuns(200, 60) },
    );
  });
}

function readAs(format: string, body: Members): GenerationRequest {
  const found = randomFormats.find(({ name }) => name === format);
  assert.ok(found);
  return found.read(body);
}

/** The body that the family sends. */
function encoded({ name, upstreamModel }: SimulatedFamily, request: GenerationRequest): string {
  const target = { routeId: 'r', family: name, baseUrl: '', apiKey: null, upstreamModel };
  const options = { outputTokensMax: 64, nativeSearch: false };
  return JSON.stringify(requireFamily(name).encodeRequest(request, target, options).body);
}

const ask = { role: 'user', content: 'look [[sim tokens=3]]' };
const calls = ['c1', 'c2'].map((call_id) => ({
  type: 'function_call',
  call_id,
  name: 'find',
  arguments: '{}',
}));
const results = calls.map(({ call_id }) => ({
  type: 'function_call_output',
  call_id,
  output: `what ${call_id} found`,
}));
const note = { role: 'user', content: 'hm' };
const words = { role: 'assistant', content: 'let me' };
const orders: Record<string, unknown[]> = {
  'words of the user between two results': [ask, ...calls, results[0], note, results[1]],
  'words of the model between call and result': [ask, calls[0], words, results[0]],
  'words of the model between two calls': [ask, calls[0], words, calls[1], ...results.toReversed()],
};

for (const [name, input] of Object.entries(orders)) {
  test(`Responses: every family takes ${name}`, async () => {
    const tools = [{ type: 'function', name: 'find', parameters: { type: 'object' } }];
    const request = readAs('Responses', { model: 'alias', input, tools });
    for (const family of simulatedFamilies) {
      const { failure, answer } = await hear(family, `http://127.0.0.1:${sim.port}`, request);
      assert.equal(failure, null, family.name);
      assert.equal(answerText(answer), ' t0 t1 t2', family.name);
      const sent = encoded(family, request);
      assert.ok(!sent.includes('not answered'), `${family.name} knows whose results they are`);
    }
  });
}

const refused: Record<string, Record<string, unknown>> = {
  'Chat Completions': { role: 'assistant', content: null, refusal: 'Certainly not.' },
  'Chat Completions in parts': {
    role: 'assistant',
    content: [{ type: 'refusal', refusal: 'Certainly not.' }],
  },
  Responses: { role: 'assistant', content: [{ type: 'refusal', refusal: 'Certainly not.' }] },
};

for (const [name, said] of Object.entries(refused)) {
  test(`${name}: every family is told what an assistant refused`, () => {
    const [format = ''] = name.split(' in ');
    const talk = [{ role: 'user', content: 'go' }, said, { role: 'user', content: 'why' }];
    const member = format === 'Responses' ? 'input' : 'messages';
    const request = readAs(format, { model: 'alias', [member]: talk });
    for (const family of simulatedFamilies) {
      assert.equal(requireFamily(family.name).lacks(request), null);
      assert.ok(encoded(family, request).includes('Certainly not.'), family.name);
    }
  });
}

const declared = ['find', 'send'].map((name) => ({ name, parameters: { type: 'object' } }));
const onlyFind: Record<string, Record<string, unknown>> = {
  'Chat Completions': {
    messages: [{ role: 'user', content: 'go [[sim tool=send]]' }],
    tools: declared.map((tool) => ({ type: 'function', function: tool })),
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: {
        mode: 'required',
        tools: [{ type: 'function', function: { name: 'find' } }],
      },
    },
  },
  Responses: {
    input: 'go [[sim tool=send]]',
    tools: [
      ...declared.map((tool) => ({ type: 'function', ...tool })),
      { type: 'mcp', server_label: 'far', server_url: 'https://example.com/mcp' },
    ],
    tool_choice: {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'find' }],
    },
  },
};

for (const [name, body] of Object.entries(onlyFind)) {
  test(`${name}: other families offer the allowed tools alone, and ask for a call`, async () => {
    const request = readAs(name, { model: 'alias', ...body });
    const own = randomFormats.find((format) => format.name === name)?.family;
    for (const family of simulatedFamilies.filter((each) => each.name !== own)) {
      assert.equal(requireFamily(family.name).lacks(request), null, family.name);
      const { failure, answer } = await hear(family, `http://127.0.0.1:${sim.port}`, request);
      assert.equal(failure, null, family.name);
      assert.deepEqual(
        answerToolCalls(answer).map((call) => call.name),
        ['find'],
        family.name,
      );
    }
  });
}
