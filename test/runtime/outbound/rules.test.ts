// The pure rules of the guard: URLs, addresses, exceptions, patterns of hosts, headers, uses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AddressClass, classOf, plainAddress } from '../../../runtime/outbound/addresses.ts';
import { boundsOf } from '../../../runtime/outbound/bounds.ts';
import { isPinned } from '../../../runtime/outbound/connect.ts';
import { isAbout, readException } from '../../../runtime/outbound/exceptions.ts';
import { OutboundFault } from '../../../runtime/outbound/fault.ts';
import { assertHeaders } from '../../../runtime/outbound/headers.ts';
import { isHostPattern, matchesHost } from '../../../runtime/outbound/media-hosts.ts';
import { isUsual, readTarget } from '../../../runtime/outbound/target.ts';
import { outboundUses } from '../../../runtime/outbound/uses.ts';
import { quickUse } from './far-side.ts';

function refusalOf(url: string): string {
  try {
    readTarget(url);
  } catch (error) {
    assert.ok(error instanceof OutboundFault, String(error));
    assert.equal(error.reason, 'source_refused');
    return error.detail;
  }
  return 'accepted';
}

test('a URL is parsed before anything of it is looked at', () => {
  const long = `http://example.com/${'a'.repeat(2_048 - 19)}`;
  assert.equal(long.length, 2_048);
  assert.equal(refusalOf(long), 'accepted');
  assert.equal(refusalOf(`${long}a`), 'the URL is too long');
  // Escapes make it longer than it was written.
  assert.equal(refusalOf(`http://example.com/${'ü'.repeat(1_000)}`), 'the URL is too long');
  for (const url of ['', 'example.com', 'http://', 'http://[::1%25eth0]/', 'http://a b/']) {
    assert.equal(refusalOf(url), 'it is no URL', url);
  }
  for (const url of ['ftp://example.com/', 'file:///etc/passwd', 'gopher://a/', 'data:,a']) {
    assert.equal(refusalOf(url), 'the scheme', url);
  }
  assert.equal(refusalOf('http://user@example.com/'), 'the URL has a user');
  assert.equal(refusalOf('http://:pass@example.com/'), 'the URL has a user');
  assert.equal(refusalOf('http://example.com\\@evil.example.org/'), 'accepted');
  assert.equal(readTarget('http://example.com\\@evil.example.org/').host, 'example.com');
});

test('every spelling of a host is read as one', () => {
  const hosts: [string, string, boolean][] = [
    ['0x7f.1', '127.0.0.1', true],
    ['2130706433', '127.0.0.1', true],
    ['0177.0.0.1', '127.0.0.1', true],
    ['127.0.0.1.', '127.0.0.1', true],
    ['[::ffff:7f00:1]', '127.0.0.1', true],
    ['[::FFFF:127.0.0.1]', '127.0.0.1', true],
    ['[0:0:0:0:0:0:0:1]', '::1', true],
    ['①②⑦.0.0.1', '127.0.0.1', true],
    ['Example.COM.', 'example.com', false],
    ['bücher.example.com', 'xn--bcher-kva.example.com', false],
    ['ｅｘａｍｐｌｅ。com', 'example.com', false],
  ];
  for (const [written, host, isAddress] of hosts) {
    const target = readTarget(`http://${written}:80/a?b#c`);
    assert.deepEqual([target.host, target.isAddress], [host, isAddress], written);
    assert.ok(target.url.href.endsWith('/a?b'), target.url.href);
  }
  assert.equal(readTarget('https://example.com./').url.href, 'https://example.com/');
});

test('ports and schemes are those of the use', () => {
  const usual = (url: string, use = {}) => isUsual(readTarget(url), { ...quickUse, ...use });
  for (const url of ['http://a.com/', 'https://a.com/', 'https://a.com:80/', 'http://a.com:443']) {
    assert.equal(usual(url), true, url);
  }
  for (const port of [0, 22, 25, 8_080, 65_535]) {
    assert.equal(usual(`http://a.com:${port}/`), false, String(port));
  }
  assert.equal(usual('http://a.com/', { schemes: 'https' }), false);
  assert.equal(usual('https://a.com/', { schemes: 'https' }), true);
  for (const port of [443, 1_024, 8_443, 65_535]) {
    assert.equal(usual(`https://a.com:${port}/`, { ports: 'high' }), true, String(port));
    assert.equal(usual(`http://a.com:${port}/`, { ports: 'high' }), false, String(port));
  }
  for (const port of [80, 22, 1_023]) {
    assert.equal(usual(`https://a.com:${port}/`, { ports: 'high' }), false, String(port));
  }
});

test('addresses are public, private, or never to be asked', () => {
  const classes: Record<AddressClass, string[]> = {
    public: ['8.8.8.8', '223.255.255.255', '2606:4700::1111', '::ffff:8.8.8.8'],
    private: ['127.0.0.1', '10.1.2.3', '192.168.0.1', '100.64.0.1', '::1', 'fd12::1', 'ff02::1'],
    never: [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '100.100.100.200',
      '0.0.0.0',
      '::',
      'fe80::1',
      'fd00:ec2::254',
      // They carry an address: compatible, translated, NAT64 twice, 6to4, Teredo.
      '::127.0.0.1',
      '::ffff:0:127.0.0.1',
      '64:ff9b::127.0.0.1',
      '64:ff9b::8.8.8.8',
      '64:ff9b:1:a00:0:100::',
      '2002:7f00:1::1',
      '2001:0:7f00:1::1',
    ],
  };
  for (const [kind, addresses] of Object.entries(classes)) {
    for (const address of addresses) {
      assert.equal(classOf(plainAddress(address) ?? ''), kind, address);
    }
  }
  for (const text of ['fe80::1%eth0', '127.1', 'localhost', '', '1.2.3.4:80', '[::1]']) {
    assert.equal(plainAddress(text), null, text);
  }
  assert.equal(plainAddress('FD00:0::A'), 'fd00::a');
  assert.equal(isPinned('::ffff:10.0.0.1', ['10.0.0.1']), true);
  assert.equal(isPinned('10.0.0.2', ['10.0.0.1']), false);
  assert.equal(isPinned(undefined, ['10.0.0.1']), false);
});

