// Submits a job, once. The slot and the attempt are durable before the request leaves. A reply that
// does not say for certain that nothing was made ends the submitting for good.
import { isAccountDisabled } from '../../db/accounts.ts';
import { classifyError, errorFields } from '../../db/driver/sql.ts';
import { closeAttempt, noteAccepted } from '../../db/video-jobs/moves.ts';
import type { UpstreamFailure } from '../../media/model/events.ts';
import type { Submitted, VideoTarget } from '../../media/providers/video/contract.ts';
import { pause } from '../../runtime/work/pause.ts';
import type { Candidate } from './candidates.ts';
import { fail, gone, next, type Run, type Step } from './run.ts';

/** When a candidate may be tried again, by the run's clock; never: it was refused for certain. */
type Refused = Map<number, number>;

interface Usable {
  index: number;
  candidate: Candidate;
  target: VideoTarget;
  slotsMax: number;
}

/** Until somebody has taken the job, or may have. */
export async function submit(run: Run): Promise<Step> {
  const { deps, job } = run;
  const refused: Refused = new Map();
  for (;;) {
    if (run.signal.aborted) return gone;
    const { atMs, code } = run.deadline();
    if (run.nowMs() >= atMs) return fail(code);
    if (await isAccountDisabled(deps.sql, job.accountId)) return fail('account_disabled');
    const left = usable(run, refused);
    if (left.open === 0) return fail('no_route_available');
    const taken = await takeSlot(run, left.now);
    if (taken === 'gone') return gone;
    if (taken === null) {
      await run.pause(left.now.length > 0 ? deps.limits.slotMs : waitMs(run, refused));
      continue;
    }
    noteBegun(run, taken.used);
    const step = taken.hasWaited
      ? await afterWait(run, taken.used, refused)
      : await attempt(run, taken.used, refused);
    if (step !== null) return step;
  }
}

/** Candidates that may be tried now, and how many are not out for good. */
function usable(run: Run, refused: Refused): { now: Usable[]; open: number } {
  const { health } = run.deps;
  const now: Usable[] = [];
  let open = 0;
  for (const [index, candidate] of run.candidates.entries()) {
    const untilMs = refused.get(index) ?? 0;
    const found = run.deps.target(candidate.routeId);
    if (found === null || !found.enabled || untilMs === Number.POSITIVE_INFINITY) continue;
    open += 1;
    if (untilMs > run.nowMs() || !health.allows(candidate.routeId, Date.now())) continue;
    const { target } = found;
    now.push({ index, candidate, target, slotsMax: target.jobsMax });
  }
  return { now, open };
}

interface Taken {
  used: Usable;
  /** In line: meanwhile the catalog and the account may have changed. */
  hasWaited: boolean;
}

/** The first candidate that has a slot; where all are taken, it waits in line for the first. */
async function takeSlot(run: Run, candidates: readonly Usable[]): Promise<Taken | 'gone' | null> {
  const { slots } = run.deps;
  const request = ({ index, candidate, slotsMax }: Usable) => ({
    id: run.id,
    epoch: run.epoch,
    candidate: index,
    provider: candidate.provider,
    slotsMax,
  });
  for (const each of candidates) {
    const begun = await slots.tryNow(request(each));
    if (begun === 'gone') return 'gone';
    if (begun === 'begun') return { used: each, hasWaited: false };
  }
  const [first] = candidates;
  if (first === undefined) return null;
  const waitedMs = Math.max(0, run.deadline().atMs - run.nowMs());
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(waitedMs)]);
  const begun = await slots.inLine(request(first), signal);
  if (begun === 'begun') return { used: first, hasWaited: true };
  return begun === 'gone' ? 'gone' : null;
}

/** As the row stands once a slot is taken. */
function noteBegun(run: Run, { index, candidate }: Usable): void {
  const { job } = run;
  Object.assign(job, {
    status: 'submitting',
    candidate: index,
    attemptOpen: true,
    provider: candidate.provider,
    submittingMs: job.submittingMs ?? run.nowMs(),
    attemptMs: run.nowMs(),
  });
}

/** The wait for a slot may have been long: account and catalog are asked again. */
async function afterWait(run: Run, { index }: Usable, refused: Refused): Promise<Step | null> {
  if (await isAccountDisabled(run.deps.sql, run.job.accountId)) return fail('account_disabled');
  const used = usable(run, refused).now.find((each) => each.index === index);
  if (used !== undefined) return attempt(run, used, refused);
  return (await giveBack(run)) ? null : gone;
}

