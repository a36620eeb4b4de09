// The wallet that pays where that of the organization refuses, by every fact that decides it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstPayment, takesOver } from '../../../actors/billed-request/fallback.ts';
import type { OrganizationContext } from '../../../actors/organization/context.ts';
import { fallbackOf } from '../../../actors/organization/fallback.ts';
import { defaultSettings } from '../../../actors/organization/settings.ts';
import type { HoldReply } from '../../../actors/wallet/protocol.ts';

const context: OrganizationContext = {
  organizationId: 100_000,
  role: 'member',
  userId: 'acc_person',
  isCanonicalOwner: false,
  hasVerifiedDomain: false,
  status: 'active',
  settings: { ...defaultSettings, allow_personal_billing_fallback: true },
  settingsRevision: 1n,
  organizationAccountId: 'acc_company',
  organizationWalletId: 'wal_company',
  personalWalletId: 'wal_person',
};
const facts = { organization: context, walletId: 'wal_company', hasKeyLimit: false };

test('the person pays in its place only where everything allows it', () => {
  assert.equal(fallbackOf(facts), 'wal_person');
  const refused = [
    { organization: null },
    { hasKeyLimit: true },
    { walletId: 'wal_person' },
    { organization: { ...context, settings: defaultSettings } },
    { organization: { ...context, personalWalletId: null } },
  ];
  for (const other of refused) assert.equal(fallbackOf({ ...facts, ...other }), null);
});

const told = { requiredMicros: 2n, availableMicros: 1n };
const over = (kind: 'organization' | 'member' | 'key'): HoldReply => ({
  status: 'over_limit',
  ...told,
  cap: { kind, spender: kind, resetsAtMs: null },
});

test('it is asked once, for funds and caps by month, and for nothing else', () => {
  const asked: readonly HoldReply[] = [
    { status: 'insufficient', ...told },
    over('organization'),
    over('member'),
  ];
  for (const reply of asked) {
    const payment = firstPayment({ walletId: 'wal_company' });
    assert.equal(takesOver(payment, 'wal_person', reply), true, reply.status);
    assert.equal(payment.walletId, 'wal_person');
    assert.equal(takesOver(payment, 'wal_person', reply), false, 'once');
    assert.equal(takesOver(firstPayment(payment), null, reply), false);
  }
  const others: readonly (HoldReply | null)[] = [
    over('key'),
    { status: 'not_allowed', reason: 'membership' },
    { status: 'duplicate', generationId: null },
    { status: 'too_many' },
    { status: 'unavailable' },
    { status: 'wallet_not_found' },
    { status: 'held', availableMicros: 1n },
    null,
  ];
  for (const reply of others) {
    const payment = firstPayment({ walletId: 'wal_company' });
    assert.equal(takesOver(payment, 'wal_person', reply), false, reply?.status ?? 'no answer');
    assert.equal(payment.walletId, 'wal_company');
  }
});

test('whose wallet pays is what the wallet says', () => {
  const payment = firstPayment({ walletId: 'wal_company' });
  takesOver(payment, null, { status: 'held', availableMicros: 1n, isOrganization: true });
  assert.equal(payment.walletType, 'organization');
});
