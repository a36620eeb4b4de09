// Our histogram says what the library's says of the same observations, in the library's own text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import prometheus from 'prom-client';
import { Histogram } from '../../runtime/histogram.ts';
import { renderMetrics } from '../../runtime/metrics.ts';

const bounds = [0.001, 0.0025, 0.25, 1, 60];
const values = [0, 0.001, 0.0011, 0.0025, 0.2, 0.25, 0.250001, 1, 59, 60, 61, 1e6, 0.25];
const name = 'tollgate_test_seconds';
const help = 'What it says.';

async function textOf(others: Histogram | prometheus.Histogram[]): Promise<string[]> {
  const list =
    others instanceof Histogram
      ? [others.toJson()]
      : await Promise.all(others.map((each) => each.get()));
  // Aggregated as those of all threads are, twice over.
  const text = await renderMetrics([structuredClone(list), structuredClone(list)] as never);
  return text.split('\n');
}

test('one without labels says what the library says, at once and later', async () => {
  const own = new Histogram({ name, help, bounds });
  const library = new prometheus.Histogram({ name, help, buckets: bounds, registers: [] });
  assert.deepEqual(await textOf(own), await textOf([library]));
  for (const value of values) {
    own.observe(value);
    library.observe(value);
  }
  const text = await textOf(own);
  assert.deepEqual(text, await textOf([library]));
  assert.ok(text.includes(`${name}_bucket{le="0.25"} 14`), text.join('\n'));
  assert.ok(text.includes(`${name}_bucket{le="+Inf"} 26`), text.join('\n'));
});

test('one with a label says a series for each of its values', async () => {
  const own = new Histogram({ name, help, bounds, labelName: 'route' });
  const options = { name, help, buckets: bounds, labelNames: ['route'], registers: [] };
  const library = new prometheus.Histogram(options);
  assert.deepEqual(await textOf(own), await textOf([library]));
  values.forEach((value, index) => {
    const route = index % 3 === 0 ? '/v1/messages' : '/v1/"quoted"\\';
    own.observe(value, route);
    library.observe({ route }, value);
  });
  assert.deepEqual((await textOf(own)).sort(), (await textOf([library])).sort());
});
