// Parts of answers that nobody here can read: each is counted, and told to nobody. The log hears of
// them at times, since a model that speaks in such parts sends thousands.
import type { ModelEvent } from '../../media/model/events.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import { RecentMap } from '../../runtime/transient.ts';
import type { RequestDeps, RequestSpec } from '../billed-request/spec.ts';

/** One line of the log for each route in this time. */
const quietMs = 60_000;
const routesMin = 256;

/** What the state of a generation says of the answer. */
interface Where {
  attempt: { candidate: { target: Pick<UpstreamTarget, 'family' | 'routeId'> } } | null;
  spec: Pick<RequestSpec, 'id' | 'accountId'>;
}

export class UnreadParts {
  readonly #deps: Pick<RequestDeps, 'metrics' | 'log'>;
  readonly #loggedMs = new RecentMap<string, number>(routesMin);

  constructor(deps: Pick<RequestDeps, 'metrics' | 'log'>) {
    this.#deps = deps;
  }

  /** The events that are told: those that can be read. */
  withoutThem(events: ModelEvent[], where: Where, nowMs: number): ModelEvent[] {
    if (!events.some(isUnread)) return events;
    for (const event of events) if (isUnread(event)) this.#note(event.part, where, nowMs);
    return events.filter((event) => !isUnread(event));
  }

  #note(part: string, { attempt, spec }: Where, nowMs: number): void {
    if (attempt === null) return;
    const { family, routeId } = attempt.candidate.target;
    this.#deps.metrics.unread(family);
    if (nowMs - (this.#loggedMs.get(routeId) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    this.#loggedMs.set(routeId, nowMs);
    this.#deps.log.warn(
      { generation: spec.id, account: spec.accountId, route: routeId, part },
      'a part of an answer is of an unknown kind',
    );
  }
}

function isUnread(event: ModelEvent): event is ModelEvent & { type: 'unread' } {
  return event.type === 'unread';
}
