// Who is told which notice, when, and in which order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice } from '../../../db/app/notices.ts';
import { boardNotices, nextMomentMs, toldNow } from '../../../routes/app/told-notices.ts';
import { compareVersions } from '../../../routes/app/version.ts';

const nowMs = Date.UTC(2026, 10, 27);

function notice(id: string, change: Partial<Notice> = {}): Notice {
  return {
    id,
    title: id,
    body: '',
    level: 'info',
    actionUrl: null,
    audience: 'all',
    platforms: [],
    channels: [],
    appVersionMin: null,
    appVersionMax: null,
    startsAtMs: nowMs - 1_000,
    endsAtMs: null,
    dismissible: true,
    origin: 'admin',
    revision: 1,
    createdAtMs: nowMs - 1_000,
    ...change,
  };
}

const nobody = { platform: null, appVersion: null, channel: null };
const mac = { platform: 'MacOS', appVersion: '1.4.2', channel: 'beta' };
const idsOf = (notices: readonly Notice[]) => notices.map(({ id }) => id);

test('a notice is told to its apps, while it lasts', () => {
  const cases: readonly (readonly [string, Partial<Notice>, boolean, boolean])[] = [
    ['to all', {}, true, true],
    ['not yet', { startsAtMs: nowMs + 1 }, false, false],
    ['from now', { startsAtMs: nowMs }, true, true],
    ['over', { endsAtMs: nowMs }, false, false],
    ['nearly over', { endsAtMs: nowMs + 1 }, true, true],
    ['to a platform', { platforms: ['macos', 'linux'] }, false, true],
    ['to another platform', { platforms: ['linux'] }, false, false],
    ['to a channel', { channels: ['beta'] }, false, true],
    ['from a version', { appVersionMin: '1.4.2' }, false, true],
    ['from a later version', { appVersionMin: '1.4.10' }, false, false],
    ['to a version', { appVersionMax: '1.10' }, false, true],
    ['to an earlier version', { appVersionMax: '1.4.1' }, false, false],
  ];
  for (const [name, change, toNobody, toMac] of cases) {
    const all = [notice('n', change)];
    assert.equal(toldNow(all, nobody, nowMs).length === 1, toNobody, name);
    assert.equal(toldNow(all, mac, nowMs).length === 1, toMac, name);
  }
});

test('fifty are told, the newest first', () => {
  const all = Array.from({ length: 60 }, (_, index) =>
    notice(`n${String(index).padStart(2, '0')}`, { startsAtMs: nowMs - index }),
  );
  const told = idsOf(toldNow([...all].reverse(), nobody, nowMs));
  assert.deepEqual(told, idsOf(all).slice(0, 50));
});

test('who is signed in is told more, an administrator most', () => {
  const all = (['all', 'authenticated', 'admin'] as const).map((audience) =>
    notice(audience, { audience }),
  );
  const caller = (admin: boolean) => ({ admin }) as Parameters<typeof boardNotices>[1];
  assert.deepEqual(idsOf(boardNotices(all, null)), ['all']);
  assert.deepEqual(idsOf(boardNotices(all, caller(false))), ['all', 'authenticated']);
  assert.deepEqual(idsOf(boardNotices(all, caller(true))), ['all', 'authenticated', 'admin']);
});

test('the list is another one at the next begin or end', () => {
  const all = [
    notice('a', { endsAtMs: nowMs + 30 }),
    notice('b', { startsAtMs: nowMs + 20, endsAtMs: nowMs + 90 }),
  ];
  assert.equal(nextMomentMs(all, nowMs), nowMs + 20);
  assert.equal(nextMomentMs(all, nowMs + 20), nowMs + 30);
  assert.equal(nextMomentMs([], nowMs), Number.POSITIVE_INFINITY);
});

test('versions are compared number by number', () => {
  const pairs: readonly (readonly [string, string, number])[] = [
    ['1.2', '1.10', -1],
    ['2', '1.9.9', 1],
    ['1.2', '1.2.0', 0],
    ['1.2.0-beta', '1.2.0', 0],
    ['v3.1', '3.1', 0],
    ['nightly', '0', 0],
  ];
  for (const [one, other, expected] of pairs) {
    assert.equal(Math.sign(compareVersions(one, other)), expected, `${one} ${other}`);
    assert.equal(Math.sign(compareVersions(other, one)) + expected, 0, `${other} ${one}`);
  }
});
