// Collects items while statements are on their way, and sends what has gathered as one.
// The busier the database, the larger the groups; an idle one gets every item at once.

export interface CoalescerOptions<I> {
  inFlightMax: number;
  /** Of one group: items, and the sum of their weights. */
  lengthMax: number;
  weightMax: number;
  weight: (item: I) => number;
  /** Two items with the same key never share a group. */
  key: (item: I) => string;
}

interface Waiting<I, O> {
  item: I;
  resolve: (outcome: O) => void;
  reject: (error: unknown) => void;
}

/** Submits an item, resolves with its own outcome. */
export type Submit<I, O> = (item: I) => Promise<O>;

/** `run` gets a group and returns as many outcomes, in its order. */
export function createCoalescer<I, O>(
  run: (items: I[]) => Promise<O[]>,
  options: CoalescerOptions<I>,
): Submit<I, O> {
  let queue: Waiting<I, O>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function takeGroup(): Waiting<I, O>[] {
    const group: Waiting<I, O>[] = [];
    const left: Waiting<I, O>[] = [];
    const keys = new Set<string>();
    let weight = 0;
    for (const waiting of queue) {
      const key = options.key(waiting.item);
      const itemWeight = options.weight(waiting.item);
      const fits = group.length < options.lengthMax && weight + itemWeight <= options.weightMax;
      const waits = keys.has(key) || (group.length > 0 && !fits);
      // What has the same key does not overtake it either.
      keys.add(key);
      if (waits) {
        left.push(waiting);
        continue;
      }
      weight += itemWeight;
      group.push(waiting);
    }
    queue = left;
    return group;
  }

  async function send(group: Waiting<I, O>[]): Promise<void> {
    try {
      const outcomes = await run(group.map((waiting) => waiting.item));
      group.forEach((waiting, index) => {
        waiting.resolve(outcomes[index] as O);
      });
    } catch (error) {
      for (const waiting of group) waiting.reject(error);
    } finally {
      inFlight -= 1;
      pump();
    }
  }

  function pump(): void {
    while (inFlight < options.inFlightMax && queue.length > 0) {
      inFlight += 1;
      void send(takeGroup());
    }
  }

  return (item) =>
    new Promise<O>((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      // Batches are taken together at the end of a turn: what they write leaves together.
      queueMicrotask(() => {
        scheduled = false;
        pump();
      });
    });
}
