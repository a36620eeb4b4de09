// A change of an account's MCP servers: what becomes of the record, and the event that tells it.
import * as v from 'valibot';
import { sealFor } from '../../../actors/app/seals.ts';
import {
  listMcpServers,
  lockMcpServers,
  type McpServer,
  putMcpServer,
  type WrittenMcpServer,
} from '../../../db/accounts/mcp-servers.ts';
import { audited } from '../../../db/audit-events.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { newAuditId, newId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';
import { serverEvent } from './event.ts';
import { slugOf } from './schema.ts';

export const mcpServerId = v.pipe(
  v.string(),
  v.regex(/^mcp_[a-f0-9]{24}$/, 'expected the id of an MCP server'),
);

export interface WantedServer {
  id?: string | undefined;
  name: string;
  /** As it was parsed. */
  url: string;
  authorization?: string | null | undefined;
  enabled?: boolean | undefined;
  trusted?: boolean | undefined;
  allowed_tools?: string[] | undefined;
  approve?: string[] | undefined;
  allow_after_reading?: boolean | undefined;
}

/**
 * Adds a server, or changes the one that is named.
 * @throws Problem not_found, conflict, invalid_request
 */
export function changeServer(
  services: Pick<Services, 'sql' | 'system' | 'sealer' | 'limits'>,
  accountId: string,
  wanted: WantedServer,
): Promise<{ server: McpServer; isNew: boolean }> {
  const { sql, system, sealer, limits } = services;
  return audited(sql, async (transaction) => {
    const servers = await lockMcpServers(transaction, accountId);
    const before = servers.find(({ id }) => id === wanted.id) ?? null;
    if (wanted.id !== undefined && before === null) {
      throw new Problem('not_found', { param: 'id' });
    }
    const { serversMax } = limits.app.mcp;
    if (before === null && servers.length >= serversMax) {
      const message = `An account has at most ${serversMax} MCP servers.`;
      throw new Problem('conflict', { message });
    }
    const id = before?.id ?? newId('mcp', system.node);
    const slug =
      before?.slug ??
      slugOf(
        wanted.name,
        servers.map((each) => each.slug),
      );
    const { authorization } = wanted;
    const secret = authorizationOf(before, wanted);
    const after: WrittenMcpServer = {
      ...recordOf(before, wanted, id, slug),
      ...(secret === 'kept'
        ? {}
        : { authorization: secret === null ? null : sealFor(sealer, 'mcpServer', id, secret) }),
    };
    await putMcpServer(transaction, accountId, after);
    const server = (await listMcpServers(transaction, accountId)).find((each) => each.id === id);
    if (server === undefined) throw new Error('it was written in this transaction');
    const verb = before === null ? 'create' : 'update';
    const credential = secret === 'kept' ? 'kept' : authorization === null ? 'removed' : 'set';
    const event = serverEvent(newAuditId(system.node), accountId, verb, server, credential);
    return { result: { server, isNew: before === null }, event };
  });
}

function recordOf(before: McpServer | null, wanted: WantedServer, id: string, slug: string) {
  return {
    id,
    slug,
    name: wanted.name,
    url: wanted.url,
    enabled: wanted.enabled ?? before?.enabled ?? true,
    trusted: wanted.trusted ?? before?.trusted ?? true,
    allowAfterReading: wanted.allow_after_reading ?? before?.allowAfterReading ?? false,
    allowedTools: wanted.allowed_tools ?? before?.allowedTools ?? [],
  };
}

/**
 * What is sent to it from now on. What was given for one origin is not sent to another.
 * @throws Problem invalid_request
 */
function authorizationOf(
  before: McpServer | null,
  { authorization, url }: WantedServer,
): string | null | 'kept' {
  if (authorization !== undefined) return authorization;
  if (before === null) return null;
  const isMoved = new URL(before.url).origin !== new URL(url).origin;
  if (!isMoved || before.auth === 'none') return 'kept';
  throw fieldProblem('authorization', 'Another origin needs its authorization again, or null.');
}
