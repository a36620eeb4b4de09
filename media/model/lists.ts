// Lists that are as long as a client makes them: one call with all of another list as its arguments
// overflows the stack from about 120,000 of them on, and who looks for each from the front looks
// at all of them each time.

/** Adds all of them at the end. */
export function addTo<T>(list: T[], more: readonly T[]): void {
  for (const each of more) list.push(each);
}

/** What waits under an id, in its order: each is taken once. */
export class WaitingById<T> {
  readonly #lists = new Map<string, { waiting: T[]; taken: number }>();

  add(id: string, each: T): void {
    const list = this.#lists.get(id);
    if (list === undefined) this.#lists.set(id, { waiting: [each], taken: 0 });
    else list.waiting.push(each);
  }

  /** The first that was not taken. */
  take(id: string): T | undefined {
    const list = this.#lists.get(id);
    if (list === undefined) return undefined;
    const each = list.waiting[list.taken];
    list.taken += 1;
    return each;
  }
}
