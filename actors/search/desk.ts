// The desk of a shard: the one way to a search for queries, generations and voice. What may be kept
// or shared goes through the place of its key; what is asked anew runs here.
import type { ActorSystem, Answer } from '../../runtime/actor/contract.ts';
import { failedResult } from './conclusion.ts';
import type { Found, SearchDesk, SearchOrder, SearchResult } from './contract.ts';
import { type ExecutionDeps, runSearch } from './execution.ts';
import { isKeepable } from './kept.ts';
import { keyOf, placeOf } from './key.ts';
import { attemptBounds, searchLimits } from './limits.ts';
import type { PlaceKind } from './place.ts';
import type { PlaceReply } from './protocol.ts';

export interface DeskDeps extends ExecutionDeps {
  /** It is there once the shard's actors are. */
  system(): ActorSystem;
  kind: PlaceKind;
}

export function createSearchDesk(deps: DeskDeps): SearchDesk {
  let tickets = 0;

  const ask = async (
    message: 'look' | 'find',
    order: SearchOrder,
    signal: AbortSignal,
  ): Promise<Answer<PlaceReply>> => {
    const key = keyOf(order);
    tickets += 1;
    const ticket = `${deps.system().node}.${tickets}`;
    const place = deps.system().ref(deps.kind, placeOf(key));
    const leave = () => void place.tell('leave', { key, ticket });
    signal.addEventListener('abort', leave);
    const { maxAgeSeconds } = order;
    const waitMs = longestMs(order) + searchLimits.placeGraceMs;
    const request = { key, ticket, surface: order.surface.name, maxAgeSeconds };
    const answer =
      message === 'look'
        ? await place.ask('look', request, waitMs)
        : await place.ask('find', { ...request, order }, waitMs);
    signal.removeEventListener('abort', leave);
    return answer;
  };

  const here = async (order: SearchOrder, signal: AbortSignal): Promise<Found> => {
    const result = await runSearch(deps, order, signal);
    if (order.surface.maxAgeSeconds > 0 && isKeepable(result)) {
      const key = keyOf(order);
      deps.system().ref(deps.kind, placeOf(key)).tell('keep', { key, result });
    }
    deps.metrics.found(order.surface.name, 'miss');
    return missed(result);
  };

  return {
    async look(order, signal) {
      if (order.maxAgeSeconds === 0 || signal.aborted) return null;
      const answer = await ask('look', order, signal);
      if (!answer.ok || answer.value.status !== 'found' || signal.aborted) return null;
      return answer.value.found;
    },

    async find(order, signal) {
      if (signal.aborted) return missed(failedResult([], 'aborted', null, false));
      if (order.maxAgeSeconds === 0) return await here(order, signal);
      const answer = await ask('find', order, signal);
      if (answer.ok && answer.value.status === 'found') return answer.value.found;
      if (signal.aborted) return missed(failedResult([], 'aborted', null, true));
      if (!answer.ok && answer.reason === 'timeout') {
        return missed(failedResult([], 'timeout', null, true));
      }
      // The place is gone, with its shard perhaps: whoever asked is answered from here.
      return await here(order, signal);
    },
  };
}

function missed(result: SearchResult): Found {
  return { result, cache: { hit: false, ageSeconds: 0 } };
}

/** How long a search may take at most. */
function longestMs({ ask, answer }: SearchOrder): number {
  return answer === null ? attemptBounds(ask.surface).totalMs : searchLimits.answerTotalMs;
}
