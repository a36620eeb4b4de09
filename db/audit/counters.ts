// Rules of the books for what keys, members and organizations spend and hold. Spent is what owners
// and the journal say. Held is what holds have, and who has a cap is counted.
import { holderRows } from '../ledger/holders.ts';
import { holdMillisText, holdsOfSpenders } from '../spend/holds.ts';
import { sweptAfterDays } from '../spend/rows.ts';

const each = (text: (holder: (typeof holderRows)[number]) => string): string =>
  holderRows.map(text).join('\n      UNION ALL ');

const counterName = (alias: string): string =>
  `${alias}.spender || ' of ' || ${alias}.wallet_id || ', ' || ${alias}.period || ' from '
        || to_char(${alias}.starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;

const timeOf = (hold: string): string => `to_timestamp(${holdMillisText(hold)} / 1000.0)`;
const isWithin = (moment: string): string => `${moment} >= s.starts_at AND ${moment} < s.ends_at`;

/** Wallets that count what all spend, and what each account does. */
const organizations = `(SELECT id FROM wallets WHERE type = 'organization')`;

/** Whatever began in a month whose counters are not swept yet. */
const isKept = (moment: string): string =>
  `date_trunc('month', ${moment}, 'UTC') + interval '1 month'
        > now() - interval '${sweptAfterDays - 1} days'`;

export const counterRules = [
  {
    name: 'what a spender has spent is what it was charged',
    count: 'SELECT count(*) FROM spend',
    violations: `WITH charged AS MATERIALIZED (
      ${each(
        ({ table }) => `SELECT o.wallet_id, o.account_id, o.api_key_id, o.hold_id, o.charge_micros
        FROM ${table} o WHERE o.charge_micros IS NOT NULL
          AND (o.api_key_id IN (SELECT spender FROM spend) OR o.wallet_id IN ${organizations})`,
      )}),
      short AS MATERIALIZED (
        SELECT split_part(operation_id, '.', 1) AS hold_id, shortfall_micros FROM ledger
        WHERE kind IN ('settle', 'late') AND shortfall_micros < 0),
      paid AS MATERIALIZED (
        SELECT c.wallet_id, c.account_id, c.api_key_id, ${timeOf('c.hold_id')} AS at,
          c.charge_micros + coalesce(s.shortfall_micros, 0) AS micros
        FROM charged c LEFT JOIN short s ON s.hold_id = c.hold_id),
      spenders AS MATERIALIZED (
        SELECT wallet_id, api_key_id AS spender, at, micros FROM paid WHERE api_key_id IS NOT NULL
        UNION ALL SELECT wallet_id, account_id, at, micros FROM paid
          WHERE wallet_id IN ${organizations})
      SELECT ${counterName('s')} || ': spent ' || s.spent_micros || ', brought '
        || s.brought_micros || ', charged ' || coalesce(sum(p.micros), 0)
      FROM spend s LEFT JOIN spenders p ON p.wallet_id = s.wallet_id AND p.spender = s.spender
        AND ${isWithin('p.at')}
      WHERE s.spender <> s.wallet_id
      GROUP BY s.wallet_id, s.spender, s.period, s.starts_at, s.spent_micros, s.brought_micros
      HAVING s.spent_micros <> coalesce(sum(p.micros), 0) + s.brought_micros
      UNION ALL SELECT p.account_id || ' of ' || p.wallet_id || ': a charge is not counted'
      FROM paid p LEFT JOIN spend s ON s.wallet_id = p.wallet_id AND s.spender = p.account_id
        AND ${isWithin('p.at')}
      WHERE p.wallet_id IN ${organizations} AND p.micros > 0 AND s.wallet_id IS NULL
        AND ${isKept('p.at')}`,
  },
  {
    name: 'what an organization has spent is what the journal charged its wallet',
    count: 'SELECT count(*) FROM spend WHERE spender = wallet_id',
    violations: `WITH paid AS MATERIALIZED (
        SELECT wallet_id, ${timeOf("split_part(operation_id, '.', 1)")} AS at,
          revenue_micros + provider_cost_micros + shortfall_micros AS micros
        FROM ledger WHERE kind IN ('settle', 'late') AND wallet_id IN ${organizations})
      SELECT ${counterName('s')} || ': spent ' || s.spent_micros || ', journal '
        || coalesce(sum(p.micros), 0)
      FROM spend s LEFT JOIN paid p ON p.wallet_id = s.wallet_id AND ${isWithin('p.at')}
      WHERE s.spender = s.wallet_id
      GROUP BY s.wallet_id, s.spender, s.period, s.starts_at, s.spent_micros
      HAVING s.spent_micros <> coalesce(sum(p.micros), 0)
      UNION ALL SELECT DISTINCT p.wallet_id || ': a charge is not counted'
      FROM paid p LEFT JOIN spend s ON s.wallet_id = p.wallet_id AND s.spender = p.wallet_id
        AND ${isWithin('p.at')}
      WHERE p.micros > 0 AND s.wallet_id IS NULL AND ${isKept('p.at')}`,
  },
  {
    name: 'what a spender has held is what its holds have',
    count: 'SELECT count(*) FROM spend',
    violations: `WITH owned AS MATERIALIZED (${holdsOfSpenders(holderRows, 'h.amount_micros > 0')}),
      held AS MATERIALIZED (
        SELECT h.wallet_id, h.api_key_id AS spender, h.id, h.amount_micros FROM owned h
        JOIN api_keys k ON k.id = h.api_key_id AND k.wallet_id = h.wallet_id
        WHERE k.limit_micros IS NOT NULL
        UNION ALL SELECT wallet_id, account_id, id, amount_micros FROM owned
          WHERE wallet_id IN ${organizations}
        UNION ALL SELECT wallet_id, wallet_id, id, amount_micros FROM holds
          WHERE wallet_id IN ${organizations} AND amount_micros > 0),
      counted AS MATERIALIZED (
        SELECT h.*, s.period, s.starts_at FROM held h LEFT JOIN spend s
          ON s.wallet_id = h.wallet_id AND s.spender = h.spender
          AND ${isWithin(timeOf('h.id'))})
      SELECT ${counterName('s')} || ': held ' || s.held_micros || ', holds '
        || coalesce(sum(c.amount_micros), 0)
      FROM spend s LEFT JOIN counted c USING (wallet_id, spender, period, starts_at)
      GROUP BY s.wallet_id, s.spender, s.period, s.starts_at, s.held_micros
      HAVING s.held_micros <> coalesce(sum(c.amount_micros), 0)
      UNION ALL SELECT id || ': not counted for ' || spender FROM counted WHERE period IS NULL`,
  },
  {
    name: 'a counter is of the period that its spender is limited by',
    count: 'SELECT count(*) FROM spend',
    violations: `SELECT ${counterName('s')} || ': limited by '
        || coalesce(k.limit_period, o.period, 'none')
      FROM spend s LEFT JOIN api_keys k ON k.id = s.spender AND k.wallet_id = s.wallet_id
      LEFT JOIN LATERAL (SELECT 'month' AS period FROM organizations g
        WHERE g.wallet_id = s.wallet_id AND (s.spender IN (g.wallet_id, g.account_id) OR EXISTS (
          SELECT FROM organization_members m
          WHERE m.organization_id = g.id AND m.account_id = s.spender))) o ON true
      WHERE coalesce(k.limit_period, o.period) IS DISTINCT FROM s.period`,
  },
];
