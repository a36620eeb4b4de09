// GET /api/admin/payments/anomalies: what was paid and is not credited.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listAnomalies as readAnomalies } from '../../../db/purchases/anomalies.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';

const anomalySchema = v.strictObject({
  id: v.string(),
  provider: v.string(),
  object_id: v.string(),
  kind: v.string(),
  purchase_id: v.nullable(v.string()),
  details: v.record(v.string(), v.union([v.string(), v.number()])),
  at: v.string(),
});

export const listAnomalies = defineRoute({
  method: 'GET',
  path: '/api/admin/payments/anomalies',
  operationId: 'listPaymentAnomalies',
  summary: 'List payments that are not what was asked for',
  description:
    'A wrong amount, currency, purchase or installation, and second payments, the newest first. ' +
    'None of them is credited: refund them at the provider.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: pageQuery,
  replies: { 200: { description: 'A page of anomalies.', schema: pageSchema(anomalySchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query);
    const page = await withDeadline(readAnomalies(services.sql, limit, afterId));
    const items = page.anomalies.map((each) => ({
      id: each.id,
      provider: each.provider,
      object_id: each.objectId,
      kind: each.kind,
      purchase_id: each.purchaseId,
      details: each.details,
      at: each.at.toISOString(),
    }));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(items, page.nextCursor) },
    };
  },
});
