// Keeps `bench/results.md`: one section per bench, each replaced on its own, and its chart beside
// it. Sections of benches that did not run stay as they are.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderChart } from './chart.ts';
import { renderLineChart } from './line-chart.ts';
import { describeMachine } from './machine.ts';
import { BAR_COLUMNS, barRows, type Findings } from './report.ts';

const PREAMBLE = `# Results of the benches

Each section is written by \`npm run bench -- NAME\`: median of its runs, all contenders side by
side in one run, in turn. CPU is user + system time of the contender's process, all its threads;
PostgreSQL's stands beside it. Load generator and simulator run on the same cores and are not
counted. The sections \`long-…\` are the last results of \`npm run test:long\`.
`;

export interface Run {
  command: string;
  /** One-minute load average before the bench began: others on the machine blur every figure. */
  loadBefore: number;
}

/** Writes the section and the chart of one bench into `folder`. */
export async function keepReport(folder: string, report: Findings, run: Run): Promise<void> {
  await mkdir(join(folder, 'charts'), { recursive: true });
  const { chart } = report;
  if (chart !== null) {
    const drawing = 'lines' in chart ? renderLineChart(chart) : renderChart(chart);
    await writeFile(join(folder, 'charts', `${report.name}.svg`), drawing);
  }
  const path = join(folder, 'results.md');
  const before = await readFile(path, 'utf8').catch(() => PREAMBLE);
  await writeFile(path, replaceSection(before, report.name, renderSection(report, run)));
}

/** Replaces the section \`## name\` of a document, or adds it; all others are kept in place. */
export function replaceSection(document: string, name: string, section: string): string {
  const parts = document.split(/^(?=## )/m);
  const at = parts.findIndex((part) => part.split('\n', 1)[0] === `## ${name}`);
  const text = `${section.trimEnd()}\n`;
  if (at === -1) parts.push(text);
  else parts[at] = text;
  return `${parts.map((part) => part.trimEnd()).join('\n\n')}\n`;
}

function renderSection(report: Findings, { command, loadBefore }: Run): string {
  const bars =
    report.bars.length === 0 ? [] : [markdownTable(BAR_COLUMNS, barRows(report.bars)), ''];
  return [
    `## ${report.name}`,
    '',
    `**${report.title}.** ${report.method}`,
    '',
    `${new Date().toISOString().slice(0, 10)} · ${describeMachine()}, load average before ` +
      `${loadBefore.toFixed(1)} · \`${command}\``,
    '',
    ...bars,
    markdownTable(report.columns, report.rows),
    '',
    ...report.notes.flatMap((note) => [note, '']),
    report.chart === null ? '' : `![${report.chart.title}](charts/${report.name}.svg)`,
  ].join('\n');
}

function markdownTable(columns: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = columns.map((_, index) => (index === 0 ? '---' : '---:'));
  return [line(columns), line(rule), ...rows.map(line)].join('\n');
}
