// Structured output: answers against schemas that clients send, and schemas that mean harm.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import type { OutputFormat } from '../../../media/model/request.ts';
import {
  assertOutputFormat,
  faultOfFormat,
  isHeavyFormat,
  satisfiesOutputFormat,
  uncompiled,
} from '../../../media/model/structured.ts';
import checkFormatTask from '../../../media/tasks/check-format.ts';
import { Problem } from '../../../runtime/problem.ts';
import { createPool } from '../../../runtime/work/pool.ts';
import { cpuMsOf } from '../../harness/stopwatch.ts';

// slow: The largest schemas take seconds to compile.

function formatOf(schema: Record<string, unknown>): OutputFormat {
  return { type: 'json_schema', name: 'thing', schema, strict: true };
}

function refused(schema: Record<string, unknown>): string {
  try {
    assertOutputFormat(formatOf(schema), 'response_format');
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.param, 'response_format');
    return error.message;
  }
  return '';
}

test('accepts what satisfies the schema and nothing else', () => {
  const format = formatOf({
    type: 'object',
    required: ['a', 'list'],
    additionalProperties: false,
    properties: {
      a: { type: 'integer' },
      list: { type: 'array', items: { $ref: '#/$defs/word' } },
    },
    $defs: { word: { type: 'string', pattern: '^[a-z]+$' } },
  });
  assertOutputFormat(format, 'response_format');
  assert.equal(satisfiesOutputFormat(format, '{"a":1,"list":["x"]}'), true);
  for (const text of [
    '{"a":"1","list":[]}',
    '{"a":1,"list":["X"]}',
    '{"a":1}',
    'not JSON',
    '',
    'null',
  ]) {
    assert.equal(satisfiesOutputFormat(format, text), false, text);
  }
});

test('members that depend on one named like a keyword are asked for all the same', () => {
  for (const name of ['id', '$id', '$comment', 'const', 'enum', '$ref', 'thing']) {
    for (const keyword of ['dependentRequired', 'dependencies']) {
      const format = formatOf({ type: 'object', [keyword]: { [name]: ['owner'] } });
      assertOutputFormat(format, 'response_format');
      const lacking = JSON.stringify({ [name]: 1 });
      assert.equal(satisfiesOutputFormat(format, lacking), false, `${keyword} of ${name}`);
      const whole = JSON.stringify({ [name]: 1, owner: 2 });
      assert.equal(satisfiesOutputFormat(format, whole), true, `${keyword} of ${name}`);
    }
  }
});

test('a plain check that is held up is no refusal: only heavy schemas have a time limit', () => {
  const branches = Array.from({ length: 12 }, (_, a) => ({ properties: { a: { const: a } } }));
  const format = formatOf({ type: 'array', items: { type: 'object', oneOf: branches } });
  assert.equal(isHeavyFormat(format), false);
  // More than the limit's time on any machine: as long as another thread or a pause may take.
  const text = `[${'{"a":1},'.repeat(3_000_000)}{"a":1}]`;
  assert.equal(satisfiesOutputFormat(format, text), true);
});

test('json_object wants an object, text wants nothing', () => {
  assert.equal(satisfiesOutputFormat({ type: 'json_object' }, '{}'), true);
  assert.equal(satisfiesOutputFormat({ type: 'json_object' }, '[]'), false);
  assert.equal(satisfiesOutputFormat({ type: 'text' }, '{'), true);
});

test('refuses invalid, remote, deep and large schemas', () => {
  assert.match(refused({ type: 'thing' }), /not valid/);
  assert.match(refused({ $ref: 'https://example.com/schema' }), /inside the schema/);
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 70; level += 1) deep = { properties: { a: deep } };
  assert.match(refused(deep), /deeply/);
  assert.match(refused({ enum: Array.from({ length: 20_000 }, (_, at) => at) }), /large/);
  assert.match(refused({ description: 'x'.repeat(200_000) }), /large/);
});

test('identifiers of one schema are not seen by another, nor by the compiler', () => {
  const id = 'https://json-schema.org/draft/2020-12/schema';
  const one = formatOf({
    $id: id,
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'string',
  });
  const other = formatOf({ $id: id, type: 'integer' });
  assertOutputFormat(one, 'response_format');
  assertOutputFormat(other, 'response_format');
  assert.equal(satisfiesOutputFormat(one, '"x"'), true);
  assert.equal(satisfiesOutputFormat(other, '"x"'), false);
  const named = formatOf({ type: 'object', properties: { $id: { type: 'integer' } } });
  assert.equal(satisfiesOutputFormat(named, '{"$id":"x"}'), false);
  const asynchronous = formatOf({ $async: true, type: 'integer' });
  assert.equal(satisfiesOutputFormat(asynchronous, '"x"'), false);
});

