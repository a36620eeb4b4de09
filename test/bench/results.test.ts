// The results document: one section is replaced, all others survive; and the chart that goes with
// it.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { niceTicks, renderChart } from '../../bench/chart.ts';
import { passes, type Report, textTable } from '../../bench/report.ts';
import { keepReport, replaceSection } from '../../bench/results.ts';

function report(name: string, measured: number): Report {
  return {
    name,
    title: `Bench ${name}`,
    method: 'As it is.',
    columns: ['contender', 'CPU µs'],
    rows: [['gateway', String(measured)]],
    bars: [{ text: 'CPU', limit: 2, measured, unit: '×', sense: 'most' }],
    chart: {
      title: `Chart <${name}>`,
      unit: 'µs',
      rows: [{ label: 'a&b', value: measured, limit: 2 }],
    },
    notes: [],
  };
}

test('a section is replaced in its place and the others are kept', () => {
  const before = '# Results\n\ntext\n\n## one\n\nold\n\n### inner\n\n## two\n\nkept\n';
  const after = replaceSection(before, 'one', '## one\n\nnew');
  assert.equal(after, '# Results\n\ntext\n\n## one\n\nnew\n\n## two\n\nkept\n');
  const added = replaceSection(after, 'three', '## three\n\nmore\n');
  assert.equal(added, `${after}\n## three\n\nmore\n`);
  assert.equal(replaceSection(added, 'three', '## three\n\nmore\n'), added);
});

test('a report is kept with its machine, command, verdict and chart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-results-'));
  try {
    await keepReport(folder, report('one', 1.5), {
      command: 'npm run bench -- one',
      loadBefore: 0.5,
    });
    await keepReport(folder, report('two', 3), { command: 'npm run bench -- two', loadBefore: 2 });
    await keepReport(folder, report('one', 1.25), {
      command: 'npm run bench -- one',
      loadBefore: 0.5,
    });
    const text = await readFile(join(folder, 'results.md'), 'utf8');
    assert.equal(text.match(/^## /gm)?.length, 2);
    assert.match(text, /\| CPU \| ≤ 2\.00 × \| 1\.25 × \| pass \|/);
    assert.match(text, /\| CPU \| ≤ 2\.00 × \| 3\.00 × \| FAIL \|/);
    assert.match(text, /Node \d+\.\d+/);
    assert.match(text, /`npm run bench -- two`/);
    assert.match(text, /load average before 2\.0/);
    assert.match(text, /charts\/one\.svg/);
    assert.match(await readFile(join(folder, 'charts', 'two.svg'), 'utf8'), /^<svg /);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a chart escapes its words and shows value and limit', () => {
  const chart = renderChart(report('x', 1.5).chart);
  assert.match(chart, /Chart &lt;x&gt;/);
  assert.match(chart, /a&amp;b/);
  assert.match(chart, /1\.50 \(bar 2\.00\)/);
  assert.doesNotMatch(chart, /NaN|undefined|Infinity/);
});

test('an axis begins at zero and covers its greatest value in few steps', () => {
  for (const max of [0.003, 0.9, 1, 7.3, 99, 100, 1234]) {
    const ticks = niceTicks(max);
    assert.equal(ticks[0], 0);
    assert.ok((ticks.at(-1) ?? 0) >= max, `${max}: ${ticks}`);
    assert.ok(ticks.length >= 4 && ticks.length <= 7, `${max}: ${ticks}`);
  }
});

test('a bar is met at its limit, in either sense', () => {
  const bar = { text: '', limit: 5, measured: 5, unit: '' };
  assert.ok(passes({ ...bar, sense: 'most' }) && passes({ ...bar, sense: 'least' }));
  assert.ok(!passes({ ...bar, measured: 5.1, sense: 'most' }));
  assert.ok(!passes({ ...bar, measured: 4.9, sense: 'least' }));
  assert.ok(!passes({ ...bar, measured: Number.NaN, sense: 'most' }));
});

test('a table aligns names to the left and figures to the right', () => {
  assert.equal(textTable(['who', 'n'], [['a', '100']]), 'who    n\n───  ───\na    100');
});
