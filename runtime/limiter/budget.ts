// Memory of one thread for what its clients send. Half of it may be one tenant's, so that no tenant
// takes so much that nothing is left for the others.

export class Budget {
  readonly #shareMax: number;
  readonly #taken = new Map<string, number>();
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
    this.#shareMax = bytes / 2;
  }

  /** False: there is no room, for this tenant or for anybody. */
  take(tenant: string, bytes: number): boolean {
    const taken = (this.#taken.get(tenant) ?? 0) + bytes;
    if (bytes > this.#left || taken > this.#shareMax) return false;
    this.#left -= bytes;
    this.#taken.set(tenant, taken);
    return true;
  }

  give(tenant: string, bytes: number): void {
    if (bytes === 0) return;
    this.#left += bytes;
    const taken = (this.#taken.get(tenant) ?? 0) - bytes;
    if (taken > 0) this.#taken.set(tenant, taken);
    else this.#taken.delete(tenant);
  }
}
