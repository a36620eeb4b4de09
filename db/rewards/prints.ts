// Prints of texts that were approved: who hands in nearly the same is looked at. A print is kept by
// its four parts of 16 bits. Of two that differ in 3 bits at most, one part is equal.
import type { Queryable } from '../driver/sql.ts';

/** The parts of the print `$1`, as rows of `part` and `bits`. */
const partsOf = `(SELECT part, (($1::bigint >> (16 * part)) & 65535)::integer AS bits
  FROM generate_series(0, 3) AS part)`;

/** Prints that differ from this one in so few bits. */
export async function listNearPrints(
  sql: Queryable,
  print: bigint,
  bitsMax: number,
): Promise<bigint[]> {
  const rows = await sql.unsafe<{ print: string }[]>(
    `SELECT DISTINCT k.print::text AS print
      FROM ${partsOf} AS p JOIN reward_prints k ON k.part = p.part AND k.bits = p.bits
      WHERE bit_count((k.print # $1::bigint)::bit(64)) <= $2`,
    [print.toString(), bitsMax],
  );
  return rows.map((row) => BigInt(row.print));
}

export async function keepPrint(
  sql: Queryable,
  submissionId: string,
  print: bigint,
): Promise<void> {
  await sql.unsafe(
    `INSERT INTO reward_prints (part, bits, submission_id, print)
      SELECT part, bits, $2::uuid, $1::bigint FROM ${partsOf} AS p ON CONFLICT DO NOTHING`,
    [print.toString(), submissionId],
  );
}
