// Draws figures over time as SVG, in the manner of `chart.ts`: light background, system fonts, no
// script. Each line is named at its end, so that no legend has to be matched by colour alone.
import { at, COLOURS, escaped, niceTicks, text, tickLabel } from './chart.ts';
import type { LineChart } from './report.ts';

const LEFT = 64;
const PLOT_WIDTH = 640;
const LABEL_WIDTH = 190;
const TOP = 72;
const PLOT_HEIGHT = 260;
const BOTTOM = 52;
/** Names closer than this would cover each other. */
const LABEL_GAP = 17;
const LINE_COLOURS = ['#2b6cb0', '#c05621', '#2f855a', '#805ad5', '#4a5568'];

const WIDTH = LEFT + PLOT_WIDTH + LABEL_WIDTH;
const HEIGHT = TOP + PLOT_HEIGHT + BOTTOM;

/** The chart, with what is below it, as a complete SVG document. */
export function renderLineChart(chart: LineChart): string {
  const { below } = chart;
  if (below === undefined) return renderOne(chart);
  const lower = renderLineChart(below).replace('<svg ', `<svg y="${HEIGHT}" `);
  const lowerHeight = Number(/ height="(\d+)"/.exec(lower)?.[1]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + lowerHeight}" ` +
      `width="${WIDTH}" height="${HEIGHT + lowerHeight}" role="img" ` +
      `aria-label="${escaped(`${chart.title}; ${below.title}`)}">`,
    renderOne(chart).trimEnd(),
    lower.trimEnd(),
    '</svg>',
    '',
  ].join('\n');
}

function renderOne(chart: LineChart): string {
  const points = chart.lines.flatMap((line) => line.points);
  const rows = niceTicks(Math.max(...points.map(([, value]) => value), 0));
  const columns = niceTicks(Math.max(...points.map(([across]) => across), 0));
  const x = (across: number): number => LEFT + (across / (columns.at(-1) ?? 1)) * PLOT_WIDTH;
  const y = (value: number): number => TOP + (1 - value / (rows.at(-1) ?? 1)) * PLOT_HEIGHT;
  const bottom = TOP + PLOT_HEIGHT;
  const faint = { colour: COLOURS.faint };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" ` +
      `width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escaped(chart.title)}" ` +
      'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${COLOURS.background}"/>`,
    text(16, 28, chart.title, { size: 17, weight: 600 }),
    text(16, 47, chart.unit, faint),
    ...rows.map(
      (tick) =>
        `<line x1="${LEFT}" y1="${at(y(tick))}" x2="${LEFT + PLOT_WIDTH}" y2="${at(y(tick))}" ` +
        `stroke="${COLOURS.grid}"/>` +
        text(LEFT - 10, y(tick) + 4, tickLabel(tick), { anchor: 'end', ...faint }),
    ),
    ...columns.map((tick) =>
      text(x(tick), bottom + 20, tickLabel(tick), { anchor: 'middle', ...faint }),
    ),
    text(LEFT + PLOT_WIDTH / 2, bottom + 40, chart.across, { anchor: 'middle', ...faint }),
    ...renderLines(chart, x, y),
    '</svg>',
    '',
  ].join('\n');
}

type Scale = (value: number) => number;

function renderLines(chart: LineChart, x: Scale, y: Scale): string[] {
  const drawn = chart.lines.flatMap(({ label, points }, index) => {
    const last = points.at(-1);
    if (last === undefined) return [];
    const colour = LINE_COLOURS[index % LINE_COLOURS.length] ?? COLOURS.text;
    const path = points.map(([across, value]) => `${at(x(across))},${at(y(value))}`).join(' ');
    return [{ label, colour, path, endX: x(last[0]), endY: y(last[1]) }];
  });
  let above = Number.NEGATIVE_INFINITY;
  return drawn
    .toSorted((one, other) => one.endY - other.endY)
    .map(({ label, colour, path, endX, endY }) => {
      above = Math.max(endY, above + LABEL_GAP);
      return (
        `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2" ` +
        `stroke-linejoin="round"/>${text(endX + 8, above + 4, label, { colour, weight: 600 })}`
      );
    });
}
