// The page of a problem: what a stranger wrote stays text, and a browser finds nothing in its way.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import fc from 'fast-check';
import { renderProblemPage } from '../../routes/problem-page.ts';
import { sourceFile } from '../../runtime/files.ts';
import { Problem, type ProblemCode, problemCodes } from '../../runtime/problem.ts';
import { noChromium, openChromium } from '../harness/chromium.ts';
import { testSeed } from '../harness/seed.ts';
import { type Serving, serve, testRoute } from '../runtime/http/serving.ts';

const codes = Object.keys(problemCodes) as ProblemCode[];
const hostile = `<script>alert(1)</script>"'&amp;<img src=x onerror=alert(1)> \u202e`;

test('every code has a page in its status, with a title and a way on', () => {
  for (const code of codes) {
    const { status, html } = renderProblemPage(new Problem(code), 'id-1');
    assert.equal(status, problemCodes[code].status, code);
    assert.match(html, /<html lang="en">/);
    assert.match(html, /<h1>[A-Z][a-z ]+<\/h1>/);
    assert.ok(html.includes(' href="/account">') && html.includes('id-1'), code);
  }
});

test('whatever a message says is text', () => {
  console.log(`# problem page: seed ${testSeed}`);
  const empty = renderProblemPage(new Problem('not_found', { message: '' }), '').html;
  const marks = (html: string) => html.replace(/[^<>"']/g, '');
  const unit = fc.constantFrom('<', '>', '"', "'", '&', '/', '!', '-', 'a', '=', ' ');
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit }), fc.string(), fc.constant(hostile)), (message) => {
      const problem = new Problem('not_found', { message });
      assert.equal(marks(renderProblemPage(problem, message).html), marks(empty));
    }),
    { seed: testSeed, numRuns: 500 },
  );
});

let serving: Serving;
before(async () => {
  const style = await readFile(sourceFile('routes/pages/base.css'), 'utf8');
  serving = await serve([
    testRoute({
      path: '/account/page',
      refusals: 'page',
      cors: 'none',
      handle: () => Promise.reject(new Problem('invalid_request', { message: hostile })),
    }),
    testRoute({
      path: '/identity/base.css',
      handle: () => ({ status: 200, text: style, mediaType: 'text/css' }),
    }),
  ]);
});
after(() => serving.stop());

test('in a browser the page keeps its policy, and axe finds nothing', {
  skip: noChromium,
}, async () => {
  const browser = await openChromium();
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width: 320, height: 600 },
      });
      const page = await context.newPage();
      const faults: string[] = [];
      const asked: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('console', (message) => {
        if (!message.text().startsWith('Failed to load resource')) faults.push(message.text());
      });
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      const reply = await page.goto(`${serving.origin}/account/page`);
      assert.equal(reply?.status(), 400);
      assert.equal(await page.locator('main bdi').textContent(), hostile);
      assert.equal(await page.locator('script, img').count(), 0);
      assert.deepEqual(faults, []);
      assert.deepEqual(
        asked.filter((path) => path.startsWith('/')),
        ['/account/page', '/identity/base.css'],
      );
      await page.evaluate(axe.source);
      const broken = await page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id }) => id))',
      );
      assert.deepEqual(broken, []);
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      assert.equal(wide, 320, 'nothing is scrolled sideways');
      await context.close();
    }
  } finally {
    await browser.close();
  }
});
