// Who is lent a key or a session in development mode: a page of this server in a browser on this
// machine, nobody else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOwnPage, isOwnVisitor } from '../../../routes/pages/own-page.ts';
import type { Exchange } from '../../../runtime/http/route.ts';

const own = { host: 'localhost:8787', origin: 'http://localhost:8787' };

function isShown(headers: Record<string, string>): boolean {
  const header = (name: string) => headers[name];
  const exchange = { header, clientAddress: '127.0.0.1' } as Exchange;
  return isOwnVisitor(exchange, 'http://127.0.0.1:8787');
}

function isLent(
  headers: Record<string, string>,
  { address = '127.0.0.1', baseUrl = 'http://127.0.0.1:8787' } = {},
): boolean {
  const header = (name: string) => headers[name];
  return isOwnPage({ header, clientAddress: address } as Exchange, baseUrl);
}

test('the page itself is lent it, by every name of the loopback', () => {
  assert.ok(isLent({ ...own, 'sec-fetch-site': 'same-origin' }));
  assert.ok(isLent({ host: '127.0.0.1:8787', origin: 'http://127.0.0.1:8787' }));
  assert.ok(isLent({ host: '[::1]:8787', origin: 'http://[::1]:8787' }, { address: '::1' }));
  assert.ok(isLent({ host: 'localhost', origin: 'https://localhost' }));
});

test('a page of another site, of another port or without an origin is not', () => {
  assert.ok(!isLent({ ...own, origin: 'https://evil.test' }));
  assert.ok(!isLent({ ...own, origin: 'http://localhost:3000' }));
  assert.ok(!isLent({ ...own, origin: 'null' }));
  assert.ok(!isLent({ host: own.host }));
  assert.ok(!isLent({ ...own, 'sec-fetch-site': 'same-site' }));
});

test('a name that was rebound to the loopback is not', () => {
  assert.ok(!isLent({ host: 'evil.test:8787', origin: 'http://evil.test:8787' }));
  assert.ok(!isLent({ host: 'localhost.evil.test', origin: 'http://localhost.evil.test' }));
  assert.ok(!isLent({ host: '127.0.0.1.evil.test', origin: 'http://127.0.0.1.evil.test' }));
});

test('nobody on another machine is, nor through a proxy, nor where the base URL is public', () => {
  assert.ok(!isLent(own, { address: '10.0.0.7' }));
  assert.ok(!isLent(own, { address: '' }));
  assert.ok(!isLent({ ...own, 'x-forwarded-for': '127.0.0.1' }));
  assert.ok(!isLent({ ...own, via: '1.1 proxy' }));
  assert.ok(!isLent(own, { baseUrl: 'https://gateway.example.com' }));
});

test('where a visitor is enough, a program and a typed address are one too', () => {
  assert.ok(isShown({ host: own.host }));
  assert.ok(isShown({ host: own.host, 'sec-fetch-site': 'none' }));
  assert.ok(isShown({ ...own, 'sec-fetch-site': 'same-origin' }));
  assert.ok(!isShown({ host: own.host, 'sec-fetch-site': 'cross-site' }));
  assert.ok(!isShown({ host: own.host, 'sec-fetch-site': 'same-site' }));
  assert.ok(!isShown({ ...own, origin: 'null' }));
  assert.ok(!isShown({ ...own, origin: 'http://localhost:3000' }));
  assert.ok(!isShown({ host: 'evil.test' }));
  assert.ok(!isShown({ host: own.host, via: '1.1 proxy' }));
});
