// Which models a person prefers, in general and by what it does. For clients: no model route reads
// them.
import type { Queryable, Transaction } from '../driver/sql.ts';
import { millisecondsOf } from '../video-jobs.ts';

export interface Preferences {
  defaultModel: string | null;
  /** Aliases by mode; a mode that is absent has none. */
  modes: Record<string, string>;
  /** 0: never saved. */
  revision: number;
  updatedAtMs: number | null;
}

const none: Preferences = { defaultModel: null, modes: {}, revision: 0, updatedAtMs: null };

export async function readPreferences(sql: Queryable, accountId: string): Promise<Preferences> {
  const [row] = await sql.unsafe<Preferences[]>(
    `SELECT p.default_model AS "defaultModel", p.modes, p.revision,
      ${millisecondsOf('p.updated_at')} AS "updatedAtMs"
    FROM ai_preferences p WHERE p.account_id = $1`,
    [accountId],
  );
  return row ?? none;
}

/** The same, of an account that nobody else changes until the transaction ends. */
export async function lockPreferences(
  transaction: Transaction,
  accountId: string,
): Promise<Preferences> {
  await transaction`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
  return readPreferences(transaction, accountId);
}

export async function putPreferences(
  transaction: Transaction,
  accountId: string,
  { defaultModel, modes }: Pick<Preferences, 'defaultModel' | 'modes'>,
): Promise<void> {
  await transaction`
    INSERT INTO ai_preferences AS p (account_id, default_model, modes)
    VALUES (${accountId}, ${defaultModel}, ${JSON.stringify(modes)}::text::jsonb)
    ON CONFLICT (account_id) DO UPDATE SET default_model = excluded.default_model,
      modes = excluded.modes, revision = p.revision + 1, updated_at = now()`;
}
