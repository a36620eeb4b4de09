// Schemas in the form that a provider takes. Each comes with values that it allows: what is made of
// it allows them too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { SchemaRules } from '../../../../../media/providers/generation/fitting/rules.ts';
import { fitParameters } from '../../../../../media/providers/generation/fitting/schemas.ts';

type Members = Record<string, unknown>;

const openai: SchemaRules = { patterns: 'python', needsItems: true, isSubset: false };
const messages: SchemaRules = { patterns: 'ecma', needsItems: false, isSubset: false };
const gemini: SchemaRules = { patterns: 're2', needsItems: true, isSubset: true };

const text = { type: 'string' };
const object = (properties: Members, more: Members = {}) => ({
  type: 'object',
  properties,
  ...more,
});
const odd = '^(?!__.*__$)[^\\p{Cc}\\p{Cf}"]{1,200}$';

interface Case {
  what: string;
  rules: SchemaRules;
  schema: Members;
  told: Members;
  /** What the client's schema allows; none of an older draft, which nobody here compiles. */
  allowed: readonly unknown[];
}

const cases: readonly Case[] = [
  {
    what: 'a pattern that does not compile is left out, and the rest stays',
    rules: openai,
    schema: object({
      field: { ...text, description: 'd', pattern: odd },
      // A property of that name is no keyword, and data is no schema.
      pattern: { ...text, default: { pattern: odd }, pattern: '^[a-z]+$' },
    }),
    told: object({
      field: { ...text, description: 'd' },
      pattern: { ...text, default: { pattern: odd }, pattern: '^[a-z]+$' },
    }),
    allowed: [{ field: 'a', pattern: 'b' }],
  },
  {
    what: 'so are patterns of names, in lists and definitions',
    rules: openai,
    schema: object(
      { a: { anyOf: [{ ...text, pattern: odd }, { type: 'number' }] } },
      { patternProperties: { [odd]: text, '^x': text }, $defs: { d: { ...text, pattern: odd } } },
    ),
    told: object(
      { a: { anyOf: [text, { type: 'number' }] } },
      { patternProperties: { '^x': text }, $defs: { d: text } },
    ),
    allowed: [{ a: 'a', xy: 'b' }],
  },
  {
    what: 'variants at the top become one object',
    rules: messages,
    schema: {
      oneOf: [
        object({ kind: { const: 'file' }, path: text }, { required: ['kind', 'path'] }),
        object({ kind: { const: 'page' }, url: text }, { required: ['kind', 'url'] }),
      ],
      description: 'd',
    },
    told: {
      description: 'd',
      ...object({ kind: { enum: ['file', 'page'] }, path: text, url: text }),
      required: ['kind'],
    },
    allowed: [
      { kind: 'file', path: 'p' },
      { kind: 'page', url: 'u' },
    ],
  },
  {
    what: 'variants that only say what is required say nothing then',
    rules: messages,
    schema: object({ a: text, b: text }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    told: object({ a: text, b: text }),
    allowed: [{ a: 'x' }, { b: 'x' }],
  },
  {
    what: 'all of several is one that has what each says',
    rules: openai,
    schema: {
      type: 'object',
      allOf: [object({ a: text }, { required: ['a'] }), { $ref: '#/$defs/b' }],
      $defs: { b: object({ b: { type: 'number' } }) },
    },
    told: {
      ...object({ a: text, b: { type: 'number' } }, { required: ['a'] }),
      $defs: { b: object({ b: { type: 'number' } }) },
    },
    allowed: [{ a: 'x', b: 1 }],
  },
  {
    what: 'variants by reference, and one that no object satisfies',
    rules: openai,
    schema: {
      anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }, { $ref: '#/$defs/b' }],
      $defs: { a: object({ a: text }), b: object({ a: { type: 'number' } }) },
    },
    told: {
      ...object({ a: { anyOf: [text, { type: 'number' }] } }),
      $defs: { a: object({ a: text }), b: object({ a: { type: 'number' } }) },
    },
    allowed: [{ a: 'x' }, { a: 1 }],
  },
  {
    what: 'a reference at the top is what it refers to',
    rules: openai,
    schema: { $ref: '#/definitions/a', definitions: { a: object({ a: text }) } },
    told: { ...object({ a: text }), definitions: { a: object({ a: text }) } },
    allowed: [{ a: 'x' }],
  },
  {
    what: 'what is said of an object as a whole is left out',
    rules: openai,
    schema: object({ a: text }, { not: { required: ['b'] }, enum: [{ a: 'x' }] }),
    told: object({ a: text }),
    allowed: [{ a: 'x' }],
  },
  {
    what: 'a list says what is in it, also as older drafts did',
    rules: openai,
    schema: object({
      any: { type: 'array' },
      pair: { type: 'array', items: [text, { type: 'number' }], additionalItems: false },
    }),
    told: object({
      any: { type: 'array', items: {} },
      pair: { type: 'array', prefixItems: [text, { type: 'number' }], items: false },
    }),
    allowed: [],
  },
  {
    what: 'switches of older drafts are left out',
    rules: messages,
    schema: object({ a: { type: 'number', minimum: 1, exclusiveMinimum: true, required: true } }),
    told: object({ a: { type: 'number', minimum: 1 } }),
    allowed: [],
  },
  {
    what: 'references are written out, and their siblings with them',
    rules: gemini,
    schema: object(
      { a: { $ref: '#/$defs/t', description: 'the first' }, b: { $ref: '#/$defs/t' } },
      {
        $defs: { t: { ...text, description: 'a text' } },
        $schema: 'https://json-schema.org/draft/2020-12/schema',
      },
    ),
    told: object({
      a: { ...text, description: 'the first' },
      b: { ...text, description: 'a text' },
    }),
    allowed: [{ a: 'x', b: 'y' }],
  },
  {
    what: 'what refers to itself is told once',
    rules: gemini,
    schema: object(
      { root: { $ref: '#/$defs/node' } },
      {
        $defs: {
          node: object({
            name: text,
            inner: { type: 'array', items: { $ref: '#/$defs/node' } },
          }),
        },
      },
    ),
    told: object({
      root: object({ name: text, inner: { type: 'array', items: { type: 'object' } } }),
    }),
    allowed: [{ root: { name: 'a', inner: [{ name: 'b', inner: [] }] } }],
  },
  {
    what: 'keywords outside of the subset are said in its own',
    rules: gemini,
    schema: object({
      one: { const: 'x' },
      yes: { const: true },
      whole: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
      part: { type: 'number', exclusiveMinimum: 0.5 },
      maybe: { type: ['string', 'null'] },
      some: { type: ['string', 'number'], description: 'd' },
      open: { type: ['string', 'number', 'null'] },
      kept: { enum: ['a', null] },
      both: { allOf: [{ ...text, minLength: 1 }, { description: 'd' }] },
    }),
    told: object({
      one: { enum: ['x'] },
      yes: { type: 'boolean' },
      whole: { type: 'integer', minimum: 1, maximum: 9 },
      part: { type: 'number', minimum: 0.5 },
      maybe: { type: ['string', 'null'] },
      some: { description: 'd', anyOf: [text, { type: 'number' }] },
      open: { anyOf: [text, { type: 'number' }, { type: 'null' }] },
      kept: { type: ['string', 'null'], enum: ['a'] },
      both: { ...text, minLength: 1, description: 'd' },
    }),
    allowed: [
      { one: 'x', yes: true, whole: 9, part: 0.6, maybe: null, some: 1, open: null },
      { whole: 1, maybe: 'x', some: 'x', open: 'x', kept: 'a', both: 'x' },
    ],
  },
  {
    what: 'null of OpenAPI is a type',
    rules: gemini,
    schema: object({ a: { ...text, nullable: true } }),
    told: object({ a: { type: ['string', 'null'] } }),
    allowed: [],
  },
];

