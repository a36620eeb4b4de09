// A document as PDF, of the words that the page has. The same document gives the same bytes: no
// date but its own is in it. Each word carries its text, since glyphs of some scripts are not in
// the order of their letters.
import { createRequire } from 'node:module';
import PDFDocument from 'pdfkit';
import type { IssuedDocument } from './document.ts';
import { coverageOf, type Run, runsOf, scripts } from './runs.ts';
import { type Sheet, sheetOf } from './sheet.ts';

const require = createRequire(import.meta.url);
const has = coverageOf(
  require('@fontsource/noto-sans/unicode.json') as Readonly<Record<string, string>>,
);

type Weight = 400 | 700;
type Pdf = InstanceType<typeof PDFDocument>;

/** A4, in points; 18 mm are left free. */
const page = { width: 595.28, height: 841.89, margin: 51 };
const right = page.width - page.margin;
const bottom = page.height - page.margin;
const grey = '#555c66';
const black = '#16191d';

interface Style {
  size: number;
  weight: Weight;
  color: string;
}

const plain: Style = { size: 10, weight: 400, color: black };
const faint: Style = { ...plain, color: grey };
const strong: Style = { ...plain, weight: 700 };
const heading: Style = { size: 8.5, weight: 700, color: grey };

/** A word as it is drawn. */
interface Word {
  text: string;
  runs: Run[];
  width: number;
}

interface Box {
  x: number;
  y: number;
  width: number;
  end?: true;
}

export function invoicePdf(document: IssuedDocument): Promise<Buffer> {
  const sheet = sheetOf(document);
  const at = new Date(`${document.issued_on}T00:00:00Z`);
  const pdf = new PDFDocument({
    size: 'A4',
    margin: page.margin,
    lang: 'en',
    font: fontFile('latin', 400),
    info: { Title: `${sheet.title} ${document.number}`, CreationDate: at, ModDate: at },
  });
  for (const script of scripts) {
    for (const weight of [400, 700] as const) {
      pdf.registerFont(`${script}-${weight}`, fontFile(script, weight));
    }
  }
  const chunks: Buffer[] = [];
  pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
  const done = new Promise<Buffer>((resolve, reject) => {
    pdf.on('end', () => resolve(Buffer.concat(chunks)));
    pdf.on('error', reject);
  });
  drawSheet(pdf, sheet);
  pdf.end();
  return done;
}

function fontFile(script: string, weight: Weight): string {
  return require.resolve(`@fontsource/noto-sans/files/noto-sans-${script}-${weight}-normal.woff`);
}

function drawSheet(pdf: Pdf, sheet: Sheet): void {
  const { margin: x } = page;
  const width = right - x;
  let y = draw(pdf, sheet.title, { x, y: x, width }, { ...strong, size: 18 }) + 10;
  for (const [label, value] of sheet.facts) {
    draw(pdf, label, { x, y, width: 110 }, faint);
    y = draw(pdf, value, { x: x + 120, y, width: width - 120 }, plain);
  }
  y = drawParties(pdf, sheet, y + 18);
  y = drawTable(pdf, sheet, y + 18);
  draw(pdf, sheet.note, { x, y: y + 18, width }, faint);
}

/** Side by side; returns where the longer one ends. */
function drawParties(pdf: Pdf, { parties }: Sheet, top: number): number {
  const width = (right - page.margin - 24) / 2;
  const ends = parties.map(({ heading: head, lines }, index) => {
    const x = page.margin + index * (width + 24);
    let y = draw(pdf, head, { x, y: top, width }, heading) + 2;
    for (const line of lines) y = draw(pdf, line, { x, y, width }, plain);
    return y;
  });
  return Math.max(...ends);
}

function drawTable(pdf: Pdf, { columns, lines, totals }: Sheet, top: number): number {
  const { margin: x } = page;
  const amount = { x: right - 140, width: 140, end: true } as const;
  const credits = { x: right - 240, width: 90, end: true } as const;
  const what = { x, width: right - 250 - x };
  const row = (texts: readonly [string, string, string], y: number, style: Style) =>
    Math.max(
      draw(pdf, texts[0], { ...what, y }, style),
      draw(pdf, texts[1], { ...credits, y }, style),
      draw(pdf, texts[2], { ...amount, y }, style),
    );
  let y = rule(pdf, row(columns, top, heading) + 4);
  for (const line of lines) y = rule(pdf, row(line, y, plain) + 4);
  totals.forEach(([label, money], index) => {
    const style = index === totals.length - 1 ? strong : plain;
    draw(pdf, label, { ...what, y }, style);
    y = draw(pdf, money, { ...amount, y }, style) + 2;
  });
  return y;
}

/** A line across the page; where the next text begins. */
function rule(pdf: Pdf, y: number): number {
  pdf.moveTo(page.margin, y).lineTo(right, y).lineWidth(0.5).stroke('#d9dde2');
  return y + 6;
}

/** Draws a text within its box, in as many lines as it takes; where the next one begins. */
function draw(pdf: Pdf, text: string, box: Box, style: Style): number {
  const height = style.size * 1.45;
  const space = widthOf(pdf, [{ script: 'latin', text: ' ' }], style);
  let { y } = box;
  for (const line of linesOf(pdf, text, box.width, style)) {
    const length = line.reduce((sum, { width }) => sum + width, space * (line.length - 1));
    let x = box.end === true ? box.x + box.width - length : box.x;
    for (const word of line) {
      // What is very long stands in the margin, and not on a page without anything else.
      if (y < bottom + page.margin - height) drawWord(pdf, word, x, y, style);
      x += word.width + space;
    }
    y += height;
  }
  return y;
}

function drawWord(pdf: Pdf, word: Word, left: number, y: number, style: Style): void {
  let x = left;
  pdf.fillColor(style.color);
  pdf.markContent('Span', { actual: word.text });
  for (const run of word.runs) {
    pdf.font(`${run.script}-${style.weight}`).fontSize(style.size);
    pdf.text(run.text, x, y, { lineBreak: false });
    x += pdf.widthOfString(run.text);
  }
  pdf.endMarkedContent();
}

/** Words that fit beside each other; one that is wider than the box is cut. */
function linesOf(pdf: Pdf, text: string, width: number, style: Style): Word[][] {
  const space = widthOf(pdf, [{ script: 'latin', text: ' ' }], style);
  const lines: Word[][] = [];
  let left = -1;
  for (const piece of text.split(' ').filter((word) => word !== '')) {
    for (const word of cutToFit(pdf, piece, width, style)) {
      const line = lines.at(-1);
      if (line === undefined || left < word.width + space) {
        lines.push([word]);
        left = width - word.width;
      } else {
        line.push(word);
        left -= word.width + space;
      }
    }
  }
  return lines;
}

function cutToFit(pdf: Pdf, text: string, width: number, style: Style): Word[] {
  const runs = runsOf(text, has);
  const word = { text: text.normalize('NFC'), runs, width: widthOf(pdf, runs, style) };
  const characters = [...word.text];
  if (word.width <= width || characters.length < 2) return [word];
  const half = Math.ceil(characters.length / 2);
  return [characters.slice(0, half), characters.slice(half)].flatMap((part) =>
    cutToFit(pdf, part.join(''), width, style),
  );
}

function widthOf(pdf: Pdf, runs: readonly Run[], { size, weight }: Style): number {
  return runs.reduce((sum, { script, text }) => {
    pdf.font(`${script}-${weight}`).fontSize(size);
    return sum + pdf.widthOfString(text);
  }, 0);
}
