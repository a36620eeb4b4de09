// What payments leave: the books stay under the account's id, what a person decided goes.
import { deleting, jsonOf, type PersonalDomain } from './contract.ts';

const books = 'money is accounted for, and the account is an id alone';
const ids = 'it holds ids of purchases and of their provider alone';

export const paymentData: PersonalDomain = {
  file: 'payments',
  tables: {
    billing_settings: { hold: 'exempt', exported: true, fate: 'erased' },
    refunds: { hold: 'exempt', exported: true, fate: { kept: books } },
    purchase_steps: { hold: 'exempt', exported: true, fate: { kept: books } },
    payment_facts: {
      hold: 'exempt',
      exported: 'what follows from them stands in the steps',
      fate: { kept: books },
    },
    payment_anomalies: { hold: 'exempt', exported: ids, fate: { kept: books } },
    payment_events: {
      hold: 'exempt',
      exported: ids,
      fate: { kept: 'it is forgotten after 90 days' },
    },
  },
  lists: [
    {
      name: 'settings',
      from: 'billing_settings s',
      where: 's.account_id = $1',
      cursor: 's.account_id',
      item: jsonOf('s', [
        ...['profile', 'auto_enabled', 'auto_threshold_micros', 'auto_package_slug'],
        ...['auto_per_day_max', 'auto_month_max_cents', 'auto_paused_reason'],
        ...['card_brand', 'card_last4', 'updated_at'],
      ]),
    },
    {
      name: 'refunds',
      from: 'refunds r',
      where: 'r.purchase_id IN (SELECT p.id FROM purchases p WHERE p.account_id = $1)',
      cursor: 'r.id',
      item: jsonOf('r', ['id', 'purchase_id', 'amount_cents', 'state', 'created_at', 'updated_at']),
    },
    {
      name: 'steps',
      from: 'purchase_steps s',
      where: 's.purchase_id IN (SELECT p.id FROM purchases p WHERE p.account_id = $1)',
      cursor: "(s.purchase_id || '.' || lpad(s.step::text, 9, '0'))",
      item: jsonOf('s', ['purchase_id', 'step', 'micros', 'reason', 'created_at', 'posted_at']),
    },
  ],
  erasing: [deleting('billing_settings', 'account_id')],
};
