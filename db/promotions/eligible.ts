// Who may be given promotional credit: a person that owns its address, and is not restricted.
import type { Queryable } from '../driver/sql.ts';

export type Eligibility = 'eligible' | 'unverified' | 'billing_restricted';

/** As SQL: the account of this alias may be given promotional credit now. */
export function isEligible(alias: string): string {
  const a = alias;
  return `(${a}.kind = 'person' AND (${a}.email IS NULL OR ${a}.email_owned)
    AND ${a}.billing_restricted_at IS NULL AND ${a}.disabled_at IS NULL
    AND ${a}.deleting_at IS NULL)`;
}

/** What stands against it, if anything. */
export async function findEligibility(sql: Queryable, accountId: string): Promise<Eligibility> {
  const [row] = await sql<{ unverified: boolean; restricted: boolean }[]>`
    SELECT kind <> 'person' OR (email IS NOT NULL AND NOT email_owned) AS unverified,
      billing_restricted_at IS NOT NULL AS restricted
    FROM accounts WHERE id = ${accountId}`;
  if (row === undefined || row.unverified) return 'unverified';
  return row.restricted ? 'billing_restricted' : 'eligible';
}
