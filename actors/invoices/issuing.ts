// The round that issues invoices of what was bought, and credit notes of what was paid back. Any
// number of processes may do it at once, and any may be killed. Each document is one transaction,
// and the next round finds what has none.
import type { Sql } from '../../db/driver/sql.ts';
import {
  issueCreditNote,
  issueInvoice,
  listFactsToCredit,
  listPurchasesToInvoice,
  type SellerRow,
} from '../../db/purchases/invoices.ts';
import { creditNoteOf, type IssuedDocument, invoiceOf } from '../../media/documents/document.ts';
import type { Config } from '../../runtime/config.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import { invoiceLimits } from './limits.ts';
import { sellerOf } from './seller.ts';

interface IssuingOptions {
  sql: Sql;
  config: Pick<Config, 'mode'>;
  log: Logger;
}

export interface IssueOptions {
  seller: SellerRow;
  clock: () => number;
  signal: AbortSignal;
}

/** Issues what is due; how many documents that was. Rejects when the database does not answer. */
export async function issueDue(sql: Sql, options: IssueOptions): Promise<number> {
  const invoices = await eachDue(
    () => listPurchasesToInvoice(sql, invoiceLimits.pageLength),
    (cause) =>
      issueInvoice(
        sql,
        cause,
        issueOf(options, (issue) => invoiceOf(cause, issue)),
      ),
    options.signal,
  );
  const notes = await eachDue(
    () => listFactsToCredit<IssuedDocument>(sql, invoiceLimits.pageLength),
    (fact) => {
      const cause = { reason: fact.kind, amountCents: fact.amountCents, invoice: fact.invoice };
      return issueCreditNote(
        sql,
        fact,
        issueOf(options, (issue) => creditNoteOf(cause, issue)),
      );
    },
    options.signal,
  );
  return invoices + notes;
}

function issueOf(
  { seller: { invoice_prefix: prefix, ...seller }, clock }: IssueOptions,
  make: (issue: Parameters<typeof invoiceOf>[1]) => IssuedDocument,
) {
  const issuedAt = new Date(clock());
  return { prefix, issuedAt, make: (number: string) => make({ number, issuedAt, seller }) };
}

/** Page by page, in turn: numbers follow the order of what is due. */
async function eachDue<D>(
  list: () => Promise<D[]>,
  issue: (due: D) => Promise<string | null>,
  signal: AbortSignal,
): Promise<number> {
  let issued = 0;
  for (let page = 0; page < invoiceLimits.pagesMax; page += 1) {
    const dues = await list();
    for (const due of dues) {
      if (signal.aborted) return issued;
      if ((await issue(due)) !== null) issued += 1;
    }
    if (dues.length < invoiceLimits.pageLength) break;
  }
  return issued;
}

export function scheduleInvoices(
  queue: Pick<MaintenanceQueue, 'schedule'>,
  { sql, config, log }: IssuingOptions,
): void {
  queue.schedule('invoices', invoiceLimits.roundMs, async (signal) => {
    const seller = await sellerOf(sql, config.mode);
    if (seller === null) return;
    const issued = await issueDue(sql, { seller, clock: Date.now, signal });
    log.debug({ issued }, 'issued invoices');
  });
}
