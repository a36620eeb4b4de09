// GET …/organizations/{organization_id}/audit/export: the audit as lines that anybody can verify.
import * as v from 'valibot';
import { exportLines } from '../../../actors/audit/export.ts';
import { auditLimits } from '../../../actors/audit/limits.ts';
import {
  findCheckpoint,
  type StoredCheckpoint,
} from '../../../db/organization-audit/checkpoints.ts';
import type { AuditHead } from '../../../db/organization-audit/head.ts';
import { pourPieces } from '../../../runtime/http/bytes.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { auditParams, requireAuditor } from './auditor.ts';
import { recordedCheckpoint } from './recorded-checkpoint.ts';

const mediaType = 'application/x-ndjson';
const { exportsPerHour } = auditLimits;
const place = (what: string) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.description(what)));

export const exportAudit = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/audit/export',
  operationId: 'exportAudit',
  summary: 'Download the audit, to verify it',
  description:
    'NDJSON: `header`, `anchor` of what was pruned, `record`, `checkpoint`, `end`; without the ' +
    `last it is truncated. ${exportsPerHour} an hour of an organization; the export is recorded. ` +
    'The program at /docs/tollgate-audit.mjs verifies it without us.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: auditParams,
  query: v.object({
    from_seq: place('The first record; 1 if absent.'),
    to_seq: place('The last record; the newest if absent.'),
    checkpoint_size: place('A checkpoint that you keep, to be proved consistent.'),
  }),
  replies: { 200: { description: 'The lines.', mediaType } },
  problems: ['forbidden', 'not_found', 'rate_limited', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const organizationId = await requireAuditor(caller, params.organization_id, services);
    const { from_seq: fromSeq = 1, to_seq, checkpoint_size: size } = query;
    let checkpoint: StoredCheckpoint | null = null;
    const end = await recordedCheckpoint(services, {
      organizationId,
      perHour: exportsPerHour,
      record: {
        actor: { type: 'user', id: caller.accountId },
        action: 'audit.export',
        target: { type: 'organization', id: String(organizationId) },
        result: 'ok',
        details: { from_seq: fromSeq, to_seq: to_seq ?? null },
      },
      async check(transaction, head) {
        requireRange(head, fromSeq, to_seq ?? head.seq + 1);
        if (size === undefined) return;
        checkpoint = await findCheckpoint(transaction, organizationId, size);
        if (checkpoint === null) throw refused('checkpoint_size', 'There is no such checkpoint.');
      },
    });
    const toSeq = to_seq ?? end.size;
    const order = { organizationId, fromSeq, toSeq, checkpoint, end };
    const pieces = encoded(exportLines(services.sql, order));
    return {
      status: 200,
      mediaType,
      headers: {
        'cache-control': 'no-store',
        'content-disposition': `attachment; filename="audit-${organizationId}-${toSeq}.ndjson"`,
      },
      pour(stream) {
        void pourPieces(pieces, stream).catch((error: unknown) => {
          services.log.warn({ err: error }, 'an export of an audit broke off');
          stream.fail();
        });
      },
    };
  },
});

async function* encoded(lines: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  for await (const text of lines) yield Buffer.from(text);
}

/** @throws Problem invalid_request */
function requireRange({ seq, prunedThrough }: AuditHead, from: number, to: number): void {
  // The record of the export is in it.
  if (to > seq + 1) throw refused('to_seq', `The last record is ${seq + 1}.`);
  if (from > to) throw refused('from_seq', 'The first record is behind the last one.');
  if (to <= prunedThrough) throw refused('to_seq', `Records up to ${prunedThrough} were pruned.`);
}

function refused(param: string, message: string): Problem {
  return new Problem('invalid_request', { message, param });
}
