// POST /api/me/account/export: a copy of all that is known of the account, made in the background.
import { createExport as createExportRow } from '../../../db/accounts/exports.ts';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { newAuditId, newId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { requireFresh } from '../../identity/sign-in.ts';
import { exportBody, exportReplySchema } from './export-body.ts';

type Created = Awaited<ReturnType<typeof createExportRow>>;

export const createExport = defineRoute({
  method: 'POST',
  path: '/api/me/account/export',
  operationId: 'createAccountExport',
  summary: 'Ask for a copy of your data',
  description:
    'Needs a sign-in within the last 10 minutes, else 403 with the reason `reauthenticate`. Once ' +
    'in 24 hours; one that failed does not count. The copy is a ZIP with a JSON file for each ' +
    'domain, without secrets, and is kept for 7 days. You get a mail when it is ready.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  replies: { 202: { description: 'The export, queued.', schema: exportReplySchema } },
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    requireFresh(caller);
    const { sql, system, personalData } = services;
    const { accountId } = caller;
    const { exportPeriodMs: periodMs, exportKeptMs: keptMs } = personalData.limits;
    const id = newId('exp', system.node);
    const made = audited<Created>(sql, async (transaction) => {
      const wanted = { id, accountId };
      const result = await createExportRow(transaction, wanted, { periodMs, keptMs });
      if (typeof result === 'number') return { result, event: null };
      const event = {
        id: newAuditId(system.node),
        accountId,
        actor: accountId,
        action: 'account.export',
        subject: `export:${id}`,
        details: {},
      };
      return { result, event };
    });
    const created = await withDeadline(made);
    if (typeof created === 'number') {
      throw new Problem('rate_limited', {
        message: 'There was an export within the last 24 hours.',
        headers: { 'retry-after': `${created}` },
      });
    }
    personalData.enqueueExport(id);
    return {
      status: 202,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, export: exportBody(created) },
    };
  },
});