test('what may take long is left to a thread, which finds what is wrong with it', () => {
  const heavy = [
    { $ref: '#/$defs/missing' },
    { type: 'thing', properties: { a: { pattern: 'a' } } },
    {
      type: 'thing',
      properties: Object.fromEntries([...'abcdefghijkl'].map((n) => [n.repeat(90), {}])),
    },
  ].map(formatOf);
  for (const format of heavy) {
    assert.equal(isHeavyFormat(format), true, JSON.stringify(format));
    assertOutputFormat(format, 'response_format');
    assert.equal(checkFormatTask({ format, text: null }), 'invalid');
    assert.equal(checkFormatTask({ format, text: '{}' }), false);
  }
  const good = formatOf({ type: 'object', properties: { a: { type: 'string', pattern: '^a$' } } });
  assert.equal(checkFormatTask({ format: good, text: null }), true);
  assert.equal(checkFormatTask({ format: good, text: '{"a":"a"}' }), true);
  assert.equal(checkFormatTask({ format: good, text: '{"a":"b"}' }), false);
  // A member of that name is no keyword, but told from one it is not.
  const light = formatOf({ type: 'object', properties: { a: { type: 'integer' } } });
  assert.equal(isHeavyFormat(light), false);
});

/** As large as a schema may be: 3,000 properties in 115 KiB. */
const largest = formatOf({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 3_000 }, (_, at) => [`p${at}`, { type: 'string', minLength: 1 }]),
  ),
});

test('the largest schema compiles and checks on a thread of the pool', async () => {
  const file = new URL('../../../media/tasks/check-format.js', import.meta.url);
  const bounds = { threadsMax: 1, queueLengthMax: 8, idleMs: 1_000, timeoutMs: 120_000 };
  const pool = createPool({ ...bounds, log: pino({ level: 'silent' }) });
  try {
    for (const [text, verdict] of [
      [null, true],
      ['{"p0":"x"}', true],
      ['{"p2999":""}', false],
    ] as const) {
      const answer = await pool.run(file, { format: largest, text });
      assert.deepEqual(answer, { ok: true, value: verdict }, `${text}`);
    }
  } finally {
    await pool.stop();
  }
});

test('a valid schema that is too much is called that, not invalid', () => {
  // The stack of this thread is a quarter of the pool's.
  assert.equal(checkFormatTask({ format: largest, text: null }), 'too_complex');
  const { message, param } = uncompiled('too_complex', 'response_format');
  assert.deepEqual(
    { message, param },
    {
      message: 'The JSON Schema is too complex.',
      param: 'response_format',
    },
  );
});

test('of large schemas fewer are kept: a thread has memory for a hundred of the largest', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const keep = (from: number, count: number) => {
    for (let at = from; at < from + count; at += 1) {
      const schema = { type: 'string', examples: [`${at} ${'x'.repeat(100_000)}`] };
      assert.ok(satisfiesOutputFormat(formatOf(schema), '"a"'));
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = keep(0, 20);
  const grownBytes = keep(20, 200) - before;
  assert.ok(grownBytes < 8 * 1_048_576, `200 more hold ${grownBytes} bytes`);
});

test('a pattern that backtracks for ever ends within the time limit', async () => {
  const format = formatOf({ type: 'string', pattern: '^(a+)+$' });
  const cpuMs = await cpuMsOf(() => {
    assert.equal(satisfiesOutputFormat(format, JSON.stringify(`${'a'.repeat(60)}!`)), false);
  });
  assert.ok(cpuMs < 1000, `${cpuMs} ms of CPU`);
  assert.equal(satisfiesOutputFormat(format, '"aaa"'), true);
});

test('patterns that only others compile are left out of the check', () => {
  const format = (properties: object, rest: object = {}) => ({
    type: 'json_schema' as const,
    name: 'x',
    schema: { type: 'object', properties, required: ['a'], ...rest },
    strict: true,
  });
  const odd = format({ a: { type: 'string', pattern: '(?i)^x$', maxLength: 3 } });
  assert.equal(faultOfFormat(odd), 'pattern');
  assert.equal(satisfiesOutputFormat(odd, '{"a":"yes"}'), true);
  assert.equal(satisfiesOutputFormat(odd, '{"a":"longer"}'), false, 'the rest is checked');
  assert.equal(satisfiesOutputFormat(odd, '{}'), false);
  const keyed = format({ a: {} }, { patternProperties: { '(?P<n>x)': { type: 'number' } } });
  assert.equal(faultOfFormat(keyed), 'pattern');
  const named = format({ pattern: { type: 'string' }, a: { pattern: '^b$' } });
  assert.equal(faultOfFormat(named), null, 'a property of this name is no pattern');
  assert.equal(satisfiesOutputFormat(named, '{"a":"c"}'), false);
  const worse = format({ a: { type: 'no_type', pattern: '(?i)x' } });
  assert.equal(faultOfFormat(worse), 'invalid');
});
