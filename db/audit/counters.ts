// Rules of the books for what keys spend and hold. Spent is what owners and the journal say. Held
// is what holds have, and who has a cap is counted.
import { holderRows } from '../ledger/holders.ts';
import { holdMillisText, holdsOfKeys } from '../spend/holds.ts';

const each = (text: (holder: (typeof holderRows)[number]) => string): string =>
  holderRows.map(text).join('\n      UNION ALL ');

const counterName = (alias: string): string =>
  `${alias}.spender || ' of ' || ${alias}.wallet_id || ', ' || ${alias}.period || ' from '
        || to_char(${alias}.starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;

export const counterRules = [
  {
    name: 'what a spender has spent is what it was charged',
    count: 'SELECT count(*) FROM spend',
    violations: `WITH charged AS MATERIALIZED (
      ${each(
        ({ table }) => `SELECT o.wallet_id, o.api_key_id AS spender, o.hold_id, o.charge_micros
        FROM ${table} o
        WHERE o.charge_micros IS NOT NULL AND o.api_key_id IN (SELECT spender FROM spend)`,
      )}),
      short AS MATERIALIZED (
        SELECT split_part(operation_id, '.', 1) AS hold_id, shortfall_micros FROM ledger
        WHERE kind IN ('settle', 'late') AND shortfall_micros < 0),
      paid AS MATERIALIZED (
        SELECT c.wallet_id, c.spender, to_timestamp(${holdMillisText('c.hold_id')} / 1000.0) AS at,
          c.charge_micros + coalesce(s.shortfall_micros, 0) AS micros
        FROM charged c LEFT JOIN short s ON s.hold_id = c.hold_id)
      SELECT ${counterName('s')} || ': spent ' || s.spent_micros || ', charged '
        || coalesce(sum(p.micros), 0)
      FROM spend s LEFT JOIN paid p ON p.wallet_id = s.wallet_id AND p.spender = s.spender
        AND p.at >= s.starts_at AND p.at < s.ends_at
      GROUP BY s.wallet_id, s.spender, s.period, s.starts_at, s.spent_micros
      HAVING s.spent_micros <> coalesce(sum(p.micros), 0)`,
  },
  {
    name: 'what a spender has held is what its holds have',
    count: 'SELECT count(*) FROM spend',
    violations: `WITH held AS MATERIALIZED (
        SELECT h.wallet_id, h.api_key_id AS spender, h.id, h.amount_micros
        FROM (${holdsOfKeys(holderRows, 'h.amount_micros > 0')}) h
        JOIN api_keys k ON k.id = h.api_key_id AND k.wallet_id = h.wallet_id
        WHERE k.limit_micros IS NOT NULL),
      counted AS MATERIALIZED (
        SELECT h.*, s.period, s.starts_at FROM held h LEFT JOIN spend s
          ON s.wallet_id = h.wallet_id AND s.spender = h.spender
          AND to_timestamp(${holdMillisText('h.id')} / 1000.0) >= s.starts_at
          AND to_timestamp(${holdMillisText('h.id')} / 1000.0) < s.ends_at)
      SELECT ${counterName('s')} || ': held ' || s.held_micros || ', holds '
        || coalesce(sum(c.amount_micros), 0)
      FROM spend s LEFT JOIN counted c USING (wallet_id, spender, period, starts_at)
      GROUP BY s.wallet_id, s.spender, s.period, s.starts_at, s.held_micros
      HAVING s.held_micros <> coalesce(sum(c.amount_micros), 0)
      UNION ALL SELECT id || ': not counted for ' || spender FROM counted WHERE period IS NULL`,
  },
  {
    name: 'a counter is of the period that its key is limited by',
    count: 'SELECT count(*) FROM spend',
    violations: `SELECT ${counterName('s')} || ': limited by ' || coalesce(k.limit_period, 'none')
      FROM spend s LEFT JOIN api_keys k ON k.id = s.spender AND k.wallet_id = s.wallet_id
      WHERE k.limit_period IS DISTINCT FROM s.period`,
  },
];
