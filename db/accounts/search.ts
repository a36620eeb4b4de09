// Accounts that an administrator looks for by whatever is known of them. Each way is a query of its
// own, so that each has its index: all of them as one condition read every account.
import type { Queryable } from '../driver/sql.ts';

function idBegins(sql: Queryable, search: string) {
  return sql`starts_with(a.id, ${search}::text)`;
}
type Condition = ReturnType<typeof idBegins>;

/**
 * A query for the ids of accounts `a` that pass the condition: the newest of each way to find them,
 * which are at most `count`. The beginning of id or address finds, a part of the label, or a whole
 * wallet id, key id or display prefix of a key.
 */
export function searchAccounts(sql: Queryable, search: string, passes: Condition, count: number) {
  const ways: Condition[] = [
    idBegins(sql, search),
    sql`starts_with(a.email, lower(${search}::text))`,
    sql`a.label IS NOT NULL AND strpos(lower(a.label), lower(${search}::text)) > 0`,
    sql`a.id IN (
      SELECT w.account_id FROM wallets w WHERE w.id = ${search}::text
      UNION ALL SELECT k.account_id FROM api_keys k
      WHERE k.id = ${search}::text OR k.prefix = ${search}::text)`,
  ];
  const [first, ...others] = ways.map(
    (found) => sql`(
      SELECT a.id FROM accounts a WHERE ${found} AND ${passes} ORDER BY a.id DESC LIMIT ${count})`,
  );
  return sql`${first ?? sql``} ${others.map((way) => sql`UNION ${way}`)}`;
}
