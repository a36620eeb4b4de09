// DELETE /api/me/mcp-servers/{server_id}: the server is gone, and what was sent to it.
import * as v from 'valibot';
import { deleteMcpServer } from '../../../db/accounts/mcp-servers.ts';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { mcpServerId } from './change.ts';
import { serverEvent } from './event.ts';

export const deleteServer = defineRoute({
  method: 'DELETE',
  path: '/api/me/mcp-servers/{server_id}',
  operationId: 'deleteMcpServer',
  summary: 'Remove an MCP server',
  tag: 'Preferences',
  documents: ['account'],
  access: { kind: 'user', isForSuspended: true },
  cors: 'web',
  params: v.object({ server_id: mcpServerId }),
  replies: { 200: { description: 'It is gone.', schema: v.strictObject({ ok: v.literal(true) }) } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { sql, system } = services;
    const { accountId } = caller;
    const removed = await withDeadline(
      audited(sql, async (transaction) => {
        const server = await deleteMcpServer(transaction, accountId, params.server_id);
        if (server === null) return { result: false, event: null };
        const id = newAuditId(system.node);
        return { result: true, event: serverEvent(id, accountId, 'delete', server) };
      }),
    );
    if (!removed) throw new Problem('not_found', { param: 'server_id' });
    return { status: 200, json: { ok: true } };
  },
});
