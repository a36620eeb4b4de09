// GET /api/me/billing/export.csv: usage, ledger or purchases of a range of days, as they are read.
import * as v from 'valibot';
import { dayMs } from '../../db/usage/closing.ts';
import { type DayRange, dayText, lastDays } from '../../db/usage.ts';
import { pourPieces } from '../../runtime/http/bytes.ts';
import { Problem } from '../../runtime/problem.ts';
import { TransientMap } from '../../runtime/transient.ts';
import { defineRoute } from '../define.ts';
import { csvPieces, exportKinds } from './exported.ts';
import { requireBillingOwner } from './owner.ts';

const daysMax = 400;
const daysDefault = 30;
const day = v.pipe(v.string(), v.isoDate(), v.description('A day in UTC: `2026-01-31`.'));
const mediaType = 'text/csv; charset=utf-8';

/** Accounts whose file is being made on this shard: each look of one is a connection less. */
const exporting = new TransientMap<string, true>();

export const billingExport = defineRoute({
  method: 'GET',
  path: '/api/me/billing/export.csv',
  operationId: 'exportBilling',
  summary: 'Download your usage, ledger or purchases',
  description:
    `CSV as of RFC 4180, of ${daysMax} days at most; \`to\` is today if absent, \`from\` ` +
    `${daysDefault - 1} days before it. Amounts are exact, in credits. A text that a spreadsheet ` +
    "would run begins with `'`. One at a time.",
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'key-or-user', scope: 'billing:read' },
  cors: 'web',
  query: v.object({
    what: v.picklist(exportKinds),
    from: v.optional(day),
    to: v.optional(day),
  }),
  replies: { 200: { description: 'The file.', mediaType } },
  problems: ['forbidden', 'concurrency_limited', 'dependency_unavailable'],
  async handle({ query, caller, services, exchange }) {
    const range = rangeOf(query);
    const owner = requireBillingOwner(caller);
    const { accountId } = caller;
    if (exporting.has(accountId)) throw new Problem('concurrency_limited');
    exporting.set(accountId, true);
    exchange.onFinish(() => exporting.delete(accountId));
    const pieces = csvPieces(query.what, { sql: services.sql, owner, range });
    // What cannot be read at all is told as a problem.
    const first = await pieces.next();
    const name = `${query.what}-${dayText(range.fromMs)}-${dayText(range.untilMs - dayMs)}.csv`;
    return {
      status: 200,
      mediaType,
      headers: { 'content-disposition': `attachment; filename="${name}"` },
      pour(stream) {
        void pourPieces(startingWith(first, pieces), stream).catch((error: unknown) => {
          services.log.warn({ err: error }, 'an export broke off');
          stream.fail();
        });
      },
    };
  },
});

async function* startingWith(
  first: IteratorResult<Uint8Array, unknown>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.done === true) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

/** @throws Problem invalid_request */
function rangeOf({ from, to }: { from?: string | undefined; to?: string | undefined }): DayRange {
  const untilMs = to === undefined ? lastDays(Date.now(), 1).untilMs : momentOf('to', to) + dayMs;
  const fromMs = from === undefined ? untilMs - daysDefault * dayMs : momentOf('from', from);
  if (fromMs >= untilMs) throw refused('from', 'The first day is behind the last one.');
  if (untilMs - fromMs > daysMax * dayMs) throw refused('from', `At most ${daysMax} days.`);
  return { fromMs, untilMs };
}

function momentOf(param: string, text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  // JavaScript takes some days that no month has for those of the next month.
  if (Number.isNaN(ms) || dayText(ms) !== text || ms < 0) throw refused(param, 'No such day.');
  return ms;
}

function refused(param: string, message: string): Problem {
  return new Problem('invalid_request', { message, param });
}
