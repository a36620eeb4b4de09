// Checks the books: every amount is derived a second way and compared. One snapshot, read only, so
// it is right beside a running server. Each rule is one query that returns what breaks it.

import { counterRules } from './audit/counters.ts';
import { purchaseRules } from './audit/purchases.ts';
import type { Rule } from './audit/rule.ts';
import type { Sql } from './driver/sql.ts';
import type { HolderRows } from './ledger/holder.ts';
import { holderRows } from './ledger/holders.ts';

export interface Finding {
  rule: string;
  /** What was compared, in how many places. */
  checked: bigint;
  broken: bigint;
  /** The first few differences, each on one line. */
  examples: string[];
}

const EXAMPLES_MAX = 10;
/** An active hold this long past its expiry is an orphan: no sweep has released it. */
export const orphanAfterMs = 60_000;
const ORPHAN_SECONDS = orphanAfterMs / 1_000;
const accounts = [
  'wallet_micros',
  'held_micros',
  'revenue_micros',
  'provider_cost_micros',
  'promotion_micros',
  'purchase_micros',
  'shortfall_micros',
];
const sumOf = (alias: string): string => accounts.map((name) => `${alias}.${name}`).join(' + ');

const listOf = (values: readonly string[]): string =>
  `(${values.map((value) => `'${value}'`).join(', ')})`;

/** What is true of everything that holds funds, in whichever table. */
function ownerRules({ kind, table, state, live, charged }: HolderRows): Rule[] {
  const owner = kind.replaceAll('_', ' ');
  return [
    {
      name: `every ${owner} was charged what the journal says`,
      count: `SELECT count(*) FROM ${table} WHERE ${charged}`,
      violations: `WITH settled AS (
          SELECT split_part(operation_id, '.', 1) AS hold_id,
            sum(revenue_micros + provider_cost_micros) AS charge
          FROM ledger WHERE kind IN ('settle', 'late') GROUP BY 1)
        SELECT o.id || ' (' || o.${state} || '): charged '
            || coalesce(o.charge_micros::text, 'nothing')
            || ', journal ' || coalesce(s.charge::text, 'nothing')
        FROM ${table} o LEFT JOIN settled s ON s.hold_id = o.hold_id
        WHERE o.charge_micros IS DISTINCT FROM s.charge`,
    },
    {
      name: `every ${live.join(' or ')} ${owner} has its hold`,
      count: `SELECT count(*) FROM ${table} WHERE ${state} IN ${listOf(live)}`,
      violations: `SELECT o.id || ': no hold ' || o.hold_id FROM ${table} o
        WHERE o.${state} IN ${listOf(live)} AND NOT EXISTS (
          SELECT 1 FROM holds h WHERE h.wallet_id = o.wallet_id AND h.id = o.hold_id)`,
    },
  ];
}

