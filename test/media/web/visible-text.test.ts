// What of a page a person sees. Each way to hide a text is shown beside the same text unhidden.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printDistance, printOf } from '../../../media/web/print.ts';
import { visibleText, visibleTextOfHtml } from '../../../media/web/visible-text.ts';

const code = 'TG-ABCD-2345';

const hidden: Readonly<Record<string, string>> = {
  comment: `<!-- ${code} -->`,
  script: `<script>const code = "${code}";</script>`,
  data: `<script type="application/json">"${code}"</script>`,
  style: `<style>.a::after { content: "${code}" }</style>`,
  attribute: `<p title="${code}" data-code="${code}">text</p>`,
  alternative: `<img src="x.png" alt="${code}">`,
  value: `<input value="${code}"><textarea>${code}</textarea>`,
  title: `<title>${code}</title>`,
  noscript: `<noscript>${code}</noscript>`,
  template: `<template><p>${code}</p></template>`,
  option: `<select><option>${code}</option></select>`,
  hidden: `<div hidden><p>${code}</p></div>`,
  'aria-hidden': `<div aria-hidden="true">${code}</div>`,
  details: `<details><summary>more</summary>${code}</details>`,
  dialog: `<dialog>${code}</dialog>`,
  display: `<div style="display: NONE !important; display: block">${code}</div>`,
  visibility: `<span style="visibility:hidden">${code}</span>`,
  opacity: `<span style="opacity:0">${code}</span>`,
  font: `<span style="font-size:0">${code}</span>`,
  'font, small': `<span style="font: italic 1px serif">${code}</span>`,
  size: `<div style="width:0;height:0">${code}</div>`,
  cut: `<div style="height:1px;overflow:hidden">${code}</div>`,
  'white on white': `<p style="color:#fff">${code}</p>`,
  'white on white, apart': `<div style="background:white"><p style="color:white">${code}</p></div>`,
  'black on black': `<div style="background:#000"><p style="color:#050505">${code}</p></div>`,
  'almost white': `<p style="color:rgb(250, 250, 250)">${code}</p>`,
  'font element': `<font color="white">${code}</font>`,
  transparent: `<p style="color:transparent">${code}</p>`,
  alpha: `<p style="color:rgba(0,0,0,0)">${code}</p>`,
  'off screen': `<p style="position:absolute;left:-9999px">${code}</p>`,
  indent: `<p style="text-indent:-999em">${code}</p>`,
  moved: `<p style="transform:translateX(-2000px)">${code}</p>`,
  scaled: `<p style="transform: scale(0)">${code}</p>`,
  clipped: `<p style="position:absolute;clip:rect(0,0,0,0)">${code}</p>`,
  'clip path': `<p style="clip-path: inset(100%)">${code}</p>`,
  class: `<style>.note, .x { display: none }</style><p class="note">${code}</p>`,
  id: `<style>@media screen { #a { visibility: hidden } }</style><p id="a">${code}</p>`,
  nested: `<style>main .deep b { font-size: 0 }</style>
    <main><p class="deep"><b>${code}</b></p></main>`,
};

test('a text is not visible, however it is hidden', () => {
  for (const [way, html] of Object.entries(hidden)) {
    const text = visibleTextOfHtml(`<html><body><p>before</p>${html}<p>after</p></body></html>`);
    assert.ok(!text.includes(code), `${way}: ${text}`);
    assert.match(text, /before[\s\S]*after/, way);
  }
});

const shown: Readonly<Record<string, string>> = {
  plain: `<p>${code}</p>`,
  split: `<p>TG-<b>AB</b>CD-<span>2345</span></p>`,
  joined: `<p>TG-\u200bABCD\u00ad-2345\u2060</p>`,
  open: `<details open>${code}</details>`,
  'white on black': `<div style="background:#000"><p style="color:#fff">${code}</p></div>`,
  'white on a picture': `<div style="background:url(a)"><p style="color:#fff">${code}</p></div>`,
  black: `<p style="color: rgb(0, 0, 0); background: rgb(255 255 255 / 1)">${code}</p>`,
  printed: `<style>@media print { p { display: none } }</style><p>${code}</p>`,
  other: `<style>.other { display: none }</style><p class="note">${code}</p>`,
  state: `<style>p:hover { display: none }</style><p>${code}</p>`,
  unclosed: `<table><tr><td>${code}`,
  moved: `<p style="transform: translate(-50%, -50%)">${code}</p>`,
};

test('what a person sees is there', () => {
  for (const [way, html] of Object.entries(shown)) {
    assert.ok(visibleTextOfHtml(html).includes(code), `${way}: ${visibleTextOfHtml(html)}`);
  }
});

test('lines are parted by blocks, and blanks are one', () => {
  const html = '<h1>One</h1><p>two  <i>three</i>\n four</p><ul><li>five<li>six</ul>';
  assert.equal(visibleTextOfHtml(html), 'One\ntwo three four\nfive\nsix');
  assert.equal(visibleText(' a \u200b b\t c\n\n\n d '), 'a b c\nd');
});

test('a page of deep nesting or many rules is read in time', () => {
  const deep = '<div>'.repeat(60_000) + code;
  assert.ok(visibleTextOfHtml(deep).includes(code));
  const rules = Array.from({ length: 4_000 }, (_, at) => `.c${at} { display: none }`).join('');
  const page = `<style>${rules}</style>${'<p class="a b c">x</p>'.repeat(5_000)}<i>${code}</i>`;
  const before = performance.now();
  assert.ok(visibleTextOfHtml(page).includes(code));
  assert.ok(performance.now() - before < 10_000);
});

test('prints of texts that are nearly one differ in few bits, of others in many', () => {
  const words = (from: number) =>
    Array.from({ length: 300 }, (_, at) => `word${(from + at * 7) % 1_000}`).join(' ');
  const text = words(0);
  const own = `${text} TG-ABCD-2345`;
  const copy = `${text} TG-WXYZ-9876`;
  assert.equal(printDistance(printOf(own), printOf(copy)), 0);
  assert.ok(printDistance(printOf(text), printOf(`${text} and`)) <= 3);
  assert.ok(printDistance(printOf(text), printOf(words(501))) > 10);
});
