// Places for work that lasts: so many at once, and tenants take turns for them. Whoever has nothing
// running finds one place more, so that nobody waits for the end of what another one sends.
import { TransientMap } from '../transient.ts';

interface Waiting {
  begin(hasPlace: boolean): void;
}

interface Line {
  tenant: string;
  waiting: Waiting[];
}

export class Places {
  readonly #count: number;
  #taken = 0;
  #isClosed = false;
  /** How many places each tenant has; those that have none are not here. */
  readonly #running = new TransientMap<string, number>();
  /** The tenant whose turn is next stands first. */
  #lines: Line[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  /** True: a place, until `leave`. False: the signal, or `close`, came before there was one. */
  enter(tenant: string, signal: AbortSignal): boolean | Promise<boolean> {
    if (signal.aborted || this.#isClosed) return false;
    if (this.#hasPlace(tenant)) {
      this.#take(tenant);
      return true;
    }
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#forget(tenant, waiting);
        resolve(false);
      };
      const waiting: Waiting = {
        begin(hasPlace) {
          signal.removeEventListener('abort', giveUp);
          resolve(hasPlace);
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      const line = this.#lines.find((each) => each.tenant === tenant);
      if (line === undefined) this.#lines.push({ tenant, waiting: [waiting] });
      else line.waiting.push(waiting);
    });
  }

  leave(tenant: string): void {
    this.#taken -= 1;
    const left = (this.#running.get(tenant) ?? 0) - 1;
    if (left > 0) this.#running.set(tenant, left);
    else this.#running.delete(tenant);
    for (let line = this.#next(); line !== undefined; line = this.#next()) {
      const waiting = line.waiting.shift();
      this.#lines = this.#lines.filter((each) => each !== line);
      if (line.waiting.length > 0) this.#lines.push(line);
      this.#take(line.tenant);
      waiting?.begin(true);
    }
  }

  /** How many of a tenant have a place or wait for one. */
  countOf(tenant: string): number {
    const line = this.#lines.find((each) => each.tenant === tenant);
    return (this.#running.get(tenant) ?? 0) + (line?.waiting.length ?? 0);
  }

  /** Nobody who waits or comes finds a place any more. */
  close(): void {
    this.#isClosed = true;
    const lines = this.#lines;
    this.#lines = [];
    for (const { waiting } of lines) for (const each of waiting) each.begin(false);
  }

  #next(): Line | undefined {
    return this.#lines.find(({ tenant }) => this.#hasPlace(tenant));
  }

  #hasPlace(tenant: string): boolean {
    const count = this.#running.get(tenant) === undefined ? this.#count + 1 : this.#count;
    return this.#taken < count;
  }

  #take(tenant: string): void {
    this.#taken += 1;
    this.#running.set(tenant, (this.#running.get(tenant) ?? 0) + 1);
  }

  #forget(tenant: string, waiting: Waiting): void {
    const line = this.#lines.find((each) => each.tenant === tenant);
    if (line === undefined) return;
    line.waiting = line.waiting.filter((each) => each !== waiting);
    if (line.waiting.length === 0) this.#lines = this.#lines.filter((each) => each !== line);
  }
}
