// The schemas of what is answered are closed, one of each kind, and JSON Schema can say them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeParse } from 'valibot';
import { anyNormalized, normalizedSchema } from '../../../media/search/schema.ts';
import { factsOf, type SurfaceKind, surfaceNames } from '../../../media/search/surfaces.ts';
import { createSchemaBook } from '../../../runtime/http/schemas.ts';
import { itemSchemas } from '../../harness/search-items.ts';

const kinds = Object.keys(itemSchemas) as SurfaceKind[];
const page = { position: 1, title: 'T', url: 'https://example.com/' };
const items: Readonly<Record<SurfaceKind, object>> = {
  ...{ web: page, answer: page, news: page, videos: page },
  images: { position: 1, title: 'T', image_url: 'https://example.com/x.png' },
  routes: { position: 1, title: 'T', duration_seconds: 60 },
  flights: { position: 1, title: 'T', segments: [{ from: 'ZRH', to: 'JFK' }] },
  ...{ places: { position: 1, title: 'T' }, products: { position: 1, title: 'T' } },
  ...{ papers: { position: 1, title: 'T' }, suggestions: { position: 1, title: 'T' } },
  hotels: { position: 1, title: 'T' },
};

function normalizedOf(kind: SurfaceKind) {
  return {
    ...{ kind, items: [items[kind]], related: ['x'], empty: false, partial: false },
    ...{ truncated: false, engines: [{ name: 'r1', state: 'found', ms: 12 }], ignored: ['x'] },
    cache: { hit: false, age_seconds: 0, max_age_seconds: 300 },
    assumed: { limit: 10, avoid: ['tolls'] },
  };
}

const isGood = (kind: SurfaceKind, value: unknown) =>
  safeParse(normalizedSchema(kind), value).success;

test('every surface has a kind, and every kind a schema of its own', () => {
  const used = new Set(surfaceNames.map((name) => factsOf(name).kind));
  assert.deepEqual([...used].sort(), [...kinds].sort());
  assert.equal(kinds.length, 12);
  assert.equal(new Set(Object.values(itemSchemas)).size, 12);
  for (const kind of kinds) {
    assert.ok(isGood(kind, normalizedOf(kind)), kind);
    assert.ok(safeParse(anyNormalized, normalizedOf(kind)).success, kind);
    for (const other of kinds) {
      if (other !== kind) assert.ok(!isGood(other, normalizedOf(kind)), `${kind} as ${other}`);
    }
  }
});

test('a member that is not documented, or lacks, is no reply', () => {
  for (const kind of kinds) {
    const whole = normalizedOf(kind);
    assert.ok(!isGood(kind, { ...whole, more: 1 }));
    assert.ok(!isGood(kind, { ...whole, items: [{ ...items[kind], more: 1 }] }), kind);
    for (const name of Object.keys(whole)) {
      assert.ok(!isGood(kind, { ...whole, [name]: undefined }), `${kind} without ${name}`);
    }
    for (const name of Object.keys(items[kind])) {
      const lacking = { ...items[kind], [name]: undefined };
      assert.ok(!isGood(kind, { ...whole, items: [lacking] }), `${kind} without ${name}`);
    }
  }
});

test('texts that are not clean and addresses of other schemes are no item', () => {
  const bad = [
    ...[{ title: 'a\u202eb' }, { title: '' }, { title: 'x'.repeat(301) }, { title: 'a\u200bb' }],
    ...[{ url: 'javascript:alert(1)' }, { url: 'https://' }, { url: 'https://a.com/ b' }],
    ...[{ published_at: 'yesterday' }, { position: 0 }, { position: 1.5 }, { score: 1.1 }],
  ];
  for (const members of bad) {
    assert.ok(
      !safeParse(itemSchemas.web, { ...page, ...members }).success,
      JSON.stringify(members),
    );
  }
});

test('words of an answer are told where there may be some, and null where there are none', () => {
  const citation = { start: 3, end: 6, position: 1, url: page.url, title: 'T', quote: 'Q' };
  const answer = { text: 'Yes[1]', citations: [citation], grounded: true, model: 'm', removed: 0 };
  for (const kind of kinds) {
    const mayAnswer = kind === 'web' || kind === 'answer';
    assert.equal(isGood(kind, { ...normalizedOf(kind), answer }), mayAnswer, kind);
    assert.equal(isGood(kind, { ...normalizedOf(kind), answer: null }), mayAnswer, kind);
  }
});

test('JSON Schema can say all of it, closed', () => {
  const book = createSchemaBook([{ name: 'reply', schema: anyNormalized }]);
  assert.equal(Object.keys(book.components).filter((name) => /^Normalized./.test(name)).length, 12);
  const text = JSON.stringify([book.schemaOf(anyNormalized), book.components]);
  for (const kind of kinds) assert.ok(text.includes(`"const":"${kind}"`), kind);
  const objects = text.match(/"type":"object"/g) ?? [];
  const closed = text.match(/"additionalProperties":false/g) ?? [];
  // Assumed values are the one table of open names.
  assert.ok(closed.length >= objects.length - 12, `${closed.length} of ${objects.length}`);
});
