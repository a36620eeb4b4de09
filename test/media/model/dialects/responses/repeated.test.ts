// What a response repeats of its request is written out whole, whatever the client left out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyAnswer } from '../../../../../media/model/answer.ts';
import { readRequest } from '../../../../../media/model/dialects/responses/request.ts';
import { responseObject } from '../../../../../media/model/dialects/responses/response.ts';
import type { ResponsesRequestBody } from '../../../../../media/model/dialects/responses/schema.ts';
import { assertOpenResponse } from '../../../../conformance/open-responses/check.ts';
import { replyOptions } from '../../../../harness/request.ts';

const identity = {
  requestId: 'req_0123456789abcdef01234567',
  model: 'alias',
  createdAt: 1_700_000_000,
};

function repeated(members: Record<string, unknown>): Record<string, unknown> {
  const body = { model: 'alias', input: 'x', ...members } as ResponsesRequestBody;
  const request = readRequest(body, {});
  const options = replyOptions({ request });
  const response = responseObject(identity, options, emptyAnswer(), null, 'in_progress');
  assertOpenResponse(JSON.parse(JSON.stringify(response)));
  return response;
}

test('what nobody asked for is what holds without it', () => {
  const response = repeated({});
  const wanted = {
    completed_at: null,
    frequency_penalty: 0,
    max_tool_calls: null,
    presence_penalty: 0,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
  };
  for (const [name, value] of Object.entries(wanted)) assert.deepEqual(response[name], value, name);
});

const f = { type: 'function', name: 'f' };
const whole = { ...f, description: null, parameters: null, strict: null };
const schema = { type: 'object' };
const format = { type: 'json_schema', name: 'n', schema };

test('what was asked for in part comes back whole', () => {
  const cases: [asked: Record<string, unknown>, told: Record<string, unknown>][] = [
    [{ tools: [f] }, { tools: [whole] }],
    [{ tools: [{ ...f, strict: true }] }, { tools: [{ ...whole, strict: true }] }],
    [{ tools: [{ ...f, deferred: 1 }] }, { tools: [{ ...whole, deferred: 1 }] }],
    [{ tools: [{ type: 'web_search' }] }, { tools: [{ type: 'web_search' }] }],
    [
      { tools: [f], tool_choice: { type: 'allowed_tools', tools: [f] } },
      { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [f] } },
    ],
    [{ tools: [f], tool_choice: f }, { tool_choice: f }],
    [{ reasoning: { effort: 'low' } }, { reasoning: { effort: 'low', summary: null } }],
    [{ reasoning: null }, { reasoning: { effort: null, summary: null } }],
    [
      { text: { format, verbosity: 'low' } },
      { text: { format: { ...format, description: null, strict: false }, verbosity: 'low' } },
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { ...format, description: 'd' } } },
      { text: { format: { ...format, description: 'd', strict: false } } },
    ],
    [{ text: { verbosity: null } }, { text: { format: { type: 'text' } } }],
    [
      { temperature: 0, top_p: null },
      { temperature: 0, top_p: 1 },
    ],
    [
      { presence_penalty: -1, top_logprobs: 3 },
      { presence_penalty: -1, top_logprobs: 3 },
    ],
    [
      { max_tool_calls: 4, service_tier: 'flex' },
      { max_tool_calls: 4, service_tier: 'default' },
    ],
  ];
  for (const [asked, told] of cases) {
    const response = repeated(asked);
    for (const [name, value] of Object.entries(told)) {
      assert.deepEqual(response[name], value, JSON.stringify(asked));
    }
  }
});
