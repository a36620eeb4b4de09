// What a change of settings comes to: what is kept, what is refused, what the audit is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import {
  changedSettings,
  mergeSettings,
  normalizeChange,
  settingsDetails,
} from '../../../actors/organization/change-settings.ts';
import { matchesAny, readHostPattern } from '../../../actors/organization/host-pattern.ts';
import {
  defaultSettings,
  readSettings,
  settingsChangeSchema,
} from '../../../actors/organization/settings.ts';

test('there are 24 settings, each with a default that its schema takes', () => {
  assert.equal(Object.keys(defaultSettings).length, 24);
  assert.deepEqual(v.parse(settingsChangeSchema, defaultSettings), defaultSettings);
  assert.deepEqual(readSettings({}), defaultSettings);
});

test('bounds are refused at their edge', () => {
  const takes = (change: unknown) => v.safeParse(settingsChangeSchema, change).success;
  assert.ok(takes({ retention_days: 1 }) && takes({ retention_days: 3_650 }));
  assert.ok(!takes({ retention_days: 0 }) && !takes({ retention_days: 3_651 }));
  assert.ok(takes({ audit_retention_days: 90 }) && !takes({ audit_retention_days: 89 }));
  assert.ok(takes({ monthly_spend_limit_micros: null, default_member_spend_limit_micros: 0 }));
  assert.ok(!takes({ monthly_spend_limit_micros: -1 }) && !takes({ retention_days: 1.5 }));
  assert.ok(takes({ allowed_connector_tools: ['mail.send', 'mail.*'] }));
  assert.ok(!takes({ allowed_connector_tools: ['mail'] }) && !takes({ plan: 'x' }));
  const many = Array.from({ length: 201 }, (_, index) => `c${index}`);
  assert.ok(!takes({ allowed_connectors: many }) && takes({ allowed_connectors: many.slice(1) }));
});

test('the row keeps what differs from the defaults, and lists are changed whole', () => {
  const first = mergeSettings(readSettings({}), { legal_hold: true, allowed_connectors: ['a'] });
  assert.deepEqual(first.stored, { legal_hold: true, allowed_connectors: ['a'] });
  const second = mergeSettings(first.after, { legal_hold: false, retention_days: 90 });
  assert.deepEqual(second.stored, { allowed_connectors: ['a'] });
  assert.deepEqual(changedSettings(first.after, second.after), ['legal_hold']);
});

test('hosts are kept as they are compared; a region needs a deployment that stands in it', () => {
  const kept = normalizeChange({ allowed_mcp_domains: ['*.EXAMPLE.com', 'bücher.example'] }, null);
  assert.deepEqual(kept, {
    ok: true,
    change: { allowed_mcp_domains: ['*.example.com', 'xn--bcher-kva.example'] },
  });
  const wrong = normalizeChange({ allowed_mcp_domains: ['a.example.com', '*.co.uk'] }, null);
  assert.ok(!wrong.ok);
  assert.equal(wrong.fault.path, 'allowed_mcp_domains.1');
  assert.equal(normalizeChange({ data_residency_region: 'eu' }, 'eu').ok, true);
  assert.equal(normalizeChange({ data_residency_region: 'auto' }, null).ok, true);
  const elsewhere = normalizeChange({ data_residency_region: 'eu' }, 'us');
  assert.ok(!elsewhere.ok);
  assert.equal(elsewhere.fault.reason, 'region_unavailable');
});

test('patterns of hosts match what they name, whatever its case and alphabet', () => {
  for (const wrong of ['', 'example', '*', '*.com', '*.*.com', 'a b.com', 'a.com/x', '-a.com']) {
    assert.equal(readHostPattern(wrong), null, wrong);
  }
  assert.equal(readHostPattern('*.github.io'), '*.github.io', 'a private suffix is somebody’s');
  const pattern = readHostPattern('*.Bücher.example') ?? '';
  assert.ok(matchesAny([pattern], 'MCP.bücher.example'));
  assert.ok(matchesAny([pattern], 'a.b.xn--bcher-kva.example'));
  assert.ok(!matchesAny([pattern], 'xn--bcher-kva.example'));
  assert.ok(!matchesAny([pattern], 'evilxn--bcher-kva.example'));
  assert.ok(matchesAny(['a.example.com'], 'A.example.com'));
  assert.ok(!matchesAny(['a.example.com'], 'b.a.example.com'));
});

test('the audit is told before and after, of lists what came and went, within its room', () => {
  const before = readSettings({ allowed_connectors: ['a', 'b'] });
  const change = { monthly_spend_limit_micros: 5_000_000, allowed_connectors: ['b', 'c'] };
  assert.deepEqual(settingsDetails(before, mergeSettings(before, change).after), {
    monthly_spend_limit_micros: [null, 5_000_000],
    allowed_connectors: { added: ['c'], removed: ['a'] },
  });
  const names = Array.from({ length: 200 }, (_, index) => `connector-${index}-${'x'.repeat(100)}`);
  const large = settingsDetails(
    before,
    mergeSettings(before, { ...change, allowed_connectors: names }).after,
  );
  assert.ok(JSON.stringify(large).length < 4_096);
  assert.deepEqual(large.monthly_spend_limit_micros, [null, 5_000_000]);
  const [, summary] = large.allowed_connectors as [unknown, { count: number; sha256: string }];
  assert.equal(summary.count, 200);
  assert.match(summary.sha256, /^[0-9a-f]{64}$/);
});
