// A process that issues invoices until it is killed.
import { setTimeout as sleep } from 'node:timers/promises';
import { issueDue } from '../../../actors/invoices/issuing.ts';
import { openPool } from '../../../db/driver/sql.ts';

const sql = openPool({
  url: process.argv[2] ?? '',
  purpose: 'general',
  connectionsMax: 2,
  statementTimeoutMs: 10_000,
});
const options = {
  seller: {
    name: 'Shop',
    address: null,
    country: null,
    tax_id: null,
    email: null,
    invoice_prefix: 'TG',
  },
  clock: () => Date.parse('2026-11-27T12:00:00Z'),
  signal: new AbortController().signal,
};
for (;;) {
  await issueDue(sql, options);
  process.stdout.write('.');
  await sleep(5);
}
