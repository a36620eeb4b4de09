// POST /api/admin/rewards/review: an administrator decides. Of two decisions the first one counts.
import * as v from 'valibot';
import { grantClaimed } from '../../../actors/promotions/grant.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { type Reviewed, reviewReward } from '../../../db/rewards/review.ts';
import { findSubmission, type Submission } from '../../../db/rewards/submissions.ts';
import { maxCharacters } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { adminSubmissionBody, adminSubmissionSchema, noStore } from '../../rewards/schema.ts';
import type { Services } from '../../services.ts';

export const reviewSubmission = defineRoute({
  method: 'POST',
  path: '/api/admin/rewards/review',
  operationId: 'reviewReward',
  summary: 'Approve or reject a submission',
  description:
    'One that `needs_review`. An approval grants the credits with it, once. The same decision ' +
    'again is answered as it is, the other one is 409 `conflict`. 409 `invalid_state`: nobody ' +
    'has to decide it now, or its account may not be given credits, with the reason. ' +
    '503: an approval is noted, and its credits follow.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: {
      submission_id: '0b0e0f2a-6f0c-4a1e-9d55-0f4f0a5b6c7d',
      decision: 'approve',
      notes: 'A good article.',
    },
    schema: v.strictObject({
      submission_id: v.pipe(v.string(), v.uuid('expected a UUID')),
      decision: v.picklist(['approve', 'reject']),
      notes: v.pipe(v.string(), maxCharacters(1_000)),
    }),
  },
  replies: {
    200: {
      description: 'The submission as it is now.',
      schema: v.strictObject({ ok: v.literal(true), submission: adminSubmissionSchema }),
    },
  },
  problems: ['not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql, system } = services;
    const { submission_id: submissionId, decision, notes } = body;
    const review = { submissionId, decision, notes, actor: caller.accountId };
    const event = (accountId: string) => ({
      id: newAuditId(system.node),
      accountId,
      actor: caller.accountId,
      action: `reward.${decision}`,
      subject: `reward:${submissionId}`,
      details: { notes },
    });
    requireDecided(await withDeadline(reviewReward(sql, review, event)));
    const submission = await grantApproved(services, submissionId);
    const json = { ok: true, submission: adminSubmissionBody(submission) };
    return { status: 200, headers: noStore, json };
  },
});

function requireDecided(reviewed: Reviewed): void {
  switch (reviewed.status) {
    case 'decided':
      return;
    case 'not_found':
      throw new Problem('not_found', { param: 'submission_id' });
    case 'other':
      throw new Problem('conflict', { message: 'The submission was decided otherwise.' });
    case 'wrong_state':
      throw new Problem('invalid_state', {
        message: `The submission is ${reviewed.state}: there is nothing to decide.`,
        details: { state: reviewed.state },
      });
    case 'ineligible':
      throw new Problem('invalid_state', {
        message: 'The account may not be given promotional credit.',
        details: { reason: reviewed.reason },
      });
  }
}

/** The credits are granted with the move to `approved`; what was rejected has none. */
async function grantApproved(
  { sql, wallet, limits }: Pick<Services, 'sql' | 'wallet' | 'limits'>,
  submissionId: string,
): Promise<Submission> {
  const find = () => withDeadline(findSubmission(sql, submissionId));
  const found = await find();
  if (found === null) throw new Problem('not_found', { param: 'submission_id' });
  if (found.state === 'rejected') return found;
  const { grantMs } = limits.promotions;
  const to = wallet(found.walletId);
  const status = await grantClaimed(sql, to, 'reward', submissionId, grantMs);
  if (status !== 'granted') throw new Problem('dependency_unavailable');
  return (await find()) ?? found;
}
