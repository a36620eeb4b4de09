// Rewards and promotional credit as replies have them.
import * as v from 'valibot';
import { verificationMethods } from '../../actors/catalog/promotions/members.ts';
import type { Submission } from '../../db/rewards/submissions.ts';

const microsPerCredit = 1_000_000n;
const text = v.string();
const moment = v.nullable(v.string());

export const rewardStates = ['draft', 'verifying', 'needs_review', 'approved', 'rejected'] as const;

const submissionEntries = {
  id: v.pipe(text, v.uuid()),
  task_key: text,
  credits: v.pipe(v.number(), v.integer(), v.minValue(0)),
  state: v.picklist(rewardStates),
  task_title: v.optional(text),
  challenge_code: v.optional(text),
  target_url: v.optional(text),
  evidence_url: v.optional(text),
  evidence_notes: v.optional(text),
  verification_method: v.optional(v.picklist(verificationMethods)),
  verification_confidence: v.optional(v.nullable(v.number())),
  verification_summary: v.optional(text),
  verification_checks: v.optional(v.array(text)),
  review_notes: v.optional(text),
  credited_at: v.optional(moment),
};

export const submissionSchema = v.pipe(
  v.strictObject(submissionEntries),
  v.title('RewardSubmission'),
);

/** What administrators see beside it. */
export const adminSubmissionSchema = v.pipe(
  v.strictObject({
    ...submissionEntries,
    account_id: text,
    evidences: v.pipe(v.number(), v.description('How many were handed in, of 3.')),
    reviewed_at: moment,
    created_at: text,
    updated_at: text,
  }),
  v.title('AdminRewardSubmission'),
);

type Body = v.InferOutput<typeof submissionSchema>;

/** Members that nothing is known of are left out. */
export function submissionBody(submission: Submission): Body {
  const { challengeCode, targetUrl, evidenceUrl, evidenceNotes, summary } = submission;
  const { checks, reviewNotes, micros } = submission;
  return {
    id: submission.id,
    task_key: submission.task,
    credits: Number(micros / microsPerCredit),
    state: submission.state,
    task_title: submission.title,
    ...(challengeCode === null ? {} : { challenge_code: challengeCode }),
    ...(targetUrl === null ? {} : { target_url: targetUrl }),
    ...(evidenceUrl === null ? {} : { evidence_url: evidenceUrl }),
    ...(evidenceNotes === null ? {} : { evidence_notes: evidenceNotes }),
    verification_method: submission.method,
    verification_confidence: submission.confidence,
    ...(summary === null ? {} : { verification_summary: summary }),
    ...(checks === null ? {} : { verification_checks: checks }),
    ...(reviewNotes === null ? {} : { review_notes: reviewNotes }),
    credited_at: submission.grantedAt?.toISOString() ?? null,
  };
}

export function adminSubmissionBody(
  submission: Submission,
): v.InferOutput<typeof adminSubmissionSchema> {
  return {
    ...submissionBody(submission),
    account_id: submission.accountId,
    evidences: submission.evidences,
    reviewed_at: submission.reviewedAt?.toISOString() ?? null,
    created_at: submission.createdAt.toISOString(),
    updated_at: submission.updatedAt.toISOString(),
  };
}

/** What a cursor of these lists holds: microseconds and an id. */
export const placePattern = /^\d{1,18}\/[0-9a-f-]{36}$/;

export const noStore = { 'cache-control': 'no-store' } as const;
