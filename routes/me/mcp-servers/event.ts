// What the trail keeps of a change of an MCP server.
import type { McpServer } from '../../../db/accounts/mcp-servers.ts';
import type { NewAuditEvent } from '../../../db/audit-events.ts';

/** Without the path and query of the URL, which may hold a credential. */
export function serverEvent(
  id: string,
  accountId: string,
  verb: 'create' | 'update' | 'delete',
  server: McpServer,
  authorization?: 'kept' | 'set' | 'removed',
): NewAuditEvent {
  const { name, slug, enabled, trusted, auth, allowAfterReading, allowedTools } = server;
  const { origin } = new URL(server.url);
  return {
    id,
    accountId,
    actor: accountId,
    action: `mcp_server.${verb}`,
    subject: `mcp_server:${server.id}`,
    details: {
      ...{ name, slug, origin, enabled, trusted, auth, allowAfterReading, allowedTools },
      ...(authorization === undefined ? {} : { authorization }),
    },
  };
}
