// Asks the provider how far it is, until it is done, has failed, or its time is over. A reply that
// says nothing of the job ends nothing: the job is known to exist.
import { noteCost, noteRendered } from '../../db/video-jobs/moves.ts';
import type { Polled, VideoTarget } from '../../media/providers/video/contract.ts';
import { fail, gone, next, type Run, type Step } from './run.ts';

const progressByTimeMax = 90;
const progressMax = 99;

/** Until the provider has ended it in one way or the other. */
export async function poll(run: Run): Promise<Step> {
  const { deps } = run;
  let lostSinceMs: number | null = null;
  for (;;) {
    if (run.signal.aborted) return gone;
    const { atMs, code } = run.deadline();
    if (run.nowMs() >= atMs) return fail(code);
    const target = targetOf(run);
    const polled: Polled =
      target === null ? { kind: 'unclear', retryAfterMs: null } : await ask(run, target);
    if (run.signal.aborted) return gone;
    if (polled.kind === 'done') return rendered(run, polled);
    if (polled.kind === 'failed') {
      if (polled.costTicks !== null) await noteCost(deps.sql, run, polled.costTicks);
      return fail(polled.code);
    }
    if (polled.kind === 'running') note(run, polled.progress);
    else deps.metrics.pollFailed(polled.kind);
    lostSinceMs = polled.kind === 'lost' ? (lostSinceMs ?? run.nowMs()) : null;
    if (lostSinceMs !== null && run.nowMs() - lostSinceMs >= deps.limits.lostMs) {
      return fail('provider_lost');
    }
    await run.pause(waitOf(run, polled, target));
  }
}

/** One poll, under the record as it is now: a key that was changed counts at once. */
export async function ask(run: Run, target: VideoTarget): Promise<Polled> {
  const { client, limits, family: familyOf } = run.deps;
  const upstreamId = run.job.upstreamId ?? '';
  const family = familyOf(target.family);
  const call = family.encodePoll(upstreamId, target);
  const result = await client.run(call, { deadlines: limits.call, signal: run.signal });
  if (!('reply' in result)) return { kind: 'unclear', retryAfterMs: null };
  return family.readPoll(result.reply, upstreamId, target);
}

/** Also of a provider or a model that is disabled by now: what was submitted ends. */
export function targetOf(run: Run): VideoTarget | null {
  return run.deps.target(run.candidate?.routeId ?? '')?.target ?? null;
}

async function rendered(run: Run, done: Extract<Polled, { kind: 'done' }>): Promise<Step> {
  const { deps, job } = run;
  const { usage, costTicks, file } = done;
  const usageJson =
    usage === null
      ? null
      : JSON.stringify({
          completion_tokens: usage.completionTokens,
          total_tokens: usage.totalTokens,
        });
  run.file = file;
  if (!(await noteRendered(deps.sql, run, { usageJson, costTicks }))) return gone;
  if (job.provider !== null) deps.slots.freed(job.provider);
  Object.assign(job, { finalizingMs: run.nowMs(), usage: usageJson, costTicks });
  const routeId = run.candidate?.routeId;
  if (routeId !== undefined) {
    deps.durations.add(routeId, run.nowMs() - (job.runningMs ?? run.nowMs()));
  }
  return next;
}

/** What the provider says, else what the time says; it never falls. */
function note(run: Run, said: number | null): void {
  const { durations, limits } = run.deps;
  const medianMs = durations.medianMs(run.candidate?.routeId ?? '') ?? limits.durationMsGuess;
  const elapsedMs = run.nowMs() - (run.job.runningMs ?? run.nowMs());
  const byTime = Math.min(progressByTimeMax, (100 * elapsedMs) / medianMs);
  const progress = Math.floor(Math.min(progressMax, said ?? byTime));
  run.progress = Math.max(run.progress, progress);
}

function waitOf(run: Run, polled: Polled, target: VideoTarget | null): number {
  const { limits, family } = run.deps;
  const asked = polled.kind === 'unclear' ? polled.retryAfterMs : null;
  // Also a provider that asks for no pause gets one.
  if (asked !== null) return Math.max(limits.slotMs, Math.min(asked, limits.retryAfterMsMax));
  const everyMs = target === null ? limits.retryAfterMsMax : family(target.family).pollMs;
  const spread = 1 + limits.pollJitter * (2 * Math.random() - 1);
  return (everyMs * spread) / limits.haste;
}
