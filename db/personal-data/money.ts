// The books: they stay under the account's id, whatever becomes of the person.
import { jsonOf, type PersonalDomain } from './contract.ts';

const books = 'money is accounted for, and the account is an id alone';

export const walletData: PersonalDomain = {
  file: 'wallets',
  tables: {
    wallets: { hold: 'exempt', exported: true, fate: { kept: books } },
    grants: { hold: 'exempt', exported: true, fate: { kept: books } },
    purchases: { hold: 'exempt', exported: true, fate: { kept: books } },
    invoices: {
      hold: 'exempt',
      exported: true,
      fate: { kept: 'what was issued is never changed' },
    },
    invoice_counters: {
      hold: 'exempt',
      exported: "it is nobody's",
      fate: { kept: 'numbers have no gap' },
    },
    ledger: {
      hold: 'exempt',
      exported: 'each charge stands with what was charged, and each grant in its list',
      fate: { kept: books },
    },
    holds: {
      hold: 'exempt',
      exported: 'it ends with what holds it',
      fate: { kept: 'none is there when an erasing begins' },
    },
    usage_days: {
      hold: 'exempt',
      exported: 'it is the sum of what stands beside it',
      fate: { kept: books },
    },
    usage_quarters: {
      hold: 'exempt',
      exported: 'it is the sum of what stands beside it',
      fate: { kept: books },
    },
    usage_late: {
      hold: 'exempt',
      exported: 'it is gone within seconds',
      fate: { kept: 'it names nobody' },
    },
  },
  lists: [
    {
      name: 'wallets',
      from: 'wallets w',
      where: 'w.account_id = $1',
      cursor: 'w.id',
      item: jsonOf('w', ['id', 'type', 'created_at'], {
        available_micros: 'w.wallet_micros',
        held_micros: 'w.held_micros',
      }),
    },
    {
      name: 'grants',
      from: 'grants g',
      where: 'g.wallet_id IN (SELECT w.id FROM wallets w WHERE w.account_id = $1)',
      cursor: 'g.id',
      item: jsonOf('g', [
        ...['id', 'wallet_id', 'kind', 'note', 'amount_micros', 'remaining_micros'],
        ...['held_micros', 'expires_at', 'expired', 'created_at'],
      ]),
    },
    {
      name: 'purchases',
      from: 'purchases p',
      where: 'p.account_id = $1',
      cursor: 'p.id',
      item: jsonOf('p', [
        ...['id', 'wallet_id', 'package_id', 'status', 'credits_micros', 'price_cents'],
        ...['currency', 'created_at', 'completed_at'],
      ]),
    },
    {
      name: 'invoices',
      from: 'invoices i',
      where: 'i.account_id = $1',
      cursor: 'i.number',
      item: jsonOf('i', ['number', 'kind', 'purchase_id', 'issued_at', 'document']),
    },
  ],
  erasing: [],
};

export const auditData: PersonalDomain = {
  file: 'audit',
  tables: {
    audit_events: {
      hold: 'exempt',
      exported: true,
      fate: { kept: 'who changed what must be known, and the account is an id alone' },
    },
  },
  lists: [
    {
      name: 'events',
      from: 'audit_events e',
      where: 'e.account_id = $1',
      cursor: 'e.id',
      item: jsonOf('e', ['id', 'action', 'subject', 'details', 'at'], {
        // Who of our people it was is not the person's to know.
        by: "CASE WHEN e.actor = $1 THEN 'you' ELSE 'somebody else' END",
      }),
    },
  ],
  erasing: [],
};
