// Writes a horizontal bar chart as SVG: one colour for values, a mark and a word where a bar's
// limit lies, every value written out. Light background, system fonts, no script.
import type { Chart, ChartRow } from './report.ts';
import { rounded } from './statistics.ts';

const LABEL_WIDTH_MIN = 190;
/** Of the 13 px system font; a little wide, for nobody measures text here. */
const CHARACTER_WIDTH = 7.4;
const PLOT_WIDTH = 450;
const VALUE_WIDTH = 120;
const ROW_HEIGHT = 46;
const BAR_HEIGHT = 22;
const TOP = 64;
const BOTTOM = 44;

export const COLOURS = {
  background: '#ffffff',
  text: '#1f2933',
  faint: '#616e7c',
  grid: '#e4e7eb',
  plain: '#9fb3c8',
  good: '#2f855a',
  bad: '#c53030',
  limit: '#1f2933',
};

/** The chart as a complete SVG document. */
export function renderChart(chart: Chart): string {
  const longest = Math.max(...chart.rows.map((row) => row.label.length));
  const left = Math.max(LABEL_WIDTH_MIN, Math.ceil(longest * CHARACTER_WIDTH) + 28);
  const width = left + PLOT_WIDTH + VALUE_WIDTH;
  const height = TOP + chart.rows.length * ROW_HEIGHT + BOTTOM;
  const ticks = niceTicks(Math.max(...chart.rows.flatMap((row) => [row.value, row.limit ?? 0])));
  const scaleMax = ticks.at(-1) ?? 1;
  const x = (value: number): number => left + (value / scaleMax) * PLOT_WIDTH;
  const plotBottom = TOP + chart.rows.length * ROW_HEIGHT;
  const grid = ticks.map(
    (tick) =>
      `<line x1="${at(x(tick))}" y1="${TOP - 6}" x2="${at(x(tick))}" y2="${plotBottom}" ` +
      `stroke="${COLOURS.grid}"/>` +
      text(x(tick), plotBottom + 18, tickLabel(tick), { anchor: 'middle', colour: COLOURS.faint }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
      `width="${width}" height="${height}" role="img" aria-label="${escaped(chart.title)}" ` +
      'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">',
    `<rect width="${width}" height="${height}" fill="${COLOURS.background}"/>`,
    text(16, 28, chart.title, { size: 17, weight: 600 }),
    text(16, 47, chart.unit, { colour: COLOURS.faint }),
    ...grid,
    ...chart.rows.map((row, index) => renderRow(row, TOP + index * ROW_HEIGHT, x)),
    '</svg>',
    '',
  ].join('\n');
}

function renderRow(row: ChartRow, top: number, x: (value: number) => number): string {
  const middle = top + ROW_HEIGHT / 2;
  const left = x(0);
  const width = Math.max(1, x(row.value) - left);
  const fill = fillOf(row);
  const parts = [
    text(left - 12, middle + 5, row.label, { anchor: 'end' }),
    `<rect x="${at(left)}" y="${middle - BAR_HEIGHT / 2}" width="${at(width)}" ` +
      `height="${BAR_HEIGHT}" rx="3" fill="${fill}"/>`,
  ];
  const limit = row.limit;
  if (limit !== undefined) {
    const [lineX, from, to] = [at(x(limit)), middle - 17, middle + 17];
    parts.push(
      `<line x1="${lineX}" y1="${from}" x2="${lineX}" y2="${to}" stroke="${COLOURS.limit}" ` +
        'stroke-width="2" stroke-dasharray="4 3"/>',
    );
  }
  const end = x(Math.max(row.value, limit ?? 0));
  const bar = limit === undefined ? '' : ` (bar ${rounded(limit)})`;
  parts.push(text(end + 8, middle + 5, `${rounded(row.value)}${bar}`, { weight: 600 }));
  return parts.join('\n');
}

/** Green or red for a row that is held to a limit, neutral for the others. */
function fillOf(row: ChartRow): string {
  if (row.limit === undefined) return COLOURS.plain;
  const kept = row.higherIsBetter === true ? row.value >= row.limit : row.value <= row.limit;
  return kept ? COLOURS.good : COLOURS.bad;
}

interface TextStyle {
  anchor?: 'start' | 'middle' | 'end';
  size?: number;
  weight?: number;
  colour?: string;
}

export function text(x: number, y: number, content: string, style: TextStyle = {}): string {
  const { anchor = 'start', size = 13, weight = 400, colour = COLOURS.text } = style;
  return (
    `<text x="${at(x)}" y="${at(y)}" font-size="${size}" font-weight="${weight}" ` +
    `text-anchor="${anchor}" fill="${colour}">${escaped(content)}</text>`
  );
}

/** Four to six round steps from 0 to at least `max`. */
export function niceTicks(max: number): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const count = Math.ceil(max / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

export function tickLabel(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 });
}

export function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

export function escaped(content: string): string {
  return content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