/** Rules of wallets, grants and holds. */
const balanceRules: Rule[] = [
  {
    name: 'the sum over all accounts is zero',
    count: 'SELECT count(*) FROM wallets',
    violations: `SELECT 'wallets sum to ' || total FROM
      (SELECT coalesce(sum(${sumOf('w')}), 0) AS total FROM wallets w) s WHERE total <> 0
    UNION ALL SELECT 'the journal sums to ' || total FROM
      (SELECT coalesce(sum(${sumOf('l')}), 0) AS total FROM ledger l) s WHERE total <> 0`,
  },
  {
    name: 'every balance is the sum of its journal entries',
    count: 'SELECT count(*) FROM ledger',
    violations: `WITH journal AS (
      SELECT wallet_id, ${accounts.map((name) => `sum(${name}) AS ${name}`).join(', ')}
      FROM ledger GROUP BY wallet_id)
    SELECT coalesce(w.id, j.wallet_id) || ' ' || a.name || ': balance '
        || coalesce(a.balance::text, 'none') || ', journal ' || a.journal
    FROM wallets w FULL JOIN journal j ON j.wallet_id = w.id
    CROSS JOIN LATERAL (VALUES ${accounts
      .map((name) => `('${name}', w.${name}::numeric, coalesce(j.${name}, 0))`)
      .join(', ')}) AS a (name, balance, journal)
    WHERE a.balance IS DISTINCT FROM a.journal`,
  },
  {
    name: 'grants add up to what is available and held',
    count: 'SELECT count(*) FROM grants',
    violations: `SELECT w.id || ': available ' || w.wallet_micros || ', grants have free '
        || coalesce(g.free, 0) || '; held ' || w.held_micros || ', grants ' || coalesce(g.held, 0)
    FROM wallets w LEFT JOIN (
      SELECT wallet_id, sum(remaining_micros - held_micros) AS free, sum(held_micros) AS held
      FROM grants GROUP BY wallet_id) g ON g.wallet_id = w.id
    WHERE w.wallet_micros <> coalesce(g.free, 0) OR w.held_micros <> coalesce(g.held, 0)`,
  },
  {
    name: 'holds add up to what is held',
    count: 'SELECT count(*) FROM holds',
    violations: `SELECT coalesce(w.id, h.wallet_id) || ': held ' || coalesce(w.held_micros, 0)
        || ', holds ' || coalesce(h.amount, 0)
    FROM wallets w FULL JOIN (
      SELECT wallet_id, sum(amount_micros) AS amount FROM holds GROUP BY wallet_id) h
      ON h.wallet_id = w.id
    WHERE coalesce(w.held_micros, -1) <> coalesce(h.amount, 0)`,
  },
  {
    name: 'what a grant has held is earmarked by holds',
    count: 'SELECT count(*) FROM grants WHERE held_micros > 0',
    violations: `WITH legs AS (
      SELECT l.leg ->> 'grant' AS grant_id, sum((l.leg ->> 'micros')::bigint) AS micros
      FROM holds h CROSS JOIN LATERAL jsonb_array_elements(h.legs) AS l (leg) GROUP BY 1)
    SELECT coalesce(g.id, l.grant_id) || ': held ' || coalesce(g.held_micros, 0)
        || ', earmarked ' || coalesce(l.micros, 0)
    FROM (SELECT id, held_micros FROM grants WHERE held_micros > 0) g
    FULL JOIN legs l ON l.grant_id = g.id
    WHERE coalesce(g.held_micros, 0) <> coalesce(l.micros, 0)`,
  },
  {
    name: 'a grant that expired or was revoked has nothing free',
    count: 'SELECT count(*) FROM grants WHERE expired',
    violations: `SELECT id || ': free ' || remaining_micros - held_micros FROM grants
      WHERE expired AND remaining_micros <> held_micros
    UNION ALL SELECT g.id || ': revoked, and still open' FROM ledger l
      JOIN grants g ON g.id = split_part(l.operation_id, '.', 1)
      WHERE l.kind = 'revoke' AND NOT g.expired AND NOT g.spent`,
  },
  {
    name: 'what was taken back is what its event says',
    count: "SELECT count(*) FROM ledger WHERE kind IN ('revoke', 'debit')",
    violations: `SELECT e.operation_id || ': event of ' || (e.details ->> 'amount_microcredits')
        || ', journal ' || coalesce((-l.wallet_micros)::text, 'nothing')
      FROM audit_events e LEFT JOIN ledger l
        ON l.operation_id = e.operation_id AND l.kind IN ('revoke', 'debit')
      WHERE e.action IN ('wallet.revoke', 'wallet.debit')
        AND (e.details ->> 'amount_microcredits')::numeric IS DISTINCT FROM -l.wallet_micros
    UNION ALL SELECT operation_id || ': not from the wallet to promotions alone' FROM ledger
      WHERE kind IN ('revoke', 'debit')
        AND (wallet_micros > 0 OR promotion_micros <> -wallet_micros)`,
  },
];

const settlementRules: Rule[] = [
  {
    name: 'no hold is settled twice',
    count: "SELECT count(*) FROM ledger WHERE kind IN ('settle', 'late')",
    violations: `SELECT split_part(operation_id, '.', 1) || ': settled ' || count(*) || ' times'
    FROM ledger WHERE kind IN ('settle', 'late')
    GROUP BY split_part(operation_id, '.', 1) HAVING count(*) > 1`,
  },
];

const idMs = "('x0000' || substr(l.operation_id, 6, 12))::bit(64)::bigint";