/** Null: it was refused for certain, and others may be tried. */
async function attempt(run: Run, used: Usable, refused: Refused): Promise<Step | null> {
  const { index, candidate, target } = used;
  const outcome = await send(run, target);
  if (outcome.kind !== 'refused') return conclude(run, outcome);
  tellHealth(run, candidate, outcome.fault);
  if (!(await giveBack(run))) return gone;
  refused.set(index, againAt(run, outcome));
  return null;
}

/** Nothing was made: the slot is free again. False: the job is another's. */
async function giveBack(run: Run): Promise<boolean> {
  const { deps, job } = run;
  const isOurs = await closeAttempt(deps.sql, run);
  if (job.provider !== null) deps.slots.freed(job.provider);
  if (isOurs) job.attemptOpen = false;
  return isOurs;
}

/** A busy provider is asked again; one that is down, or does not know the model, is not. */
function againAt(
  run: Run,
  { fault, retryAfterMs }: Extract<Submitted, { kind: 'refused' }>,
): number {
  if (fault === 'down') return Number.POSITIVE_INFINITY;
  const { refusedMs, retryAfterMsMax, slotMs } = run.deps.limits;
  const wishedMs = Math.min(retryAfterMs ?? refusedMs, retryAfterMsMax);
  // Also a provider that asks for no pause gets one.
  return run.nowMs() + Math.max(slotMs, wishedMs);
}

/** Sends the submission; what came back says what is known of it. */
export async function send(run: Run, target: VideoTarget): Promise<Submitted> {
  const { deps, job } = run;
  const family = deps.family(target.family);
  const call = family.encodeSubmit(run.settings(), target, job.id);
  const result = await deps.client.run(call, {
    deadlines: deps.limits.call,
    signal: run.lostSignal,
  });
  const outcome: Submitted =
    'reply' in result
      ? family.readSubmit(result.reply)
      : result.failed === 'unsent'
        ? { kind: 'refused', fault: 'busy', retryAfterMs: null }
        : { kind: 'unknown' };
  deps.metrics.submitted(outcome.kind);
  return outcome;
}

/** What follows from a reply that is no refusal. */
export async function conclude(run: Run, outcome: Submitted): Promise<Step> {
  const { deps, job } = run;
  switch (outcome.kind) {
    case 'accepted': {
      const { upstreamId } = outcome;
      if (!(await keepAccepted(run, upstreamId))) return gone;
      const routeId = run.candidate?.routeId;
      if (routeId !== undefined) deps.health.succeeded(routeId, Date.now());
      Object.assign(job, {
        status: 'running',
        attemptOpen: false,
        upstreamId,
        runningMs: run.nowMs(),
      });
      return next;
    }
    case 'final':
      return fail(outcome.code);
    default:
      // The attempt stays open: it is looked for.
      return run.signal.aborted ? gone : next;
  }
}

/**
 * Nobody but this run knows the id: a database that is away is asked again until it has it. False:
 * somebody else has the job.
 */
async function keepAccepted(run: Run, upstreamId: string): Promise<boolean> {
  const { sql, limits, log } = run.deps;
  for (;;) {
    try {
      return await noteAccepted(sql, run, upstreamId);
    } catch (error) {
      if (classifyError(error) === 'bug' || run.nowMs() >= run.job.deadlineMs) throw error;
      log.warn({ ...errorFields(error), job: run.id }, 'a submission is not written down yet');
      await pause(limits.slotMs, run.lostSignal);
      if (run.lostSignal.aborted) return false;
    }
  }
}

function tellHealth(run: Run, { routeId }: Candidate, fault: 'down' | 'busy'): void {
  const failure: UpstreamFailure = {
    kind: fault === 'busy' ? 'busy' : 'failed',
    status: null,
    detail: 'a submission was refused',
    retryAfterMs: null,
  };
  run.deps.health.failed(routeId, failure, Date.now());
}

/** Until the first of those that may be tried again. */
function waitMs(run: Run, refused: Refused): number {
  const { slotMs } = run.deps.limits;
  const times = [...refused.values()].filter(Number.isFinite);
  return Math.max(slotMs, Math.min(...times, run.nowMs() + slotMs * 10) - run.nowMs());
}
