// GET /api/me/mcp-servers: the remote MCP servers of the account.
import { listMcpServers } from '../../../db/accounts/mcp-servers.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { defineRoute } from '../../define.ts';
import { pageReply, pageSchema } from '../../page.ts';
import { mcpServerBody, mcpServerSchema } from './schema.ts';

export const listServers = defineRoute({
  method: 'GET',
  path: '/api/me/mcp-servers',
  operationId: 'listMcpServers',
  summary: 'List your MCP servers',
  description: 'All of them, the newest first: an account has 32 at most.',
  tag: 'Preferences',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  replies: { 200: { description: 'The servers.', schema: pageSchema(mcpServerSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    const servers = await withDeadline(listMcpServers(services.sql, caller.accountId));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(servers.map(mcpServerBody), null) },
    };
  },
});