test('an exception is a name, an address or a network, with or without its port', () => {
  const about: [string, string, string, number | null][] = [
    ['files.internal', 'files.internal', '10.0.0.1', null],
    ['Files.Internal.:8080', 'files.internal', '10.0.0.1', 8_080],
    ['localhost:1', 'localhost', '127.0.0.1', 1],
    ['127.0.0.1', 'anything', '127.0.0.1', null],
    ['10.0.0.0/8', 'anything', '10.255.0.1', null],
    ['10.0.0.0/8:9000', 'anything', '10.255.0.1', 9_000],
    ['fade:80', 'fade', '10.0.0.1', 80],
    ['::1', 'anything', '::1', null],
    ['[::1]:80', 'anything', '::1', 80],
    ['[fd00::]/8:443', 'anything', 'fd12::1', 443],
    ['fd00::/8:443', 'anything', 'fd12::1', 443],
    ['[::ffff:10.0.0.1]:80', 'anything', '10.0.0.1', 80],
  ];
  for (const [text, name, address, port] of about) {
    const exception = readException(text);
    assert.ok(exception !== null, text);
    assert.equal(isAbout(exception, name, address), true, text);
    assert.equal(isAbout(exception, 'other.internal', '172.16.0.1'), false, text);
    assert.equal(exception.port, port, text);
  }
  for (const text of [
    ...['', ' ', '*', '*.internal', 'http://a', 'a/b', 'a:b', 'a:0', 'a:65536', 'a b', 'user@a'],
    ...['10.0.0.0/33', '::/129', 'files.internal/8', '0x7f.1', '127.1', '[localhost]', '[::1'],
    ...['::ffff:10.0.0.0/104', 'fe80::1%eth0', '::1:80:'],
    // Metadata services are never open.
    ...['169.254.169.254', '[fd00:ec2::254]:80', 'metadata.google.internal', '169.254.0.0/16'],
    ...['::ffff:169.254.169.254', '64:ff9b::/96', '100.100.100.200:80'],
  ]) {
    assert.equal(readException(text), null, text);
  }
});

test('a pattern of hosts is a name, or every name below one', () => {
  for (const [pattern, host] of [
    ['files.example.com', 'files.example.com'],
    ['Files.Example.Com', 'files.example.com'],
    ['*.example.com', 'a.example.com'],
    ['*.example.com', 'a.b.example.com'],
    ['*.xn--bcher-kva.de', 'a.xn--bcher-kva.de'],
  ] as const) {
    assert.equal(matchesHost(pattern, host), true, `${pattern} ${host}`);
  }
  for (const [pattern, host] of [
    ['*.example.com', 'example.com'],
    ['*.example.com', 'evilexample.com'],
    ['*.example.com', 'a.example.com.evil.com'],
    ['example.com', 'a.example.com'],
    ['*.com', 'a.com'],
    ['*', 'a.com'],
    ['a.*.com', 'a.b.com'],
    ['.example.com', 'a.example.com'],
  ] as const) {
    assert.equal(matchesHost(pattern, host), false, `${pattern} ${host}`);
  }
  for (const text of ['*.com', 'com', '10.0.0.1', '*.0.0.1', 'a.internal', 'a.com:80', 'a.com/b']) {
    assert.equal(isHostPattern(text), false, text);
  }
});

test('a use is narrower than the guard, and a wider one is a bug', () => {
  for (const use of Object.values(outboundUses)) assert.ok(boundsOf(use).redirectsMax <= 5);
  for (const wider of [
    { redirectsMax: 6 },
    { deadlines: { namesMs: 2_001 } },
    { deadlines: { connectMs: 5_001 } },
    { deadlines: { headersMs: 10_001 } },
    { deadlines: { idleMs: 15_001 } },
    { bytesMax: Number.NaN },
    { totalMs: 0 },
  ]) {
    assert.throws(() => boundsOf({ ...quickUse, ...wider }), JSON.stringify(wider));
  }
  assert.deepEqual(boundsOf({ name: 'plain', bytesMax: 1, totalMs: 1 }).deadlines, {
    namesMs: 2_000,
    connectMs: 5_000,
    headersMs: 10_000,
    idleMs: 15_000,
  });
});

test('no credential stands among the headers that go everywhere', () => {
  const { signal } = new AbortController();
  for (const name of [
    'Authorization',
    'x-api-key',
    'X-Goog-Api-Key',
    'cookie',
    'Host',
    'X-Token',
  ]) {
    assert.throws(() => assertHeaders({ signal, headers: { [name]: 'a' } }), name);
  }
  for (const name of ['cookie', 'proxy-authorization', 'accept-encoding', 'transfer-encoding']) {
    const credentials = { origin: 'https://a.com', headers: { [name]: 'a' } };
    assert.throws(() => assertHeaders({ signal, credentials }), name);
  }
  assert.throws(() => assertHeaders({ signal, body: 'a' }), /GET has no body/);
  assertHeaders({ signal, headers: { 'if-none-match': '"a"', accept: 'text/html' } });
});
