// POST /api/admin/purchases/{purchase_id}/recheck: has the provider asked now.
import { insertAuditEvent } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { purchaseParams } from '../../purchases/schema.ts';
import { purchaseDetail } from './get-purchase.ts';
import { purchaseDetailSchema } from './schema.ts';

export const recheckPurchase = defineRoute({
  method: 'POST',
  path: '/api/admin/purchases/{purchase_id}/recheck',
  operationId: 'recheckPurchase',
  summary: 'Ask the provider about a purchase',
  description: 'Its answer is applied, as after any callback. Doing it twice changes nothing.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: purchaseParams,
  replies: { 200: { description: 'The purchase after it.', schema: purchaseDetailSchema } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { purchase_id: purchaseId } = params;
    const { payments, sql, system } = services;
    const { accountId } = await purchaseDetail(services, purchaseId);
    const request = { purchaseId, proof: null };
    const answer = await payments.desk().ask('settle', request, payments.limits.askMs);
    if (!answer.ok || answer.value.status === 'unavailable') {
      const message = 'The payment provider does not answer.';
      throw new Problem('dependency_unavailable', { message });
    }
    const event = {
      id: newAuditId(system.node),
      accountId,
      actor: caller.accountId,
      action: 'purchase.recheck',
      subject: `purchase:${purchaseId}`,
      details: {},
    };
    await withDeadline(insertAuditEvent(sql, event));
    const { json } = await purchaseDetail(services, purchaseId);
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
