// Video jobs as administrators see them: with their provider, their steps and its costs.
import * as v from 'valibot';
import type { Candidate } from '../../../actors/video/candidates.ts';
import type { VideoJob } from '../../../db/video-jobs.ts';
import { jobBody, timeText } from '../../video/job-body.ts';
import { jobSchema } from '../../video/schema.ts';

const time = v.nullable(v.string());

export const adminJobSchema = v.strictObject({
  ...jobSchema.entries,
  account_id: v.string(),
  wallet_id: v.string(),
  api_key_id: v.nullable(v.string()),
  provider: v.nullable(v.string()),
  upstream_id: v.nullable(v.string()),
  video_model: v.nullable(v.string()),
  candidates: v.array(
    v.strictObject({
      video_model: v.string(),
      provider: v.string(),
      upstream_model: v.string(),
      charge_exact: v.string(),
    }),
  ),
  charge_exact: v.nullable(v.string()),
  cost_in_usd_ticks: v.nullable(v.number()),
  note: v.nullable(v.string()),
  steps: v.strictObject({
    submitting_at: time,
    attempt_at: time,
    running_at: time,
    finalizing_at: time,
    stored_at: time,
  }),
  deadline_at: v.string(),
});

const timeOrNull = (ms: number | null) => (ms === null ? null : timeText(ms));

export function adminJobBody(job: VideoJob): v.InferOutput<typeof adminJobSchema> {
  const candidates = JSON.parse(job.candidates) as Candidate[];
  return {
    ...jobBody(job),
    account_id: job.accountId,
    wallet_id: job.walletId,
    api_key_id: job.apiKeyId,
    provider: job.provider,
    upstream_id: job.upstreamId,
    video_model: candidates[job.candidate ?? -1]?.alias ?? null,
    candidates: candidates.map((each) => ({
      video_model: each.alias,
      provider: each.provider,
      upstream_model: each.upstreamModel,
      charge_exact: each.charge,
    })),
    charge_exact: job.chargeMicros?.toString() ?? null,
    cost_in_usd_ticks: job.costTicks,
    note: job.note,
    steps: {
      submitting_at: timeOrNull(job.submittingMs),
      attempt_at: timeOrNull(job.attemptMs),
      running_at: timeOrNull(job.runningMs),
      finalizing_at: timeOrNull(job.finalizingMs),
      stored_at: timeOrNull(job.storedMs),
    },
    deadline_at: timeText(job.deadlineMs),
  };
}
