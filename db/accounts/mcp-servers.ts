// The remote MCP servers that a person added. What is sent to one as its authorization is sealed,
// and no function here but that of the key's rotation reads it.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable, Transaction } from '../driver/sql.ts';
import { millisecondsOf } from '../video-jobs.ts';

export const mcpStates = [
  'unchecked',
  'ready',
  'auth_required',
  'unreachable',
  'incompatible',
] as const;

export interface McpServer {
  /** `mcp_` and 24 hex characters. */
  id: string;
  name: string;
  slug: string;
  url: string;
  enabled: boolean;
  trusted: boolean;
  allowAfterReading: boolean;
  allowedTools: string[];
  auth: 'none' | 'bearer' | 'oauth';
  state: (typeof mcpStates)[number];
  protocolVersion: string | null;
  checkedAtMs: number | null;
  lastError: string | null;
}

const columns = `m.id, m.name, m.slug, m.url, m.enabled, m.trusted,
  m.allow_after_reading AS "allowAfterReading", m.allowed_tools AS "allowedTools", m.auth, m.state,
  m.protocol_version AS "protocolVersion", ${millisecondsOf('m.checked_at')} AS "checkedAtMs",
  m.last_error AS "lastError"`;

/** All of an account, the newest first. */
export async function listMcpServers(sql: Queryable, accountId: string): Promise<McpServer[]> {
  const servers = await sql.unsafe<McpServer[]>(
    `SELECT ${columns} FROM mcp_servers m WHERE m.account_id = $1 ORDER BY m.id DESC`,
    [accountId],
  );
  return [...servers];
}

/** The same, of an account that nobody else changes until the transaction ends. */
export async function lockMcpServers(
  transaction: Transaction,
  accountId: string,
): Promise<McpServer[]> {
  await transaction`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
  return listMcpServers(transaction, accountId);
}

export interface SealedAuthorization {
  sealed: Buffer;
  keyId: string;
}

/** What was found out of a server is forgotten when its URL or its authorization changes. */
export interface WrittenMcpServer
  extends Omit<McpServer, 'auth' | 'state' | 'protocolVersion' | 'checkedAtMs' | 'lastError'> {
  /** Absent: it stays as it is. */
  authorization?: SealedAuthorization | null;
}

export async function putMcpServer(
  transaction: Transaction,
  accountId: string,
  server: WrittenMcpServer,
): Promise<void> {
  const { authorization, allowedTools } = server;
  const isKept = authorization === undefined;
  const auth = authorization === null || authorization === undefined ? 'none' : 'bearer';
  await transaction`
    INSERT INTO mcp_servers AS m (id, account_id, name, slug, url, enabled, trusted,
      allow_after_reading, allowed_tools, auth, authorization_sealed, authorization_key_id)
    VALUES (${server.id}, ${accountId}, ${server.name}, ${server.slug}, ${server.url},
      ${server.enabled}, ${server.trusted}, ${server.allowAfterReading},
      ${arrayLiteral(allowedTools)}::text[], ${auth}, ${authorization?.sealed ?? null},
      ${authorization?.keyId ?? null})
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, url = excluded.url,
      enabled = excluded.enabled, trusted = excluded.trusted,
      allow_after_reading = excluded.allow_after_reading, allowed_tools = excluded.allowed_tools,
      auth = CASE WHEN ${isKept} THEN m.auth ELSE excluded.auth END,
      authorization_sealed = CASE WHEN ${isKept} THEN m.authorization_sealed
        ELSE excluded.authorization_sealed END,
      authorization_key_id = CASE WHEN ${isKept} THEN m.authorization_key_id
        ELSE excluded.authorization_key_id END,
      state = CASE WHEN ${isKept} AND m.url = excluded.url THEN m.state ELSE 'unchecked' END,
      protocol_version = CASE WHEN ${isKept} AND m.url = excluded.url THEN m.protocol_version END,
      checked_at = CASE WHEN ${isKept} AND m.url = excluded.url THEN m.checked_at END,
      last_error = CASE WHEN ${isKept} AND m.url = excluded.url THEN m.last_error END,
      updated_at = now()`;
}

/** The server that was removed; null: the account has none of this id. */
export async function deleteMcpServer(
  transaction: Transaction,
  accountId: string,
  id: string,
): Promise<McpServer | null> {
  const [server] = await transaction.unsafe<McpServer[]>(
    `DELETE FROM mcp_servers m WHERE m.account_id = $1 AND m.id = $2 RETURNING ${columns}`,
    [accountId, id],
  );
  return server ?? null;
}
