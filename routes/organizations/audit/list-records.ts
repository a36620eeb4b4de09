// GET …/organizations/{organization_id}/audit: records of the audit, newest first.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listRecords } from '../../../db/organization-audit/records.ts';
import { momentOf } from '../../../runtime/http/moment.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { auditParams, requireAuditor } from './auditor.ts';
import { recordBody, recordSchema } from './schema.ts';

const text = lineOfText(200);
const moment = v.pipe(lineOfText(40), v.description('ISO 8601, a time with its zone.'));
const seqPattern = /^[1-9][0-9]{0,14}$/;

export const listAuditRecords = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/audit',
  operationId: 'listAuditRecords',
  summary: 'List records of the audit',
  description:
    'Newest first, for owners and administrators of the organization. Every given filter must ' +
    'fit: `actor` (its id), `action`, and the time `from` (inclusive) and `to` (exclusive).',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: auditParams,
  query: v.object({
    ...pageQuery.entries,
    actor: v.optional(text),
    action: v.optional(text),
    from: v.optional(moment),
    to: v.optional(moment),
  }),
  replies: { 200: { description: 'A page of records.', schema: pageSchema(recordSchema) } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const id = await requireAuditor(caller, params.organization_id, services);
    const { limit, afterId } = pageRequest(query, seqPattern);
    const { actor = null, action = null } = query;
    const from = requireMoment('from', query.from);
    const to = requireMoment('to', query.to);
    const filter = { actor, action, from, to };
    const before = afterId === null ? null : Number(afterId);
    const rows = await withDeadline(listRecords(services.sql, id, filter, limit + 1, before));
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? String(page.at(-1)?.seq) : null;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.map(recordBody), next) },
    };
  },
});

function requireMoment(param: string, told: string | undefined): Date | null {
  if (told === undefined) return null;
  const found = momentOf(told);
  if (found !== null) return found;
  throw new Problem('invalid_request', { message: `${param} is no ISO 8601 time.`, param });
}
