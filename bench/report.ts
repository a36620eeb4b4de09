// What a bench hands back: a table, the bars it is held to, and a chart. Shown on the terminal
// here; kept by `results.ts`.
import { rounded } from './statistics.ts';

/** One demand on a figure, in the same unit as the measurement. */
export interface Bar {
  text: string;
  limit: number;
  measured: number;
  unit: string;
  /** `most`: the measurement may not be above the limit; `least`: not below. */
  sense: 'most' | 'least';
}

/** One bar of the chart; `limit` draws a mark where the demand lies. */
export interface ChartRow {
  label: string;
  value: number;
  limit?: number;
  /** Absent: lower is better. */
  higherIsBetter?: boolean;
}

export interface Chart {
  title: string;
  unit: string;
  rows: ChartRow[];
}

/** Figures over time: a line each, all in one unit. */
export interface LineChart {
  title: string;
  unit: string;
  /** Of the horizontal axis. */
  across: string;
  lines: { label: string; points: readonly (readonly [across: number, value: number])[] }[];
  /** Drawn under it: figures of the same run in another unit. */
  below?: LineChart;
}

/** What is kept of a measurement that may have another chart than bars, or none. */
export interface Findings {
  name: string;
  title: string;
  /** What was done, in one or two sentences. */
  method: string;
  columns: string[];
  rows: string[][];
  bars: Bar[];
  /** Null: the table says it all. */
  chart: Chart | LineChart | null;
  notes: string[];
}

export interface Report extends Findings {
  chart: Chart;
}

export function passes(bar: Bar): boolean {
  return bar.sense === 'most' ? bar.measured <= bar.limit : bar.measured >= bar.limit;
}

/** The demands as table rows: text, limit, measured, verdict. */
export function barRows(bars: readonly Bar[]): string[][] {
  return bars.map((bar) => [
    bar.text,
    `${bar.sense === 'most' ? '≤' : '≥'} ${withUnit(bar.limit, bar.unit)}`,
    withUnit(bar.measured, bar.unit),
    passes(bar) ? 'pass' : 'FAIL',
  ]);
}

export const BAR_COLUMNS = ['bar', 'limit', 'measured', 'verdict'];

function withUnit(value: number, unit: string): string {
  if (unit === '×') return `${rounded(value)} ×`;
  return `${rounded(value)} ${unit}`.trim();
}

/** A table of text with aligned columns: the first to the left, figures to the right. */
export function textTable(columns: readonly string[], rows: readonly string[][]): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return index === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  return [
    line(columns),
    widths.map((width) => '─'.repeat(width)).join('  '),
    ...rows.map(line),
  ].join('\n');
}

/** Prints the report on standard output. */
export function printReport(report: Findings): void {
  console.log(`\n${report.title}\n${report.method}\n`);
  console.log(textTable(report.columns, report.rows));
  if (report.bars.length > 0) console.log(`\n${textTable(BAR_COLUMNS, barRows(report.bars))}`);
  for (const note of report.notes) console.log(`\n${note}`);
}
