// What an administrator decides. Of two decisions at the same moment one waits for the other, and
// finds that it came.
import type { NewAuditEvent } from '../audit-events.ts';
import { audited } from '../audit-events.ts';
import type { Sql } from '../driver/sql.ts';
import { findEligibility } from '../promotions/eligible.ts';
import { keepPrint } from './prints.ts';
import type { RewardState } from './submissions.ts';

export interface Review {
  submissionId: string;
  decision: 'approve' | 'reject';
  notes: string;
  /** The administrator's account. */
  actor: string;
}

export type Reviewed =
  /** `isNew`: by this one; else it was decided so before. */
  | { status: 'decided'; isNew: boolean }
  | { status: 'not_found' }
  /** It was decided otherwise. */
  | { status: 'other' }
  /** Nobody has to decide it now. */
  | { status: 'wrong_state'; state: RewardState }
  | { status: 'ineligible'; reason: 'unverified' | 'billing_restricted' };

type Row = {
  account_id: string;
  state: RewardState;
  claimed: boolean;
  reviewed: boolean;
  print: string | null;
};

/** A rejection is final with it; an approval claims the credits, which have to be granted then. */
export function reviewReward(
  sql: Sql,
  { submissionId: id, decision, notes, actor }: Review,
  event: (accountId: string) => NewAuditEvent,
): Promise<Reviewed> {
  return audited<Reviewed>(sql, async (transaction) => {
    const [row] = await transaction<Row[]>`
      SELECT account_id, state, claimed_at IS NOT NULL AS claimed,
        reviewed_at IS NOT NULL AS reviewed, page_print::text AS print
      FROM reward_submissions WHERE id = ${id}::uuid FOR UPDATE`;
    const bar = await barOf(row, decision, async (accountId) =>
      findEligibility(transaction, accountId),
    );
    if (row === undefined || bar !== null) return { result: bar ?? notFound, event: null };
    const isApproval = decision === 'approve';
    await transaction`
      UPDATE reward_submissions SET review_notes = ${notes}, reviewed_by = ${actor},
        reviewed_at = now(), updated_at = now(),
        state = CASE WHEN ${isApproval} THEN state ELSE 'rejected' END,
        claimed_at = CASE WHEN ${isApproval} THEN now() END
      WHERE id = ${id}::uuid`;
    if (isApproval && row.print !== null) await keepPrint(transaction, id, BigInt(row.print));
    return { result: { status: 'decided', isNew: true }, event: event(row.account_id) };
  });
}

const notFound: Reviewed = { status: 'not_found' };

/** What stands against the decision, or makes it needless; null: nothing. */
async function barOf(
  row: Row | undefined,
  decision: Review['decision'],
  eligibility: (accountId: string) => ReturnType<typeof findEligibility>,
): Promise<Reviewed | null> {
  if (row === undefined) return notFound;
  const { state, claimed, reviewed } = row;
  const isApproved = claimed || state === 'approved';
  if (isApproved || (state === 'rejected' && reviewed)) {
    const isSame = isApproved === (decision === 'approve');
    return isSame ? { status: 'decided', isNew: false } : { status: 'other' };
  }
  if (state !== 'needs_review') return { status: 'wrong_state', state };
  if (decision === 'reject') return null;
  const reason = await eligibility(row.account_id);
  return reason === 'eligible' ? null : { status: 'ineligible', reason };
}
