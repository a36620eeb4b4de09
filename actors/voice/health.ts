// What a voice session learns of its provider route, told to the shard's health like a generation's
// attempts: the start decides success, and a session that is lost later counts as a failure too.
import type { UpstreamFailure } from '../../media/model/events.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { LiveFailureKind } from '../../media/providers/live/contract.ts';
import { plainFailure } from '../../media/transport/refusal.ts';
import { stoodStillMs } from '../../runtime/awake.ts';
import { noProbe } from '../provider-health/breaker.ts';
import type { VoiceSession } from './state.ts';

const failureKinds: Record<LiveFailureKind, UpstreamFailure['kind']> = {
  refused: 'failed',
  busy: 'busy',
  unpaid: 'unpaid',
  connect: 'connect',
  closed: 'cut',
  garbage: 'garbage',
  timeout: 'timeout',
};

/** The next target to call: one that its breaker admits, or the last there is. Null: none left. */
export function takeTarget(session: VoiceSession): UpstreamTarget | null {
  const { deps, started } = session;
  const nowMs = Date.now();
  while (started !== null) {
    const target = started.targets.shift();
    if (target === undefined) break;
    const { routeId } = target;
    // The probe of a half-open breaker is taken by another session: this one goes elsewhere.
    const probe = deps.health.started(routeId, nowMs);
    if (probe === null && started.targets.length > 0) continue;
    session.route = {
      routeId,
      probe: probe ?? noProbe,
      startedMs: nowMs,
      stoodMs: stoodStillMs(),
      isReady: false,
      isFree: true,
    };
    return target;
  }
  return null;
}

/** The upstream is set up: that is what a session asks of its route. */
export function routeReady({ route, deps }: VoiceSession): void {
  if (route === null || route.isReady) return;
  route.isReady = true;
  const nowMs = Date.now();
  const ownMs = stoodStillMs() - route.stoodMs;
  deps.health.firstEvent(route.routeId, nowMs - route.startedMs - ownMs, nowMs);
  deps.health.succeeded(route.routeId, nowMs, null, route);
}

/** The upstream failed by itself. One that had said it would go is not blamed for it. */
export function routeFailed(session: VoiceSession, kind: LiveFailureKind, text: string): void {
  const { route, deps, leaveAtMs } = session;
  session.route = null;
  if (route === null || Number.isFinite(leaveAtMs)) return;
  const failure = plainFailure(failureKinds[kind], text);
  deps.health.failed(route.routeId, failure, Date.now(), route);
}

/** We leave it: without a verdict if it was not ready, and whatever comes now is none. */
export function routeLeft(session: VoiceSession): void {
  const { route, deps } = session;
  session.route = null;
  if (route !== null && !route.isReady) deps.health.abandoned(route.routeId, route.probe);
}
