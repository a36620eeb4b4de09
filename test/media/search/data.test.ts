// What is passed on of a provider's own members: always an object, never over 512 KiB.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundData } from '../../../media/search/data.ts';

const bytesMax = 512 * 1_024;

function bound(data: Record<string, unknown>) {
  const { json, isTruncated } = boundData(data);
  assert.ok(Buffer.byteLength(json) <= bytesMax, `${Buffer.byteLength(json)} bytes`);
  return { data: JSON.parse(json), isTruncated };
}

test('what fits is passed on as it is', () => {
  const data = { organic: [{ title: 'ü', n: 1 }], answer: { text: null }, list: [] };
  assert.deepEqual(bound(data), { data, isTruncated: false });
  assert.deepEqual(bound({}), { data: {}, isTruncated: false });
  const own = JSON.parse('{"__proto__": [1]}');
  assert.equal(boundData(own).json, '{"__proto__":[1]}');
});

test('the longest list loses its tail and no more than it has to', () => {
  const organic = Array.from({ length: 1_000 }, (_, at) => ({ at, text: 'ü'.repeat(500) }));
  const related = Array.from({ length: 100 }, (_, at) => ({ at, text: 'x'.repeat(100) }));
  const found = bound({ organic, related, answer: 'short' });
  assert.equal(found.isTruncated, true);
  assert.deepEqual(found.data.related, related);
  assert.equal(found.data.answer, 'short');
  const kept = found.data.organic.length;
  assert.deepEqual(found.data.organic, organic.slice(0, kept));
  assert.ok(kept > 480 && kept < 520, `${kept} are kept`);
});

test('what has no list, or one entry that is too large, is left out', () => {
  const huge = 'x'.repeat(600 * 1_024);
  assert.deepEqual(bound({ text: huge, small: 1 }), { data: { small: 1 }, isTruncated: true });
  assert.deepEqual(bound({ list: [huge], small: 1 }), {
    ...{ data: { list: [], small: 1 }, isTruncated: true },
  });
  assert.deepEqual(bound({ list: ['a', huge] }).data, { list: ['a'] });
});

test('lists inside of a member lose their tail as well', () => {
  const places = Array.from({ length: 1_000 }, (_, at) => `${at} ${'x'.repeat(1_000)}`);
  const { data } = bound({ local_results: { places, more: true } });
  assert.ok(data.local_results.places.length > 500);
  assert.equal(data.local_results.more, true);
});

test('what is nested too deep is left out', () => {
  const depth = 100_000;
  const deep: unknown = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  assert.deepEqual(bound({ deep, small: 1 }), { data: { deep: [], small: 1 }, isTruncated: true });
  assert.deepEqual(bound({ deep: { deep }, small: 1 }).data, { deep: { deep: [] }, small: 1 });
  const object = JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
  assert.deepEqual(bound({ object, small: 1 }).data, { object: { a: { a: {} } }, small: 1 });
});

test('two long lists lose as much, and a short one nothing', () => {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, at) => `${at}`.padEnd(1_000));
  const { data } = bound({ one: entries(600), other: entries(700), short: entries(20) });
  assert.equal(data.short.length, 20);
  assert.equal(data.one.length, data.other.length);
  assert.ok(data.one.length > 240);
});

test('twenty thousand names are bound as well', () => {
  const names = (value: unknown) =>
    Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`name ${at} ${'x'.repeat(30)}`, value]),
    );
  for (const value of [1, {}, [], 'xxxxxxxxxx', { a: {} }]) {
    assert.equal(bound(names(value)).isTruncated, true);
  }
});

test('two megabytes are cut in a moment', () => {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ at, text: 'y'.repeat(80) }));
  const data = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`l${at}`, entries(1_000)]),
  );
  const before = process.cpuUsage();
  assert.equal(bound(data).isTruncated, true);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 500_000, `${user} microseconds`);
});