/** The hold of a charge has the digits of its request: its day follows from the journal alone. */
const usageRules: Rule[] = [
  {
    name: 'closed days of usage are what the journal charged',
    count: 'SELECT count(*) FROM usage_days',
    violations: `WITH closed AS (
        SELECT date_trunc('day', closed_from + interval '1 day' - interval '1 us', 'UTC') AS first,
          date_trunc('day', closed_until, 'UTC') AS last FROM usage_state),
      charged AS (
        SELECT l.wallet_id, date '1970-01-01' + (${idMs} / 86400000)::integer AS day,
          sum(l.revenue_micros + l.provider_cost_micros) AS charge
        FROM ledger l WHERE l.kind IN ('settle', 'late') AND l.operation_id LIKE 'hold\\_%'
          AND NOT EXISTS (SELECT FROM usage_late m WHERE m.wallet_id = l.wallet_id
            AND right(m.id, 24) = substr(l.operation_id, 6, 24))
        GROUP BY 1, 2),
      counted AS (
        SELECT wallet_id, day, sum(charge_micros) AS charge FROM usage_days GROUP BY 1, 2)
    SELECT wallet_id || ' on ' || day || ': counted ' || coalesce(u.charge, 0)
        || ', journal ' || coalesce(j.charge, 0)
    FROM charged j FULL JOIN counted u USING (wallet_id, day) CROSS JOIN closed c
    WHERE day >= (c.first AT TIME ZONE 'UTC')::date AND day < (c.last AT TIME ZONE 'UTC')::date
      AND coalesce(u.charge, 0) <> coalesce(j.charge, 0)`,
  },
];

/** A hold whose owner is over, or whose time is long past. */
function orphanRule(holders: readonly HolderRows[]): Rule {
  const states = holders.map(({ alias, state }) => `${alias}.${state}`).join(', ');
  const joins = holders
    .map(
      ({ table, alias }) => `LEFT JOIN ${table} ${alias} ON h.claimed AND ${alias}.id = h.owner_id`,
    )
    .join('\n      ');
  const areOver = holders
    .map(({ alias, state, live }) => `AND (${alias}.${state} IN ${listOf(live)}) IS NOT TRUE`)
    .join('\n          ');
  return {
    name: 'no hold is an orphan',
    count: 'SELECT count(*) FROM holds WHERE NOT expired',
    violations: `SELECT h.id || ' of ' || h.wallet_id || ': '
        || CASE WHEN h.expires_at < now() - interval '${ORPHAN_SECONDS} seconds'
          THEN 'expired at ' || h.expires_at::text
          ELSE 'its owner ' || h.owner_id || ' is ' || coalesce(${states}, 'missing') END
    FROM holds h ${joins}
    WHERE (NOT h.expired AND h.expires_at < now() - interval '${ORPHAN_SECONDS} seconds')
      OR (h.claimed ${areOver})`,
  };
}

/** All rules of the books, with those of whatever holds funds. */
function rulesOf(holders: readonly HolderRows[]): Rule[] {
  return [
    ...balanceRules,
    orphanRule(holders),
    ...settlementRules,
    ...purchaseRules,
    ...holders.flatMap(ownerRules),
    ...counterRules,
    ...usageRules,
  ];
}

/** For whoever tells findings in columns. */
export const ruleLengthMax = Math.max(...rulesOf(holderRows).map(({ name }) => name.length));

/**
 * Runs all rules on one snapshot. The books are right when no finding has `broken` above 0. `tell`
 * hears of each at once: 5 million entries take half a minute.
 */
export async function auditLedger(
  sql: Sql,
  tell: (finding: Finding) => void = () => undefined,
  holders = holderRows,
): Promise<Finding[]> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    await transaction`SET LOCAL statement_timeout = 0`;
    const findings: Finding[] = [];
    for (const rule of rulesOf(holders)) {
      const [row] = await transaction.unsafe<
        { checked: bigint; broken: bigint; lines: string[] }[]
      >(
        `WITH violations (line) AS (${rule.violations})
        SELECT (${rule.count}) AS checked, (SELECT count(*) FROM violations) AS broken,
          (SELECT coalesce(json_agg(line), '[]') FROM
            (SELECT line FROM violations ORDER BY line LIMIT ${EXAMPLES_MAX}) v) AS lines`,
      );
      const finding = {
        rule: rule.name,
        checked: row?.checked ?? 0n,
        broken: row?.broken ?? 0n,
        examples: row?.lines ?? [],
      };
      findings.push(finding);
      tell(finding);
    }
    return findings;
  });
}
