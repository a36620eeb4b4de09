// An export as it is told, and the caller's export by its id.
import * as v from 'valibot';
import { type AccountExport, findExport } from '../../../db/accounts/exports.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';

export const exportParams = v.object({ export_id: v.pipe(v.string(), v.maxLength(100)) });

const exportSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    status: v.picklist(['queued', 'running', 'ready', 'failed']),
    created_at: v.string(),
    ready_at: v.nullable(v.string()),
    expires_at: v.pipe(v.string(), v.description('When it is gone, with its archive.')),
    size_bytes: v.nullable(v.pipe(v.number(), v.integer())),
  }),
  v.title('AccountExport'),
);

export const exportReplySchema = v.strictObject({ ok: v.literal(true), export: exportSchema });

export function exportBody(found: AccountExport): v.InferOutput<typeof exportSchema> {
  return {
    id: found.id,
    status: found.status,
    created_at: found.createdAt.toISOString(),
    ready_at: found.file?.readyAt.toISOString() ?? null,
    expires_at: found.expiresAt.toISOString(),
    size_bytes: found.file?.bytes ?? null,
  };
}

/** @throws Problem not_found */
export async function requireExport(
  { sql }: Pick<Services, 'sql'>,
  accountId: string,
  id: string,
): Promise<AccountExport> {
  const found = await withDeadline(findExport(sql, accountId, id));
  if (found === null) throw new Problem('not_found', { param: 'export_id' });
  return found;
}
