// What the border says of a value that does not fit: which field, and what it should have been.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as v from 'valibot';
import { createSchemaBook } from '../../../runtime/http/schemas.ts';
import { maxCharacters } from '../../../runtime/http/text.ts';
import { validate, validateBody } from '../../../runtime/http/validate.ts';
import { Problem } from '../../../runtime/problem.ts';

function refusal(schema: v.GenericSchema, input: unknown): string {
  try {
    validateBody(schema, input);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error.message;
  }
  return '';
}

test('an array is no object, wherever a schema wants one', () => {
  const closed = v.strictObject({ name: v.optional(v.string()) });
  const schema = v.strictObject({
    closed: v.optional(closed),
    open: v.nullish(v.looseObject({ name: v.optional(v.string()) })),
    plain: v.optional(v.object({})),
    rest: v.optional(v.objectWithRest({}, v.unknown())),
    record: v.optional(v.record(v.string(), v.unknown())),
    piped: v.optional(v.pipe(closed, v.description('with a step behind it'))),
    list: v.optional(v.array(closed)),
    chosen: v.optional(v.union([v.string(), closed])),
    named: v.optional(v.record(v.string(), closed)),
    one: v.optional(v.picklist(['one'])),
  });
  const cases: [string, unknown, string][] = [
    ['closed', [], 'closed'],
    ['open', [], 'open'],
    ['plain', [], 'plain'],
    ['rest', [], 'rest'],
    ['record', [], 'record'],
    ['piped', [], 'piped'],
    ['list', [{}, []], 'list[1]'],
    ['chosen', [], 'chosen'],
    ['named', { a: [] }, 'named.a'],
  ];
  for (const [name, value, path] of cases) {
    assert.match(refusal(schema, { [name]: value }), /received array/, name);
    assert.ok(refusal(schema, { [name]: value }).includes(`'${path}'`), name);
  }
  assert.match(refusal(schema, []), /expected object, received array/);
  for (const value of [{}, { closed: {}, open: null, list: [{}], named: { a: {} }, one: 'one' }]) {
    assert.equal(refusal(schema, value), '');
  }
});

test('types are called as JSON calls them', () => {
  const schema = v.strictObject({
    input: v.optional(v.union([v.string(), v.array(v.string())])),
    tool: v.optional(v.looseObject({})),
    when: v.optional(v.picklist(['Object', 'Array'])),
  });
  const told: [unknown, string][] = [
    [{ input: 5 }, "Invalid value for 'input': expected string | array, received number."],
    [{ tool: 5 }, "Invalid value for 'tool': expected object, received number."],
    [{ when: 5 }, 'Invalid value for \'when\': expected "Object" | "Array", received number.'],
  ];
  for (const [input, message] of told) assert.equal(refusal(schema, input), message);
});

test('a length that does not fit is told as a length', () => {
  const schema = v.strictObject({
    text: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(3))),
    list: v.optional(v.pipe(v.array(v.string()), v.minLength(2), v.maxLength(3))),
    number: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(3))),
  });
  const told: [unknown, string][] = [
    [{ text: '' }, "Invalid value for 'text': expected at least 1 character, received 0."],
    [{ text: 'long' }, "Invalid value for 'text': expected at most 3 characters, received 4."],
    [{ list: [''] }, "Invalid value for 'list': expected at least 2 items, received 1."],
    [{ list: [...'long'] }, "Invalid value for 'list': expected at most 3 items, received 4."],
    [{ number: 0 }, "Invalid value for 'number': expected >=1, received 0."],
    [{ number: 4 }, "Invalid value for 'number': expected <=3, received 4."],
  ];
  for (const [input, message] of told) assert.equal(refusal(schema, input), message);
});

test('a text among texts that are allowed is not told that it is a text', () => {
  const voices = v.union([v.picklist(['alloy', 'ash']), v.literal('sage')]);
  const schema = v.object({ voice: voices, format: v.optional(v.picklist(['mp3', 'wav'])) });
  const told: [unknown, string][] = [
    [{ voice: 'bob' }, `'voice': expected "alloy" | "ash" | "sage", received another string.`],
    [{ voice: 1 }, `'voice': expected "alloy" | "ash" | "sage", received number.`],
    [
      { voice: 'ash', format: 'opus' },
      `'format': expected "mp3" | "wav", received another string.`,
    ],
  ];
  for (const [input, message] of told) {
    assert.equal(refusal(schema, input), `Invalid value for ${message}`);
  }
});

test('texts are as long as they have characters, as the OpenAPI document counts them', () => {
  const schema = v.object({ name: v.pipe(v.string(), maxCharacters(100)) });
  for (const name of ['x'.repeat(100), '🧭'.repeat(100)]) {
    assert.deepEqual(validate(schema, { name }), { name });
  }
  for (const [name, length] of [
    ['x'.repeat(101), 101],
    ['🧭'.repeat(101), 101],
    [`${'🧭'.repeat(100)}\ud83e`, 101],
  ] as const) {
    assert.throws(() => validate(schema, { name }), {
      message: `Invalid value for 'name': expected at most 100 characters, received ${length}.`,
    });
  }
  const { schemaOf } = createSchemaBook([{ name: 'named', schema }]);
  const { properties } = schemaOf(schema) as { properties: Record<string, unknown> };
  assert.deepEqual(properties.name, { type: 'string', maxLength: 100 });
});
