// Whose address counts: forged X-Forwarded-For entries must never win.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  createAddressReader,
  networkOf,
  parseTrustedProxies,
} from '../../../runtime/http/address.ts';
import { exchangeRaw, serve, testRoute } from './serving.ts';

const v4 = (...bytes: number[]) => new Uint8Array(bytes).buffer;
const v6 = (text: string) =>
  new Uint8Array(
    text.split(':').flatMap((group) => {
      const value = Number.parseInt(group, 16);
      return [value >> 8, value & 255];
    }),
  ).buffer;

test('without trusted proxies the header is never believed', () => {
  const reader = createAddressReader([]);
  assert.equal(reader.clientAddress(v4(10, 0, 0, 1), '1.2.3.4'), '10.0.0.1');
});

test('a trusted peer is asked, an untrusted one is not', () => {
  const reader = createAddressReader(['10.0.0.0/8', '2001:db8::/32', '192.0.2.7']);
  const cases: [ArrayBuffer, string | undefined, string][] = [
    [v4(10, 1, 2, 3), '198.51.100.9', '198.51.100.9'],
    [v4(11, 1, 2, 3), '198.51.100.9', '11.1.2.3'],
    [v4(10, 1, 2, 3), undefined, '10.1.2.3'],
    [v4(10, 1, 2, 3), '6.6.6.6, 198.51.100.9', '198.51.100.9'],
    [v4(10, 1, 2, 3), '6.6.6.6, 198.51.100.9, 10.9.9.9, 192.0.2.7', '198.51.100.9'],
    [v4(10, 1, 2, 3), '10.4.4.4', '10.4.4.4'],
    [v4(10, 1, 2, 3), 'unknown, nonsense', '10.1.2.3'],
    [v4(10, 1, 2, 3), '198.51.100.9:4711', '198.51.100.9'],
    [v4(10, 1, 2, 3), '[2a00::5]:443', '2a00::5'],
    [v4(10, 1, 2, 3), 'fe80::1%eth0', '10.1.2.3'],
    [v6('2001:db8:0:0:0:0:0:1'), '2a00::5', '2a00::5'],
    [v6('0:0:0:0:0:ffff:0a01:0203'), '198.51.100.9', '198.51.100.9'],
    [v6('2a00:0:0:0:0:0:0:5'), '1.1.1.1', '2a00::5'],
  ];
  for (const [peer, header, expected] of cases) {
    assert.equal(reader.clientAddress(peer, header), expected, header);
  }
});

test('an IPv6 client is known by the 64 bits of its site, an IPv4 one by its address', () => {
  const cases: [string, string][] = [
    ['198.51.100.9', '198.51.100.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::6', '2001:db8:1:2::/64'],
    ['2001:db8::5', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['', ''],
  ];
  for (const [address, expected] of cases) assert.equal(networkOf(address), expected, address);
});

test('an entry that is no address stops the start', () => {
  for (const bad of ['', 'localhost', '10.0.0.0/33', '10.0.0.0/8/8', '::/129', '10.0.0.0/x']) {
    assert.throws(() => parseTrustedProxies([bad]), /not a/);
  }
});

test('the address reaches the handler, also after the first turn', async () => {
  const serving = await serve(
    [
      testRoute({
        path: '/v1/who',
        handle: async ({ exchange }) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          return { status: 200, text: exchange.clientAddress, mediaType: 'text/plain' };
        },
      }),
    ],
    { trustedProxies: ['127.0.0.1'] },
  );
  const raw = await exchangeRaw(
    serving.port,
    'GET /v1/who HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 9.9.9.9, 203.0.113.5\r\n' +
      'connection: close\r\n\r\n',
  );
  assert.match(raw, /203\.0\.113\.5$/);
  // A proxy may add a line of its own behind the client's (RFC 9110, 5.3).
  const twoLines = await exchangeRaw(
    serving.port,
    'GET /v1/who HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 9.9.9.9\r\n' +
      'x-forwarded-for: 203.0.113.5\r\nconnection: close\r\n\r\n',
  );
  assert.match(twoLines, /203\.0\.113\.5$/);
  await serving.stop();
});
