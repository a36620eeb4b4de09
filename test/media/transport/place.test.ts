// The place that a provider's refusal names, in the words of each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Place, placeIn } from '../../../media/transport/place.ts';

const cases: readonly (readonly [reply: unknown, place: Place | null])[] = [
  [{ error: { message: 'x', param: 'tools[0].function.name' } }, ['tools', 0, 'function', 'name']],
  [{ error: { message: 'x', param: 'messages.[2].role' } }, ['messages', 2, 'role']],
  [{ error: { message: 'x', param: 'temperature' } }, ['temperature']],
  // As servers of OpenAI's formats say it in words alone
  [
    { error: { message: "Invalid 'input[149].call_id': string too long.", param: null } },
    ['input', 149, 'call_id'],
  ],
  [
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'tools.3.custom.input_schema: no oneOf' },
    },
    ['tools', 3, 'custom', 'input_schema'],
  ],
  [
    { error: { message: 'messages.3.content.0.image.source.base64: wrong' } },
    ['messages', 3, 'content', 0, 'image', 'source', 'base64'],
  ],
  [
    {
      error: {
        code: 400,
        message: '* GenerateContentRequest.tools[0].function_declarations[3].name: Invalid name.',
      },
    },
    ['tools', 0, 'function_declarations', 3, 'name'],
  ],
  [
    {
      error: {
        message: `Unknown "const" at 'tools[0].function_declarations[5].parameters': no field.`,
      },
    },
    ['tools', 0, 'function_declarations', 5, 'parameters'],
  ],
  [
    {
      error: {
        message: 'x',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.BadRequest' },
          { fieldViolations: [{ field: 'generation_config.temperature', description: 'x' }] },
        ],
      },
    },
    ['generation_config', 'temperature'],
  ],
  [
    { detail: [{ type: 'missing', loc: ['body', 'messages', 1, 'content'], msg: 'x' }] },
    ['messages', 1, 'content'],
  ],
  [
    { error: { message: "[{'type': 'missing', 'loc': ('body', 'messages', 0, 'role')}]" } },
    ['messages', 0, 'role'],
  ],
  [{ error: { message: 'prompt is too long: 9 tokens > 8 maximum' } }, null],
  [{ error: { message: 'x', param: '' } }, null],
  [{ error: { message: 'x', param: '[0]' } }, null],
  [{ error: { message: 'x', details: [{ fieldViolations: [] }], errors: 'x' } }, null],
  [{ detail: [{ loc: ['body'] }] }, null],
  [{ detail: 7, error: null }, null],
  ["'tools[0].name' is odd", ['tools', 0, 'name']],
  ['no object', null],
  [null, null],
];

for (const [reply, place] of cases) {
  test(`${JSON.stringify(reply).slice(0, 90)} is at ${place?.join(' ') ?? 'no place'}`, () => {
    assert.deepEqual(placeIn(reply), place);
  });
}
