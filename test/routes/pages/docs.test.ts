// The API reference page: served whole, cached, and without a word to another host.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { docsRoutes } from '../../../routes/pages/docs.ts';
import { serve } from '../../runtime/http/serving.ts';

test('both pages name their document and allow no other host', async () => {
  const serving = await serve(docsRoutes('none'));
  for (const [path, document] of [
    ['/docs', '/api/v1/openapi.json'],
    ['/docs/account', '/api/openapi.json'],
  ] as const) {
    const reply = await fetch(serving.origin + path);
    assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8');
    const policy = reply.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /http|\*/);
    const html = await reply.text();
    assert.ok(html.includes(`spec-url="${document}"`));
    assert.doesNotMatch(html, /(src|href)="https?:/);
    // Else every browser asks for /favicon.ico, which is nobody's.
    assert.match(html, /<link rel="icon" href="data:/);
  }
  await serving.stop();
});

test('the script arrives whole, zipped or not, and is not sent twice', async () => {
  const serving = await serve(docsRoutes('none'));
  const get = (headers: Record<string, string>) =>
    fetch(`${serving.origin}/docs/redoc.js`, { headers });
  const plain = await get({ 'accept-encoding': 'identity' });
  assert.equal(plain.headers.get('content-encoding'), null);
  const refused = await get({ 'accept-encoding': 'br, gzip;q=0' });
  assert.equal(refused.headers.get('content-encoding'), null);
  const zipped = await get({ 'accept-encoding': 'br, gzip;q=0.5' });
  assert.equal(zipped.headers.get('content-encoding'), 'gzip');
  const text = await plain.text();
  assert.ok(text.length > 500_000);
  assert.equal(await zipped.text(), text);
  // The bundle's own logo: each visit asked another host for it, and was refused by the policy.
  assert.doesNotMatch(text, /src:"https?:/);
  const again = await get({
    'accept-encoding': 'gzip',
    'if-none-match': zipped.headers.get('etag') ?? '',
  });
  assert.equal(again.status, 304);
  await serving.stop();
});

test('whoever prefers the dark gets a page in dark colours, the script included', async () => {
  const serving = await serve(docsRoutes('none'));
  const html = await (await fetch(`${serving.origin}/docs`)).text();
  assert.match(html, /<meta name="color-scheme" content="light dark">/);
  assert.match(html, /@media \(prefers-color-scheme: dark\)/);
  const themes = [...html.matchAll(/ (theme|data-dark-theme)='([^']+)'/g)];
  assert.deepEqual(
    themes.map(([, name]) => name),
    ['theme', 'data-dark-theme'],
  );
  for (const [, name, text] of themes) {
    const { colors } = JSON.parse(text ?? '') as { colors: { primary: unknown } };
    assert.ok(colors.primary, name);
  }
  const script = await (await fetch(`${serving.origin}/docs/redoc.js`)).text();
  assert.match(script.slice(0, 400), /prefers-color-scheme: dark.*data-dark-theme/s);
  await serving.stop();
});

test('the origin itself shows the reference', async () => {
  const serving = await serve(docsRoutes('none'));
  const reply = await fetch(`${serving.origin}/`);
  assert.equal(reply.status, 200);
  assert.equal(await reply.text(), await (await fetch(`${serving.origin}/docs`)).text());
  await serving.stop();
});
