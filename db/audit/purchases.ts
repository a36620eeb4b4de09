// Rules of what was bought. Each purchase was credited once. Its steps, its facts and the journal
// say what was reversed of it, and what reversals could not take is debt.
import type { Rule } from './rule.ts';

const isCredited = "p.status IN ('completed', 'refunded')";

export const purchaseRules: readonly Rule[] = [
  {
    name: 'every completed purchase has its one grant, and no other has one',
    count: `SELECT count(*) FROM purchases p WHERE ${isCredited}`,
    violations: `SELECT p.id || ' (' || p.status || '): '
        || coalesce('granted ' || g.amount_micros || ' of ' || p.credits_micros, 'no grant')
      FROM purchases p LEFT JOIN grants g
        ON g.operation_id = p.id || '.paid' AND g.wallet_id = p.wallet_id AND g.kind = 'purchase'
      WHERE ${isCredited} AND g.amount_micros IS DISTINCT FROM p.credits_micros
    UNION ALL SELECT g.operation_id || ': granted, and its purchase is '
        || coalesce(p.status, 'missing')
      FROM grants g LEFT JOIN purchases p ON p.id = split_part(g.operation_id, '.', 1)
      WHERE g.kind = 'purchase' AND g.operation_id LIKE 'pur%.paid'
        AND (${isCredited}) IS NOT TRUE`,
  },
  {
    name: 'what is reversed of a purchase is what its steps say, and all of it when none is open',
    count: 'SELECT count(*) FROM purchase_steps',
    violations: `WITH steps AS (
      SELECT purchase_id, coalesce(sum(micros) FILTER (WHERE posted_at IS NOT NULL), 0) AS posted,
        bool_or(posted_at IS NULL) AS open FROM purchase_steps GROUP BY purchase_id)
    SELECT coalesce(p.id, s.purchase_id) || ': reversed ' || coalesce(p.reversed_micros, 0)
        || ', steps ' || coalesce(s.posted, 0) || ', target ' || coalesce(p.target_micros, 0)
    FROM purchases p FULL JOIN steps s ON s.purchase_id = p.id
    WHERE coalesce(p.reversed_micros, -1) <> coalesce(s.posted, 0)
      OR (s.open IS NOT TRUE AND p.target_micros <> coalesce(s.posted, 0))`,
  },
  {
    name: 'every posted step is in the journal, and no other',
    count: "SELECT count(*) FROM ledger WHERE kind IN ('reverse', 'restore')",
    violations: `SELECT coalesce(l.operation_id, s.purchase_id || '.rev.' || s.step) || ': journal '
        || coalesce(l.purchase_micros::text, 'nothing') || ', step '
        || coalesce(s.micros::text, 'nothing')
    FROM (SELECT * FROM ledger WHERE kind IN ('reverse', 'restore')) l
    FULL JOIN (SELECT * FROM purchase_steps WHERE posted_at IS NOT NULL) s
      ON l.operation_id = s.purchase_id || '.rev.' || s.step AND l.wallet_id = s.wallet_id
    WHERE l.purchase_micros IS DISTINCT FROM s.micros`,
  },
  {
    name: 'what purchases owe is what reversals left',
    count: 'SELECT count(*) FROM purchases WHERE debt_micros > 0',
    violations: `WITH left_over AS (
      SELECT wallet_id, -sum(shortfall_micros) AS micros FROM ledger
      WHERE kind IN ('grant', 'reverse', 'restore', 'collect') GROUP BY wallet_id),
    owed AS (SELECT wallet_id, sum(debt_micros) AS micros FROM purchases GROUP BY wallet_id)
    SELECT coalesce(o.wallet_id, l.wallet_id) || ': owed ' || coalesce(o.micros, 0)
        || ', journal ' || coalesce(l.micros, 0)
    FROM owed o FULL JOIN left_over l ON l.wallet_id = o.wallet_id
    WHERE coalesce(o.micros, 0) <> coalesce(l.micros, 0)`,
  },
];
