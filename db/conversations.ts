// Which model each conversation had last on a managed route, so that its next turn may keep it. It
// is a hint: losing a row means choosing again.
import type { Queryable } from './driver/sql.ts';

export interface ConversationKey {
  accountId: string;
  /** The client's own name, 1 to 160 characters. */
  conversationId: string;
  /** Alias of the managed route. */
  route: string;
}

const readText = `SELECT model FROM conversations
  WHERE account_id = $1 AND conversation_id = $2 AND route = $3`;

/** The exact alias of the last turn; null when nothing is known. */
export async function findConversationModel(
  sql: Queryable,
  { accountId, conversationId, route }: ConversationKey,
): Promise<string | null> {
  const parameters = [accountId, conversationId, route];
  const [row] = await sql.unsafe<{ model: string }[]>(readText, parameters, { prepare: true });
  return row?.model ?? null;
}

const writeText = `INSERT INTO conversations AS c (account_id, conversation_id, route, model)
  VALUES ($1, $2, $3, $4)
  ON CONFLICT (account_id, conversation_id, route) DO UPDATE
    SET model = excluded.model, updated_at = now()
    WHERE c.model <> excluded.model OR c.updated_at < now() - interval '1 hour'
  RETURNING 1`;

/** Remembers the model of a turn. False: it was known, and that was written within the hour. */
export async function rememberConversationModel(
  sql: Queryable,
  { accountId, conversationId, route }: ConversationKey,
  model: string,
): Promise<boolean> {
  const parameters = [accountId, conversationId, route, model];
  const rows = await sql.unsafe(writeText, parameters, { prepare: true });
  return rows.length > 0;
}

/** Forgets conversations that had no turn since `beforeMs`, at most `limit`; returns how many. */
export async function sweepConversations(
  sql: Queryable,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const result = await sql`
    DELETE FROM conversations c USING (
      SELECT account_id, conversation_id, route FROM conversations
      WHERE updated_at < to_timestamp(${beforeMs}::float8 / 1000)
      ORDER BY updated_at LIMIT ${limit} FOR UPDATE SKIP LOCKED) old
    WHERE c.account_id = old.account_id AND c.conversation_id = old.conversation_id
      AND c.route = old.route`;
  return result.count;
}
