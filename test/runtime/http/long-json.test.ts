// A long body that is parsed in slices is the value, or the refusal, that it is in one piece.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanJson } from '../../../runtime/http/json/slices.ts';
import { parseJson } from '../../../runtime/http/json.ts';
import { parseLongJson } from '../../../runtime/http/long-json.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { fc } from '../../harness/properties.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';
import { countTurns } from '../../harness/turns.ts';

const seed = testSeed;

type Outcome = { text: string } | { refused: string; param: string | null };

function refusalOf(error: unknown): Outcome {
  assert.ok(error instanceof Problem, String(error));
  return { refused: error.message, param: error.param ?? null };
}

function whole(bytes: Buffer): Outcome {
  try {
    return { text: JSON.stringify(parseJson(bytes)) };
  } catch (error) {
    return refusalOf(error);
  }
}

async function sliced(bytes: Buffer, sliceBytes: number): Promise<Outcome> {
  try {
    // As text: the order of keys counts, too.
    return { text: JSON.stringify(await parseLongJson(bytes, sliceBytes)) };
  } catch (error) {
    return refusalOf(error);
  }
}

/** The engine tells the place for some faults only, and not for the same in a shorter text. */
const place = / \(at position \d+\)/;

function assertSame(found: Outcome, expected: Outcome): void {
  const knowsBoth = [found, expected].every(
    (each) => 'refused' in each && place.test(each.refused),
  );
  const plain = (each: Outcome) =>
    'refused' in each && !knowsBoth ? { ...each, refused: each.refused.replace(place, '') } : each;
  assert.deepEqual(plain(found), plain(expected));
}

/** Keys that meet each other, that are ordered by themselves, and that must be refused. */
const key = fc.oneof(
  fc.constantFrom('', 'a', 'a', '1', '0', '"', '\\', '漢', 'prototype', 'constructor'),
  fc.constantFrom('__proto__', 'messages', 'content'),
  fc.string({ maxLength: 4 }),
);
const space = fc.constantFrom('', '', '', ' ', '\n', '\t ', '\r\n');
/** Texts whose end is looked for another way behind their first characters. */
const longText = fc
  .array(fc.constantFrom('\\', '"', '[,', 'y'.repeat(29), 'z'.repeat(61)), { maxLength: 12 })
  .map((parts) => JSON.stringify(parts.join('')));
const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => JSON.stringify(text)),
  longText,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom('null', 'true', 'false', '"[{,"', '"\\u005f\\\\\\""', '"]},:"', '0', '-1e9'),
);
/** Texts, not values: a key may stand twice. */
const json = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'small' },
    leaf,
    fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 7 })
      .map((items) => `[${items.map((each) => each.join('')).join(',')}]`),
    fc.array(fc.tuple(space, key, space, tie('value'), space), { maxLength: 7 }).map((members) => {
      const texts = members.map(([left, name, middle, value, right]) => {
        return `${left}${JSON.stringify(name)}${middle}:${value}${right}`;
      });
      return `{${texts.join(',')}}`;
    }),
  ),
})).value;

test(`any text in slices is what it is in one piece (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(json, fc.integer({ min: 1, max: 40 }), async (text, sliceBytes) => {
      const bytes = Buffer.from(text);
      assert.deepEqual(await sliced(bytes, sliceBytes), whole(bytes));
    }),
    { seed, numRuns: sampledRuns(2_000, 600) },
  );
});

test(`a damaged text is refused with the same words (seed ${seed})`, async () => {
  const damage = fc.record({
    at: fc.nat({ max: 400 }),
    cut: fc.nat({ max: 3 }),
    put: fc.constantFrom('', ',', ']', '}', '[', '{', '"', ':', ',,', '\\', 'x', '1'),
  });
  await fc.assert(
    fc.asyncProperty(json, damage, fc.integer({ min: 1, max: 20 }), async (text, how, size) => {
      const at = how.at % (text.length + 1);
      const bytes = Buffer.from(text.slice(0, at) + how.put + text.slice(at + how.cut));
      if (bytes.length > 0) assertSame(await sliced(bytes, size), whole(bytes));
    }),
    { seed, numRuns: sampledRuns(4_000, 1_200) },
  );
});

test('bad UTF-8, bottomless nesting and a key far from its constructor are refused', async () => {
  const deep = `{"s":"${'['.repeat(2_000)}","a":${'['.repeat(600)}${']'.repeat(600)}}`;
  const far = `{"a":{"constructor":{"b":[${'1,'.repeat(500)}1],"prototype":{}}}}`;
  for (const bytes of [
    Buffer.concat([Buffer.from('["'), Buffer.from([0xc3]), Buffer.from('"]')]),
    Buffer.from(deep),
    Buffer.from(far),
    Buffer.from(`[${'1,'.repeat(500)}]`),
    Buffer.from(`["${'é'.repeat(300)}",${'1,'.repeat(300)},2]`),
  ]) {
    const refused = await sliced(bytes, 32);
    assert.ok('refused' in refused);
    assert.deepEqual(refused, whole(bytes));
  }
});

test('a long list is cut inside one message, and others have the loop in between', async () => {
  const part = { type: 'text', text: 'Wärme — 漢字 "quoted" \\ [{' };
  const content = Array.from({ length: 16_000 }, (_, index) => ({ ...part, index }));
  const body = { model: 'm', messages: [{ role: 'user', content }], stream: true };
  const bytes = Buffer.from(JSON.stringify(body));
  const scanning = scanJson(bytes, 512, 65_536, bytes.length + 1);
  const { value } = scanning.next();
  assert.ok(value !== undefined && !value.tooDeep);
  const ends = [...value.cuts.map(({ position }) => position), bytes.length];
  const lengths = ends.map((end, index) => end - (ends[index - 1] ?? 0));
  assert.ok(Math.max(...lengths) < 70_000, `a slice of ${Math.max(...lengths)} bytes`);
  const { result, turns } = await countTurns(() => parseLongJson(bytes));
  assert.deepEqual(result, body);
  assert.ok(turns > 1, `${turns} turns`);
});

test('a long body has a bound of members and items, whatever is in its texts', async () => {
  const { longValuesMax } = fixedLimits.body;
  const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
  const numbers = (length: number) => Array.from({ length }, (_, index) => index);
  const keyed = Object.fromEntries(numbers(longValuesMax).map((index) => [`k${index}`, 1]));
  for (const tooMany of [numbers(longValuesMax), keyed, { a: [numbers(longValuesMax)] }]) {
    await assert.rejects(parseLongJson(bytesOf(tooMany)), {
      code: 'invalid_request',
      message: `The body has more than ${longValuesMax} members and items.`,
    });
  }
  for (const fits of [numbers(longValuesMax - 1), { text: ',[{'.repeat(longValuesMax) }]) {
    assert.deepEqual(await parseLongJson(bytesOf(fits)), fits);
  }
});

test('a byte order mark in front of a long body is no part of it', async () => {
  const body = Buffer.from(`\ufeff{"a":"${'x'.repeat(1_000)}"}`);
  assert.deepEqual(await sliced(body, 64), { text: body.toString().slice(1) });
});
