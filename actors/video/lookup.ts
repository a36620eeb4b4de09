// Looks for a submission whose reply was lost. It is never made again, unless the provider honours
// our key; what is found is adopted only if it can be nobody else's.

import { findClaimedUpstreamIds, hasSimilarSubmission } from '../../db/video-jobs.ts';
import type { VideoFamily, VideoTarget } from '../../media/providers/video/contract.ts';
import { fail, gone, type Run, type Step } from './run.ts';
import { conclude, send } from './submission.ts';

/** Clocks of others differ: what they date earlier than this before the attempt is another's. */
const clockDifferenceMs = 60_000;

/** Until it is found, or the time for it is over. */
export async function lookUp(run: Run): Promise<Step> {
  const { deps, job } = run;
  const { limits } = deps;
  const untilMs = (job.attemptMs ?? job.createdMs) + limits.lookUpMs;
  for (;;) {
    if (run.signal.aborted) return gone;
    const found = deps.target(run.candidate?.routeId ?? '');
    const target = found?.target ?? null;
    if (target === null || target.idempotency === 'none') return fail('submission_unknown');
    // First of all: lists lag, and an equal submission of the same moment must be seen.
    await run.pause(Math.min(limits.lookUpEveryMs, untilMs - run.nowMs()));
    if (run.signal.aborted) return gone;
    const step = await look(run, deps.family(target.family), target);
    if (step !== null) return step;
    if (run.nowMs() >= untilMs) return fail('submission_unknown');
  }
}

/** Null: nothing is known yet. */
async function look(run: Run, family: VideoFamily, target: VideoTarget): Promise<Step | null> {
  if (target.idempotency === 'list') {
    const upstreamId = await findInList(run, family, target);
    return upstreamId === null ? null : conclude(run, { kind: 'accepted', upstreamId });
  }
  const outcome = await send(run, target);
  // A refusal is one of the repetition: whether the first was taken is as unknown as before.
  const isKnown = outcome.kind === 'accepted' || outcome.kind === 'final';
  return isKnown ? conclude(run, outcome) : null;
}

/** The one entry that can be ours. */
async function findInList(
  run: Run,
  family: VideoFamily,
  target: VideoTarget,
): Promise<string | null> {
  const { deps, job } = run;
  if (family.list === null || job.provider === null) return null;
  const { limits, client, sql } = deps;
  const call = family.list.encode(target);
  const result = await client.run(call, { deadlines: limits.call, signal: run.signal });
  if (!('reply' in result)) return null;
  const listed = family.list.read(result.reply, run.settings(), target);
  const sinceMs = (job.attemptMs ?? job.createdMs) - clockDifferenceMs;
  const alike = (listed ?? []).filter(
    ({ matches, createdAtMs }) => matches && createdAtMs >= sinceMs,
  );
  if (alike.length === 0) return null;
  const claimed = await findClaimedUpstreamIds(
    sql,
    job.provider,
    alike.map(({ upstreamId }) => upstreamId),
  );
  const [only, ...others] = alike.filter(({ upstreamId }) => !claimed.has(upstreamId));
  if (only === undefined || others.length > 0) return null;
  return (await hasSimilarSubmission(sql, job)) ? null : only.upstreamId;
}
