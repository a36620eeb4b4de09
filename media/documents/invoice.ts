// A document as a page: one A4 sheet when it is printed, readable on a narrow phone, always light.
// It runs nothing and loads nothing; its one style is named by its digest in the policy.
import { createHash } from 'node:crypto';
import type { IssuedDocument } from './document.ts';
import { type Sheet, sheetOf } from './sheet.ts';

const style = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #eef0f2; color: #16191d;
  font: 15px/1.5 "Noto Sans", system-ui, sans-serif; overflow-wrap: anywhere; }
main { background: #fff; max-width: 210mm; margin: 1rem auto; padding: 1.25rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: .8rem; color: #555c66; margin: 0 0 .25rem; }
p { margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; }
dt { color: #555c66; }
dd { margin: 0; }
.parties { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr));
  gap: 1.25rem; margin: 1.5rem 0; }
table { border-collapse: collapse; width: 100%; margin-top: 1.5rem; }
th { text-align: start; font-weight: 400; }
thead th { font-size: .8rem; font-weight: 700; color: #555c66; border-bottom: 1px solid #9aa2ad; }
th, td { padding: .4rem 0 .4rem .75rem; vertical-align: top; }
tfoot th, tfoot td { padding-block: .2rem; }
th:first-child, td:first-child { padding-inline-start: 0; }
.amount { text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
tbody td { border-bottom: 1px solid #d9dde2; }
tfoot tr:last-child > * { font-weight: 700; }
.note { margin-top: 1.5rem; color: #555c66; }
@media (min-width: 40rem) { main { margin: 2rem auto; padding: 18mm; } }
@page { size: A4; margin: 18mm; }
@media print {
  body { background: #fff; font-size: 10pt; }
  main { margin: 0; padding: 0; max-width: none; }
}
`;

/** The policy that the page is served under. */
export const invoicePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

const said = (text: string): string => `<bdi>${escapeText(text)}</bdi>`;

export function invoiceHtml(document: IssuedDocument): string {
  const sheet = sheetOf(document);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<link rel="icon" href="data:,">
<title>${escapeText(`${sheet.title} ${document.number}`)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${sheet.title}</h1>
<dl>
${sheet.facts.map(([label, value]) => `<dt>${label}</dt><dd>${said(value)}</dd>`).join('\n')}
</dl>
<div class="parties">
${sheet.parties.map(partyOf).join('\n')}
</div>
${tableOf(sheet)}
<p class="note">${said(sheet.note)}</p>
</main>
</body>
</html>
`;
}

function partyOf({ heading, lines }: Sheet['parties'][number]): string {
  const paragraphs = lines.map((line) => `<p>${said(line)}</p>`).join('\n');
  return `<section><h2>${heading}</h2>\n${paragraphs}\n</section>`;
}

function tableOf({ columns, lines, totals }: Sheet): string {
  const [description, credits, amount] = columns;
  const rows = lines.map(
    ([what, count, money]) =>
      `<tr><td>${said(what)}</td><td class="amount">${said(count)}</td>` +
      `<td class="amount">${said(money)}</td></tr>`,
  );
  const sums = totals.map(
    ([label, money]) =>
      `<tr><th scope="row" colspan="2">${label}</th><td class="amount">${said(money)}</td></tr>`,
  );
  return `<table>
<thead><tr><th scope="col">${description}</th><th scope="col" class="amount">${credits}</th>
<th scope="col" class="amount">${amount}</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
<tfoot>
${sums.join('\n')}
</tfoot>
</table>`;
}