for (const { what, rules, schema, told, allowed } of cases) {
  test(what, () => {
    const before = JSON.stringify(schema);
    const fitted = fitParameters(schema, rules);
    assert.deepEqual(fitted, told);
    assert.equal(JSON.stringify(schema), before, 'the client’s own is not changed');
    const options = { strict: false, validateFormats: false, logger: false } as const;
    const isTold = new Ajv2020(options).compile(fitted);
    for (const value of allowed) {
      assert.equal(new Ajv2020(options).compile(schema)(value), true, 'the client allows it');
      assert.equal(isTold(value), true, JSON.stringify(value));
    }
    assert.deepEqual(fitParameters(fitted, rules), fitted, 'it is fitted once');
  });
}

test('what has nothing to fit is the same object', () => {
  const schema = object({
    a: { ...text, pattern: '^[a-z]+$', enum: ['a', 'b'] },
    b: { type: 'array', items: object({ c: { type: ['string', 'null'] } }) },
  });
  for (const rules of [openai, messages, gemini]) {
    assert.equal(fitParameters(schema, rules), schema);
  }
});

test('references that double at each level stay within bounds', () => {
  const $defs: Members = {};
  for (let level = 0; level < 40; level += 1) {
    const next = { $ref: `#/$defs/l${level + 1}` };
    $defs[`l${level}`] = object({ left: next, right: next });
  }
  $defs.l40 = text;
  const fitted = fitParameters(object({ root: { $ref: '#/$defs/l0' } }, { $defs }), gemini);
  assert.ok(JSON.stringify(fitted).length < 500_000);
  assert.ok(!JSON.stringify(fitted).includes('$ref'));
});

