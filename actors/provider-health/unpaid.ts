// A provider that nobody has paid: what shards tell each other of its routes. A bill is a fact, not
// a measurement, so that one shard's word is enough for all.

/** Bus topic of `UnpaidRoute`. */
export const unpaidTopic = 'provider-unpaid';

export interface UnpaidRoute {
  routeId: string;
  /** Epoch milliseconds up to which the route rests; 0: it was paid. */
  untilMs: number;
}
