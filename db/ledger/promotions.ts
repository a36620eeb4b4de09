// Claims of promotional credit that are granted: each says so in the statement that gives it. The
// move of a reward to `approved` is this one.
import { lookedUp } from '../driver/lookup.ts';
import { definePart, type Part } from './part.ts';
import { ownedRows } from './write.ts';

function grantedPart(name: string, key: string, set: string): Part {
  return definePart<{ id: string }>({
    name,
    rows: (write) => ownedRows(write, name),
    columns: [['id', 'text', (row) => row.id]],
    text: (rows) => `UPDATE ${name} c SET ${set} FROM ${rows}
      WHERE ${lookedUp('c.id', key)} AND ${lookedUp('c.wallet_id', 'r.wallet_id')}
        AND c.granted_at IS NULL`,
  });
}

export const codesPart = grantedPart('code_redemptions', 'r.id', 'granted_at = now()');
export const referralsPart = grantedPart('referral_credits', 'r.id', 'granted_at = now()');
export const rewardsPart = grantedPart(
  'reward_submissions',
  'r.id::uuid',
  `granted_at = now(), updated_at = now(), state = 'approved',
        claimed_at = coalesce(c.claimed_at, now())`,
);
