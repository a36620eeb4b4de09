// Domains as people write them, and what becomes of one by what servers say: tables, no clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  afterAnswer,
  challengeOf,
  judgeAnswers,
  newDomainToken,
  readDomain,
} from '../../../actors/organization/domain.ts';
import type { DomainStatus, OrganizationDomain } from '../../../db/organizations/domains.ts';
import type { TxtAnswer } from '../../../runtime/dns.ts';

const read = (text: string) => {
  const answer = readDomain(text);
  return answer.ok ? answer.domain : null;
};

test('a domain is taken in any spelling of IDNA, and is one in ASCII', () => {
  const known = [
    ['Example.COM', 'example.com'],
    ['www.example.com', 'www.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['bu\u0308cher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['faß.de', 'xn--fa-hia.de'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['example.co.uk', 'example.co.uk'],
    ['acme.github.io', 'acme.github.io'],
    ['acme.test', 'acme.test'],
  ] as const;
  for (const [text, domain] of known) assert.equal(read(text), domain, text);
});

test('a public suffix is refused, private ones as well', () => {
  const suffixes = ['com', 'co.uk', 'github.io', 'xn--p1ai', 'рф', 'foo.ck', 's3.amazonaws.com'];
  for (const suffix of suffixes) assert.equal(read(suffix), null, suffix);
  assert.equal(read('www.ck'), 'www.ck', 'an exception to a suffix is a domain');
  assert.equal(read('a.foo.ck'), 'a.foo.ck');
});

test('addresses, URLs and names that are none are refused', () => {
  const wrong = [
    ...['', '.', 'localhost', 'a..b', '.a.test', 'a.test.', '-a.test', 'a-.test', 'a_b.test'],
    ...['*.a.test', 'a b.test', 'a.test/path', 'https://a.test', 'a.test:53', 'user@a.test'],
    ...['127.0.0.1', '0x7f.1', '2130706433', '[::1]', 'a.test\n', 'a.test\u0000', 'xn--a.test'],
    ...[`${'a'.repeat(64)}.test`, `${'abcdefghi.'.repeat(24)}test`, '%61.test', 'a\u00ad'],
  ];
  for (const text of wrong) assert.equal(read(text), null, JSON.stringify(text));
});

test('the record has its own name and 32 random bytes', () => {
  const [one, other] = [newDomainToken(), newDomainToken()];
  assert.notEqual(one, other);
  assert.match(one, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(challengeOf({ domain: 'acme.test', token: one }), {
    name: '_svc-challenge.acme.test',
    value: `svc-domain-verification=${one}`,
  });
});

test('every server must have it; one answer without it decides', () => {
  const has: TxtAnswer = { kind: 'found', records: ['spf', 'want'] };
  const other: TxtAnswer = { kind: 'found', records: ['want '] };
  const nothing: TxtAnswer = { kind: 'nothing' };
  const unknown: TxtAnswer = { kind: 'unknown', code: 'ETIMEOUT' };
  const table: [TxtAnswer[], string][] = [
    [[has], 'found'],
    [[has, has], 'found'],
    [[has, nothing], 'absent'],
    [[has, other], 'absent'],
    [[other], 'absent'],
    [[nothing], 'absent'],
    [[has, unknown], 'unknown'],
    [[unknown, nothing], 'absent'],
    [[unknown], 'unknown'],
    [[], 'unknown'],
  ];
  for (const [answers, judged] of table) {
    assert.equal(judgeAnswers(answers, 'want'), judged, JSON.stringify(answers));
  }
});

const dayMs = 86_400_000;
const claimedAt = new Date('2026-11-01T00:00:00Z');

function known(status: DomainStatus, daysSince: number): OrganizationDomain {
  const isProved = status !== 'pending' && status !== 'expired';
  return {
    organizationId: 100_000,
    domain: 'acme.test',
    token: 't',
    status,
    revision: 1,
    claimedAt,
    expiresAt: new Date(claimedAt.getTime() + 7 * dayMs),
    verifiedAt: isProved ? claimedAt : null,
    failingAt: status === 'failing' || status === 'lapsed' ? claimedAt : null,
    checkedAt: null,
    lastAnswer: null,
    readAt: new Date(claimedAt.getTime() + daysSince * dayMs),
  };
}

test('a claim has 7 days, a proved domain 30 days without its record', () => {
  const justBefore = 1 - 1 / dayMs;
  const table = [
    ['pending', 1, 'found', 'verified'],
    ['pending', 1, 'absent', 'pending'],
    ['pending', 1, 'unknown', 'pending'],
    ['pending', 6 + justBefore, 'found', 'verified'],
    ['pending', 7, 'found', 'expired'],
    ['pending', 7, null, 'expired'],
    ['pending', 1, null, 'pending'],
    ['expired', 8, 'found', 'expired'],
    ['verified', 400, 'found', 'verified'],
    ['verified', 400, 'unknown', 'verified'],
    ['verified', 400, 'absent', 'failing'],
    ['failing', 1, 'found', 'verified'],
    ['failing', 29 + justBefore, 'absent', 'failing'],
    ['failing', 30, 'absent', 'lapsed'],
    ['failing', 30, 'found', 'verified'],
    ['failing', 300, 'unknown', 'failing'],
    ['lapsed', 31, 'found', 'lapsed'],
  ] as const;
  for (const [from, days, answer, to] of table) {
    const before = known(from, days);
    const next = afterAnswer(before, answer);
    assert.equal(next.status, to, `${from}, day ${days}, ${answer}`);
    assert.equal(next.lastAnswer, answer);
    assert.equal(next.checkedAt, answer === null ? null : before.readAt);
    const keepsTime = to === 'failing' || to === 'lapsed';
    const since = from === 'verified' ? before.readAt : claimedAt;
    assert.deepEqual(next.failingAt, keepsTime ? since : null);
  }
});
