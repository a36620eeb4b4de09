// A remote MCP server as its owner sees it. What is sent to it as its authorization is never told.
import * as v from 'valibot';
import { type McpServer, mcpStates } from '../../../db/accounts/mcp-servers.ts';

const toolSchema = v.strictObject({
  name: v.string(),
  description: v.string(),
  read_only: v.boolean(),
  state: v.picklist(['approved', 'new', 'changed', 'gone']),
  allowed: v.boolean(),
});

export const mcpServerSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    name: v.string(),
    slug: v.string(),
    url: v.string(),
    enabled: v.boolean(),
    trusted: v.boolean(),
    allow_after_reading: v.boolean(),
    auth: v.picklist(['none', 'bearer', 'oauth']),
    state: v.picklist(mcpStates),
    protocol_version: v.nullable(v.string()),
    checked_at: v.nullable(v.string()),
    last_error: v.nullable(v.string()),
    tools: v.pipe(v.array(toolSchema), v.description('Empty until the server was asked.')),
  }),
  v.title('McpServer'),
);

export function mcpServerBody(server: McpServer) {
  const { id, name, slug, url, enabled, trusted, auth, state } = server;
  return {
    id,
    name,
    slug,
    url,
    enabled,
    trusted,
    allow_after_reading: server.allowAfterReading,
    auth,
    state,
    protocol_version: server.protocolVersion,
    checked_at: server.checkedAtMs === null ? null : new Date(server.checkedAtMs).toISOString(),
    last_error: server.lastError,
    tools: [],
  };
}

const slugMax = 32;

/** From a name, and unlike those of the account's other servers: names of tools begin with it. */
export function slugOf(name: string, taken: readonly string[]): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, slugMax)
    .replace(/_+$/, '');
  const base = plain === '' ? 'server' : plain;
  if (!taken.includes(base)) return base;
  let number = 2;
  while (taken.includes(`${base}_${number}`)) number += 1;
  return `${base}_${number}`;
}
