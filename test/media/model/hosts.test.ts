// Which hosts are none of the web, in every spelling that a URL has for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInternalHost, isMetadataHost } from '../../../media/model/hosts.ts';

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
  ]) {
    assert.equal(isMetadataHost(hostOf(host)), false, host);
    assert.equal(isInternalHost(hostOf(host)), true, host);
  }
});

test('the web is the web', () => {
  for (const host of [
    'a.example',
    'metadata.example',
    'metadata.goog.example',
    'localhost.example',
    'notlocalhost',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.0.1',
    '172.32.0.1',
    '223.255.255.255',
    '[2606:4700::1111]',
    '[::ffff:8.8.8.8]',
  ]) {
    assert.equal(isMetadataHost(hostOf(host)), false, host);
    assert.equal(isInternalHost(hostOf(host)), false, host);
  }
});
