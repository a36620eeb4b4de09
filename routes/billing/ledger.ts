// GET /api/me/billing/ledger: what came into the caller's wallet and what went, newest first.
import { type LinePlace, readLines } from '../../db/billing/ledger.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../page.ts';
import { ledgerLineBody } from './amounts.ts';
import { requireBillingOwner } from './owner.ts';
import { ledgerLineSchema } from './schema.ts';

/** Microseconds, the line of the entry, and an operation id, which may hold anything visible. */
const placePattern = /^\d{1,18} [01] [\x21-\x7e]{0,150}$/;

export const billingLedger = defineRoute({
  method: 'GET',
  path: '/api/me/billing/ledger',
  operationId: 'listBillingLedger',
  summary: 'List what changed your balance',
  description:
    'Newest first, amounts signed. What you used is one line a day, in UTC, at the first moment ' +
    'of that day. `reference` names the purchase, grant, reward or day.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'key-or-user', scope: 'billing:read' },
  cors: 'web',
  query: pageQuery,
  replies: { 200: { description: 'A page of lines.', schema: pageSchema(ledgerLineSchema) } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ query, caller, services }) {
    const { limit, afterId } = pageRequest(query, placePattern);
    const owner = requireBillingOwner(caller);
    const after = afterId === null ? null : placeOf(afterId);
    const page = await withDeadline(readLines(services.sql, owner, { limit, after }));
    if (page === null) throw new Problem('not_found');
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.lines.map(ledgerLineBody), textOf(page.next)) },
    };
  },
});

function textOf(place: LinePlace | null): string | null {
  return place && `${place.atMicros} ${place.part} ${place.operationId}`;
}

function placeOf(text: string): LinePlace {
  const [micros = '', part = '', ...rest] = text.split(' ');
  return { atMicros: BigInt(micros), part: Number(part), operationId: rest.join(' ') };
}
