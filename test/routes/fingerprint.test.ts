// The fingerprint of a request. It is stored with the idempotency key, so a hash that was made once
// is the hash for good: the fixed ones here were made by an older version of the code.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { fingerprint, fingerprintInTurns } from '../../routes/generations/idempotency.ts';
import { fc } from '../harness/properties.ts';
import { testSeed } from '../harness/seed.ts';
import { countTurns } from '../harness/turns.ts';

type Body = Record<string, unknown>;

const words = 'Wärme — 漢字 🧭 "quoted" \\ \n\t\u2028'.repeat(20);
const items = Array.from({ length: 2_000 }, (_, index) => ({ type: 'text', text: words, index }));
const wide = Object.fromEntries(
  Array.from({ length: 5_000 }, (_, index) => [
    `${index % 3 ? 'n' : ''}${(index * 7) % 5_000}`,
    index,
  ]),
);
let deep: unknown = 'x';
for (let level = 0; level < 500; level += 2) deep = [{ b: deep, a: level }, level];

const fixed: [name: string, body: Body, hash: string][] = [
  ['nothing', {}, '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'],
  [
    'nothing that counts',
    { stream: true, stream_options: {}, request_id: 'r' },
    '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  ],
  [
    'empty values',
    { a: {}, b: [], c: '', d: null, e: [[], {}], '': 0 },
    '38a9b33326a4c435a9bae8a68eacae13a56be70fe3a00d38623725b00a931c99',
  ],
  [
    'a chat',
    { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true },
    '3b13ba4d5238d47d67a1924ab175e00d1892ac6b20c5b2be23ccf4ebce48e1f0',
  ],
  [
    'inner members called stream',
    { b: { stream: true, a: 1 } },
    'bbb84b14513a4de3b25f4c0150b8c915e2b5aeb67e2374aec42938632e2c8fa4',
  ],
  [
    'unicode',
    { é: 'ü', 漢: '🧭', '\ud800': '\udfff', a: '\u0000\u001f\u007f\u2028"\\/' },
    'eaa6a86ae181261283c0959e0c8e3736b4c33d1781239335a0b669c3dbb9e910',
  ],
  [
    'numbers',
    { n: [0, -0, 1.5, -1e21, 1e-7, 2 ** 53, 5e-324, Number.NaN, -1 / 0] },
    '7859cf0939b3ae43598e083dc1ea6e6c901cf2ea34f0792927909d488e5043e1',
  ],
  [
    'names that are numbers',
    { b: 1, 10: 2, 9: 3, '01': 4, '-1': 5, 4294967295: 6, '1.5': 7 },
    '22a36b0fa4590082256e2a3bd6d5824bdae178f15f1caeed39b6bbf5632a3708',
  ],
  [
    'what is undefined',
    { b: undefined, a: { y: 1, x: undefined }, c: [undefined, 1] },
    '076594ea319b1436d051eff8676644603fc1c993faa7905140d8693d6decbbf1',
  ],
  [
    'one long text',
    { input: words.repeat(100) },
    'c6b18d0183b5d3d1e645857ab18421fd99662b3c44226d93c29d52b6b4508133',
  ],
  [
    'many items',
    { model: 'm', messages: [{ role: 'user', content: items }] },
    '9165eafa12dc61162a9a5620efc49ff6adb440f0a4a43f9cf06cfa3e07f0add1',
  ],
  [
    'many members',
    { metadata: wide },
    'f4c816905fc1688f697f00eecb9335eaf91227f1abc9378f262e0e38a9cb6334',
  ],
  ['deep nesting', { deep }, '47f1ce14b372993436748e94b4d5806bc8b9b69bed8c6f8d97486a68d5d70d11'],
];

for (const [name, body, hash] of fixed) {
  test(`a fingerprint stays what it was: ${name}`, async () => {
    assert.equal(fingerprint(body), hash);
    assert.equal(await fingerprintInTurns(body), hash);
    assert.equal(reference(body), hash);
  });
}

/** As the rule has it: whole numbers by size, other names by UTF-16 units, the rest is JSON's. */
function reference(body: Body): string {
  const { stream: _, stream_options: _options, request_id: _id, ...asked } = body;
  return createHash('sha256').update(canonical(asked)).digest('hex');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const present = Object.entries(value).filter(([, member]) => member !== undefined);
  const numbered = present.filter(([name]) => isIndex(name));
  const named = present.filter(([name]) => !isIndex(name));
  numbered.sort(([left], [right]) => Number(left) - Number(right));
  named.sort(([left], [right]) => (left < right ? -1 : 1));
  const members = [...numbered, ...named].map(
    ([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`,
  );
  return `{${members.join(',')}}`;
}

/** An array index: https://tc39.es/ecma262/#sec-ordinaryownpropertykeys */
function isIndex(name: string): boolean {
  return /^(0|[1-9][0-9]{0,9})$/.test(name) && Number(name) < 2 ** 32 - 1;
}

const seed = testSeed;
const text = fc.string({ unit: 'binary', maxLength: 5 });
const half = fc.constantFrom('\ud800', '\udfff', '\u0000', '"', '\\');
const known = fc.constantFrom('messages', 'stream', 'request_id', '10', '9', '01', '4294967295');
const leaf = fc.oneof(text, half, fc.double(), fc.boolean(), fc.constantFrom(null, undefined));
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, leaf, fc.array(tie('value')), membersOf(tie('value'))),
}));

function membersOf(value: fc.Arbitrary<unknown>): fc.Arbitrary<Body> {
  const name = fc.oneof(text, half, known);
  return fc.dictionary(name, value, { maxKeys: 8, noNullPrototype: true });
}

test(`at once and in turns it is what the rule says (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(membersOf(anyValue), async (body) => {
      const expected = reference(body);
      assert.equal(fingerprint(body), expected);
      assert.equal(await fingerprintInTurns(body), expected);
    }),
    { seed, numRuns: 500 },
  );
});

test('a long one hands the loop on, and knows nothing of the order of members', async () => {
  const messages = Array.from({ length: 4 }, () => ({ role: 'user', content: items }));
  const body = { model: 'm', messages, stream: true };
  const short = await countTurns(() => fingerprintInTurns({ model: 'm' }));
  const long = await countTurns(() => fingerprintInTurns(body));
  // Hashed in one piece it would be one more.
  assert.ok(long.turns > short.turns + 2, `${long.turns} turns, a short one ${short.turns}`);
  assert.equal(long.result, fingerprint({ messages, model: 'm' }));
  assert.notEqual(long.result, fingerprint({ messages, model: 'n' }));
});
