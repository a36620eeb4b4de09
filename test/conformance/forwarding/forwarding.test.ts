// A request that is forwarded in its own format and the same request written anew from its neutral
// form mean the same to the provider: the same answer, the same usage.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { chatDialect } from '../../../media/model/dialects/chat/dialect.ts';
import { chatRequestSchema } from '../../../media/model/dialects/chat/schema.ts';
import { messagesDialect } from '../../../media/model/dialects/messages/dialect.ts';
import { messagesRequestSchema } from '../../../media/model/dialects/messages/schema.ts';
import { responsesDialect } from '../../../media/model/dialects/responses/dialect.ts';
import { responsesRequestSchema } from '../../../media/model/dialects/responses/schema.ts';
import type { GenerationRequest } from '../../../media/model/request.ts';
import { requireFamily } from '../../../media/providers/generation/families.ts';
import { fc } from '../../harness/properties.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';
import type { Members } from './bodies.ts';
import { randomFormats } from './formats.ts';
import { hear, simulatedFamilies } from './provider.ts';

const seed = testSeed;

let sim: RunningSim;
before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
});
after(() => sim.close());

function url(): string {
  return `http://127.0.0.1:${sim.port}`;
}

for (const { name, family: familyName, body, read } of randomFormats) {
  const family = simulatedFamilies.find((each) => each.name === familyName);
  assert.ok(family);
  test(`${name}: forwarded and written anew are the same`, async () => {
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const request = read(structuredClone(sent));
        const rewritten = { ...request, source: { ...request.source, rewritten: true } };
        const [forwarded, anew] = await Promise.all([
          hear(family, url(), request),
          hear(family, url(), rewritten),
        ]);
        assert.equal(forwarded.failure, null);
        assert.deepEqual(anew, forwarded);
      }),
      { seed, numRuns: sampledRuns(400, 100) },
    );
  });
}

/** Paths of what one body has and the other has not, or has otherwise. */
function lostPaths(one: unknown, other: unknown, path = ''): string[] {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.flatMap((value, index) => lostPaths(value, other[index], `${path}[${index}]`));
  }
  if (typeof one === 'object' && one !== null && typeof other === 'object' && other !== null) {
    return Object.entries(one).flatMap(([name, value]) =>
      lostPaths(value, (other as Members)[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return JSON.stringify(one) === JSON.stringify(other) ? [] : [path];
}

interface Rich {
  family: string;
  request: GenerationRequest;
  lost: string[];
}

const richBodies: Rich[] = [
  {
    family: 'openai-chat',
    request: chatDialect.readRequest(
      v.parse(chatRequestSchema, {
        model: 'alias',
        logit_bias: { 5: 1 },
        messages: [
          { role: 'developer', content: 'a', name: 'me' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'input_audio', x: 1 },
            ],
          },
          { role: 'user', content: [{ type: 'file', file: { file_id: 'f', filename: 'n' } }] },
          { role: 'assistant', content: null, refusal: 'no', audio: { id: 'a' } },
          {
            role: 'assistant',
            content: 'b',
            reasoning_content: 'c',
            reasoning_details: [{ type: 'reasoning.encrypted', data: 'd' }],
            tool_calls: [
              { id: 'x', type: 'custom', custom: { name: 'grep', input: 'a "b"' } },
              {
                id: 'y',
                type: 'function',
                function: { name: 'f', arguments: '{}' },
                extra_content: { google: { thought_signature: 's' } },
              },
            ],
          },
          { role: 'tool', tool_call_id: 'x', content: 'd' },
          { role: 'tool', tool_call_id: 'y', content: 'e' },
          {
            role: 'user',
            content: [{ type: 'video_url', video_url: { url: 'https://example.com/v.mp4' } }],
          },
        ],
      }),
      {},
    ),
    lost: [
      'messages[0].role',
      // A refusal becomes a text.
      'messages[3].content',
      'messages[3].refusal',
    ],
  },
  {
    family: 'openai-responses',
    request: responsesDialect.readRequest(
      v.parse(responsesRequestSchema, {
        model: 'alias',
        top_logprobs: 1,
        input: [
          { role: 'developer', content: 'a' },
          { role: 'user', content: [{ type: 'input_image', file_id: 'f', detail: 'low' }] },
          {
            role: 'assistant',
            phase: 'commentary',
            status: 'completed',
            content: [{ type: 'output_text', text: 'b', annotations: [{ type: 'x' }] }],
          },
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', status: 'completed' },
          { type: 'function_call_output', call_id: 'c', output: 'd', status: 'completed' },
          { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
        ],
      }),
      {},
    ),
    lost: [
      // A text becomes a list of one part.
      'input[0].content',
      'input[2].status',
      'input[2].content[0].annotations',
      'input[3].status',
      'input[4].status',
    ],
  },
  {
    family: 'anthropic-messages',
    request: messagesDialect.readRequest(
      v.parse(messagesRequestSchema, {
        model: 'alias',
        max_tokens: 64,
        container: 'c',
        system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a', citations: [{ type: 'x' }] },
              {
                type: 'document',
                title: 't',
                context: 'c',
                cache_control: { type: 'ephemeral' },
                citations: { enabled: true },
                source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
              },
              {
                type: 'image',
                cache_control: { type: 'ephemeral' },
                source: { type: 'url', url: 'https://example.com/' },
              },
              { type: 'search_result', title: 's', source: 'x', content: [] },
            ],
          },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'b', signature: 'c' },
              { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} },
              {
                type: 'tool_use',
                id: 'call',
                name: 'f',
                input: {},
                caller: { type: 'direct' },
                cache_control: { type: 'ephemeral' },
              },
            ],
          },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'call',
                content: [{ type: 'text', text: 'd' }],
                cache_control: { type: 'ephemeral' },
              },
            ],
          },
        ],
      }),
      {},
    ),
    lost: [],
  },
];

for (const { family: name, request, lost } of richBodies) {
  test(`what ${name} loses on the way through the neutral form is known`, () => {
    const target = {
      routeId: 'r',
      family: name,
      baseUrl: 'http://x',
      quirks: { customTools: true },
      apiKey: null,
      upstreamModel: 'm',
    };
    const bodies = [false, true].map((rewritten): unknown => {
      const source = { ...request.source, rewritten };
      const options = { outputTokensMax: 64, nativeSearch: false };
      const call = requireFamily(name).encodeRequest({ ...request, source }, target, options);
      return JSON.parse(JSON.stringify(call.body));
    });
    assert.deepEqual(lostPaths(bodies[0], bodies[1]), lost);
  });
}
