// Who listens to a generation. Nobody does: it is detached, counted as such, and goes on.
import type { ModelEvent } from '../../media/model/events.ts';
import { progressParts, replayParts } from '../../media/model/replay.ts';
import type { ActorAddress, ActorRef } from '../../runtime/actor/contract.ts';
import { setDetached } from '../billed-request/settlement.ts';
import type { SubscriberProtocol } from '../subscriber/protocol.ts';
import { type GenerationState, isShown, type Subscription } from './state.ts';

/** Subscribes: what there is so far comes at once. False when there is no room for one more. */
export function subscribe(
  state: GenerationState,
  subscriber: ActorAddress,
  ref: ActorRef<SubscriberProtocol>,
): boolean {
  const { subscribersMax } = state.deps.limits.generation;
  if (state.subscriptions.length >= subscribersMax) return false;
  const hasBegun = state.started || (state.spec.background && state.phase !== 'holding');
  if (hasBegun) {
    const { answer, structure } = state;
    for (const part of structure.withheld ? progressParts(answer) : replayParts(answer)) {
      if ('events' in part) ref.tell('events', part.events);
      else ref.tell('progress', part.progress);
    }
  }
  if (state.dropped.length > 0) ref.tell('dropped', state.dropped);
  state.subscriptions.push({ node: subscriber.node, id: subscriber.id, ref });
  if (!state.spec.background) setDetached(state, false);
  return true;
}

export function isSubscribed(state: GenerationState, subscriber: ActorAddress): boolean {
  return state.subscriptions.some((entry) => isOf(entry, subscriber));
}

/** Ends a subscription; true when it was the last one. */
export function unsubscribe(
  state: GenerationState,
  subscriber: Pick<Subscription, 'node' | 'id'>,
): boolean {
  state.subscriptions = state.subscriptions.filter((entry) => !isOf(entry, subscriber));
  const isLast = state.subscriptions.length === 0;
  // One in the background counts among them from its beginning to its end.
  const isLeft = isLast && isShown(state) && !state.spec.background;
  if (isLeft) setDetached(state, state.phase !== 'over');
  return isLast;
}

function isOf(entry: Subscription, subscriber: Pick<Subscription, 'node' | 'id'>): boolean {
  return entry.id === subscriber.id && entry.node === subscriber.node;
}

/** Tells every subscriber what of the request the provider is not told, before its first event. */
export function tellDropped(state: GenerationState, dropped: readonly string[]): void {
  if (dropped.length === 0 && state.dropped.length === 0) return;
  state.dropped = dropped;
  for (const { ref } of state.subscriptions) ref.tell('dropped', dropped);
}

/** Shows events to every subscriber. */
export function tellEvents(state: GenerationState, events: ModelEvent[]): void {
  for (const subscription of state.subscriptions) {
    // One that takes no more messages has lost some: it may not go on as if nothing had happened.
    if (!subscription.ref.tell('events', events)) unsubscribe(state, subscription);
  }
}
