// GET /api/admin/purchases/{purchase_id}/events: what its provider told of a purchase.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listEventsOf } from '../../../db/purchases/events.ts';
import { listFacts } from '../../../db/purchases/moves.ts';
import { defineRoute } from '../../define.ts';
import { purchaseParams } from '../../purchases/schema.ts';
import { purchaseDetail } from './get-purchase.ts';

/** More is said of no purchase that anybody reads. */
const eventsMax = 100;

const eventSchema = v.strictObject({
  id: v.string(),
  type: v.string(),
  received_at: v.string(),
  done_at: v.nullable(v.string()),
  tries: v.number(),
});

const factSchema = v.strictObject({
  id: v.string(),
  kind: v.picklist(['refund', 'dispute']),
  state: v.string(),
  amount_cents: v.number(),
  opened_at: v.string(),
});

export const listPurchaseEvents = defineRoute({
  method: 'GET',
  path: '/api/admin/purchases/{purchase_id}/events',
  operationId: 'listPurchaseEvents',
  summary: 'List what was told of a purchase',
  description:
    'The newest 100 events of its provider, called or read in its lists, and the refunds and ' +
    'disputes that it tells of.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: purchaseParams,
  replies: {
    200: {
      description: 'Events and facts.',
      schema: v.strictObject({
        ok: v.literal(true),
        events: v.array(eventSchema),
        facts: v.array(factSchema),
      }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, services }) {
    const { purchase_id: id } = params;
    const { sql } = services;
    await purchaseDetail(services, id);
    const reading = Promise.all([listEventsOf(sql, id, eventsMax), listFacts(sql, id)]);
    const [events, facts] = await withDeadline(reading);
    const json = {
      ok: true,
      events: events.map(({ eventId, type, receivedAt, doneAt, tries }) => ({
        id: eventId,
        type,
        received_at: receivedAt.toISOString(),
        done_at: doneAt?.toISOString() ?? null,
        tries,
      })),
      facts: facts.map((fact) => ({
        id: fact.id,
        kind: fact.kind,
        state: fact.state,
        amount_cents: fact.amountCents,
        opened_at: fact.openedAt.toISOString(),
      })),
    };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
