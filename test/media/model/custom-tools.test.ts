// The text of a custom tool's call out of a function's arguments: told as it comes, and the same
// wherever it is cut.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CustomInput, customTool } from '../../../media/model/custom-tools.ts';
import { fc } from '../../harness/properties.ts';

/** The text, and how much of it was told before the end. */
function read(pieces: readonly string[]): { text: string; early: string } {
  const input = new CustomInput();
  let early = '';
  for (const piece of pieces) early += input.add(piece);
  return { text: early + input.end(), early };
}

function cutAt(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => text.slice(start, ends[index]));
}

const cuts = fc.array(fc.nat(10_000), { maxLength: 12 });
/** All code units: pairs, halves of them, quotes, backslashes, line ends. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', 'u', 'd', '8', '3', '0', '\n', '}', ',', '😀', ' '),
    maxLength: 40,
  }),
);

/** JSON as servers write it: some escape all but ASCII. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

test('the expected arguments give their text, wherever they are cut', () => {
  const written = fc.tuple(anyText, fc.constantFrom(JSON.stringify, escaped), cuts);
  const check = ([text, write, places]: [string, (text: string) => string, number[]]) => {
    const space = places.length % 2 === 0 ? '' : ' \n';
    const json = `${space}{${space}"input"${space}:${space}${write(text)}${space}}`;
    const { text: told, early } = read(cutAt(json, places));
    assert.equal(told, text.toWellFormed());
    assert.equal(early, told, 'nothing waits for the end');
    const whole = new CustomInput();
    whole.add(json);
    assert.equal(whole.isWhole, true);
  };
  fc.assert(fc.property(written, check));
});

test('any other arguments give the same text, however they are cut', () => {
  const prefixes = fc.constantFrom('', '{"input":"', '{"input":', '{"in', '"', '[', '{');
  const written = fc.tuple(prefixes, anyText, cuts);
  fc.assert(
    fc.property(written, ([prefix, text, places]) => {
      const { text: told } = read(cutAt(prefix + text, places));
      assert.equal(told, read([prefix + text]).text);
      assert.ok(told.isWellFormed());
    }),
  );
});

test('it is told as it comes, but for halves of what has to be whole', () => {
  const input = new CustomInput();
  const pieces = [
    '{"inp',
    'ut": "*** Be',
    'gin\\',
    'n\\ud8',
    '3d\\u',
    'de00 \ud83d',
    '\ude00',
    '"',
  ];
  const told = ['', '*** Be', 'gin', '\n', '', '😀 ', '😀', ''];
  assert.deepEqual(
    pieces.map((piece) => input.add(piece)),
    told,
  );
  assert.equal(input.isWhole, false);
  assert.equal(input.add('\n}'), '');
  assert.equal(input.isWhole, true);
});

const others: readonly [name: string, written: string, text: string][] = [
  ['bare text', '*** Begin Patch\n+a "b"\n*** End Patch', '*** Begin Patch\n+a "b"\n*** End Patch'],
  ['text as JSON', '"*** Begin\\n"', '*** Begin\n'],
  ['nothing', '', ''],
  ['no members', '{}', ''],
  ['the beginning of the arguments alone', '{"inp', ''],
  ['another name', '{"patch":"a\\nb"}', 'a\nb'],
  ['another member first', '{"why":"so","input":"a"}', 'a'],
  ['another member behind', '{"input":"a","why":"so"}', 'a'],
  ['a name in escapes', '{"\\u0069nput":"a"}', 'a'],
  ['no text', '{"input":{"a":1}}', '{"a":1}'],
  ['several members', '{"a":"b","c":"d"}', '{"a":"b","c":"d"}'],
  ['line ends as they are', '{"input":"a\nb"}', 'a\nb'],
  ['quotes as they are', '{"input":"say("hi") "x"  "}', 'say("hi") "x"  '],
  ['a backslash of no escape', '{"input":"\\d+ \\u12 \\uzz"}', '\\d+ \\u12 \\uzz'],
  ['half of a pair', '{"input":"a\\ud83d"}', 'a\ufffd'],
  ['an answer that was cut', '{"input":"a\\', 'a'],
  ['a list', '["a"]', '["a"]'],
];

for (const [name, written, text] of others) {
  test(`arguments that are not the expected ones: ${name}`, () => {
    assert.equal(read([written]).text, text);
    assert.equal(read([...written]).text, text);
  });
}

test('a long space in front of the arguments is not looked at again and again', () => {
  const input = new CustomInput();
  for (let count = 0; count < 100_000; count += 1) input.add(' ');
  assert.equal(input.end(), ' '.repeat(100_000));
});

test('the function says what the text is held to', () => {
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: "a"+' };
  const tool = customTool('apply_patch', 'Edits files.', format);
  assert.match(tool.description ?? '', /^Edits files\.\n\n.*`input`/);
  const { properties, required } = tool.parameters as Record<string, Record<string, object>>;
  assert.match(JSON.stringify(properties?.input), /lark grammar:\\nstart: \\"a\\"\+/);
  assert.deepEqual(required, ['input']);
  assert.deepEqual(tool.custom, { description: 'Edits files.', format });
});
