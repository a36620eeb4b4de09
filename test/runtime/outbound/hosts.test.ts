// Which hosts are none of the web, in every spelling that a URL has for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInternalHost, isMetadataHost } from '../../../runtime/outbound/hosts.ts';

const hostOf = (host: string) => new URL(`http://${host}/`).hostname;

test('metadata services are neither a provider nor of the web', () => {
  for (const host of [
    '169.254.169.254',
    '2852039166',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '0.0.0.0',
    '[::]',
    '[fe80::1]',
    '[fd00:ec2::23]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '[::169.254.169.254]',
    '[::ffff:169.254.169.254]',
    '[::ffff:100.100.100.200]',
    '[64:ff9b::169.254.169.254]',
    '[64:ff9b::100.100.100.200]',
    '[64:ff9b::168.63.129.16]',
    '[64:ff9b:1::169.254.169.254]',
    'metadata.goog',
    'metadata.goog.',
    'metadata.google.internal',
    'METADATA.google.internal.',
    'instance-data',
  ]) {
    assert.equal(isMetadataHost(hostOf(host)), true, host);
    assert.equal(isInternalHost(hostOf(host)), true, host);
  }
});

test('this machine and private networks may have a provider, and are not of the web', () => {
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '255.255.255.255',
    '[::1]',
    '[::127.0.0.1]',
    '[::ffff:10.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b:1::10.0.0.1]',
    '[fd12::1]',
    'localhost',
    'LocalHost.',
    'a.localhost',
    // Written otherwise: octal, hexadecimal, whole numbers, full-width digits and dots.
    '0177.0.0.1',
    '0x7f.0.0.0x1',
    '2130706433',
    '017700000001',
    '127.0.0.1.',
    '%31%32%37.0.0.1',
    '１２７.0.0.1',
    '127。0。0．1',
    '192.0.2.1',
    '192.88.99.1',
    '198.51.100.7',
    '203.0.113.9',
    // Mapped, translated, 6to4, Teredo, documentation, and what is not given out.
    '[::ffff:7f00:1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::808:808]',
    '[2002:7f00:1::1]',
    '[2001:0:7f00:1::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[100::1]',
    '[5f00::1]',
    '[4000::1]',
    '[fec0::1]',
    '[ff02::1]',
    // One label, and names that no public resolver has.
    'intranet',
    'intranet.',
    'notlocalhost',
    'metadata-proxy',
    'db.internal',
    'DB.Internal.',
    'printer.local',
    'ｐrinter。ｌｏｃａｌ',
    'nas.lan',
    'git.corp',
    'wiki.intranet',
    'nas.home',
    'router.home.arpa',
    '1.0.0.127.in-addr.arpa',
    'secret.private',
    'host.localdomain',
    'a.alt',
    'a.example',
    'a.invalid',
    'a.test',
    'facebookwkhpilnemxj7asaniu7vnjjbiltxjqhye3mhbshg7kx5tfyd.onion',
    'example.com..',
    'a..example.com',
  ]) {
    assert.equal(isMetadataHost(hostOf(host)), false, host);
    assert.equal(isInternalHost(hostOf(host)), true, host);
  }
});

test('the web is the web', () => {
  for (const host of [
    'example.com',
    'www.example.org.',
    'EXAMPLE.net',
    'metadata.example.com',
    'metadata.goog.example.com',
    'localhost.example.com',
    'internal.example.com',
    'local.example.com',
    'notlocal.io',
    'bücher.example.com',
    'xn--bcher-kva.example.com',
    '例え。日本',
    '8.8.8.8',
    '134744072',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.0.1',
    '172.32.0.1',
    '223.255.255.255',
    '[2606:4700::1111]',
    '[2001:4860:4860::8888]',
    '[::ffff:8.8.8.8]',
  ]) {
    assert.equal(isMetadataHost(hostOf(host)), false, host);
    assert.equal(isInternalHost(hostOf(host)), false, host);
  }
});
