// Joins that can only be looked up. The ledger's plans are made once, perhaps while its tables are
// all but empty; then reading an index from end to end and comparing looks cheap, and goes on when
// they are large. `test/db/plans.test.ts` looks at the plans.

/**
 * `column = value` of another row, in words that let the planner use an index for it and nothing
 * else: an equation could as well be merged or hashed.
 */
export function lookedUp(column: string, value: string): string {
  return `${column} = ANY (ARRAY[${value}])`;
}

/** The row of a table that the row `r` of a batch names, as long as it is of the same wallet. */
export function ownedRow(table: string): string {
  return `${lookedUp(`${table}.id`, 'r.id')} AND ${lookedUp(`${table}.wallet_id`, 'r.wallet_id')}`;
}