test('types in a list share no schema: nested ones do not double at each level', () => {
  let inner: Members = { type: ['string', 'number'], minLength: 1, enum: ['a', 1] };
  const lists = { items: text, minItems: 1 };
  for (let level = 0; level < 40; level += 1) {
    inner = { type: ['object', 'array', 'string'], properties: { inner }, ...lists };
  }
  const schema = object({ inner });
  const fitted = fitParameters(schema, gemini);
  assert.ok(JSON.stringify(fitted).length < 10_000);
  const nested = { inner: { inner: 'a' } };
  const options = { strict: false, logger: false } as const;
  assert.equal(new Ajv2020(options).compile(schema)(nested), true);
  assert.equal(new Ajv2020(options).compile(fitted)(nested), true);
});

const many = 8_000;
const named = (of: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: many }, (_, index) => [`p${index}`, of(index)]));
const times = <T>(of: (index: number) => T) => Array.from({ length: many }, (_, i) => of(i));

/** Each has as many members as a body may have, or long ones; none is worth a second. */
const large: readonly [what: string, schema: Members][] = [
  ['parts that each say a property', { allOf: times((at) => object({ [`p${at}`]: text })) }],
  [
    'parts that each say it within one',
    { allOf: times((at) => object({ a: object({ [`p${at}`]: text }) })) },
  ],
  ['parts that each require one', { allOf: times((at) => ({ required: [`p${at}`] })) }],
  [
    'variants beside many properties',
    object(
      named(() => text),
      { anyOf: times(() => ({ required: ['p1'] })) },
    ),
  ],
  [
    'variants of a property that has many',
    object({ a: object(named(() => text)) }, { oneOf: times(() => object({ a: { title: 't' } })) }),
  ],
  [
    'variants by a reference to many properties',
    { $defs: { a: object(named(() => text)) }, anyOf: times(() => ({ $ref: '#/$defs/a' })) },
  ],
  [
    'properties by a reference to a long text',
    object(
      named(() => ({ $ref: '#/$defs/a' })),
      { $defs: { a: { ...text, description: 't'.repeat(99_999) } } },
    ),
  ],
  [
    'references, each within the one before',
    object(
      { a: { $ref: '#/$defs/p0' } },
      { $defs: named((at) => object({ a: { $ref: `#/$defs/p${at + 1}` } })) },
    ),
  ],
];

for (const [what, schema] of large) {
  test(`a large schema costs little: ${what}`, () => {
    const length = JSON.stringify(schema).length;
    for (const rules of [openai, messages, gemini]) {
      const startedAt = performance.now();
      const fitted = fitParameters(schema, rules);
      assert.ok(performance.now() - startedAt < 1_000, 'it took seconds');
      assert.ok(JSON.stringify(fitted).length < 5 * length + 16_384);
    }
  });
}
