// The function calls that wait for their result, by ids of ours: the model may leave its own out,
// or give one to several calls.

/** Calls that wait; more of them are refused to the model. */
const openMax = 64;
/** Longer ones are nonsense; nothing of them is kept. */
const idCharactersMax = 256;
/** A call with longer arguments is never taken for another one. */
const argumentsKeptMax = 1_024;

export interface OpenCall {
  /** What the model calls it; null: nothing. */
  modelsId: string | null;
  name: string;
  /** Null: too long to be kept. */
  argumentsJson: string | null;
}

export class ToolCalls {
  readonly #open = new Map<string, OpenCall>();
  #count = 0;

  get size(): number {
    return this.#open.size;
  }

  /** `known`: it waits already and was told twice. `refused`: it cannot be kept. */
  begin(
    modelsId: string | null,
    name: string,
    given: string,
  ): { state: 'open' | 'refused'; callId: string } | { state: 'known' } {
    const argumentsJson = given.length > argumentsKeptMax ? null : given;
    if (modelsId !== null && this.#isKnown(modelsId, name, argumentsJson)) {
      return { state: 'known' };
    }
    this.#count += 1;
    const isLong = modelsId !== null && modelsId.length > idCharactersMax;
    if (isLong || this.#open.size >= openMax) return { state: 'refused', callId: this.#ownId() };
    const isTaken = modelsId === null || this.#open.has(modelsId);
    const callId = isTaken ? this.#ownId() : modelsId;
    this.#open.set(callId, { modelsId, name, argumentsJson });
    return { state: 'open', callId };
  }

  /** Null: there is no such call, or it has its result. */
  end(callId: string): OpenCall | null {
    const call = this.#open.get(callId) ?? null;
    this.#open.delete(callId);
    return call;
  }

  endAll(): OpenCall[] {
    const calls = [...this.#open.values()];
    this.#open.clear();
    return calls;
  }

  /** Our ids of the calls that the model gives up. */
  cancel(modelsIds: ReadonlySet<unknown>): string[] {
    const callIds = [...this.#open].flatMap(([callId, { modelsId }]) =>
      modelsId !== null && modelsIds.has(modelsId) ? [callId] : [],
    );
    for (const callId of callIds) this.#open.delete(callId);
    return callIds;
  }

  #isKnown(modelsId: string, name: string, argumentsJson: string | null): boolean {
    if (argumentsJson === null) return false;
    return [...this.#open.values()].some(
      (call) =>
        call.modelsId === modelsId && call.name === name && call.argumentsJson === argumentsJson,
    );
  }

  /** The model's own ids may look alike. */
  #ownId(): string {
    while (this.#open.has(`call_${this.#count}`)) this.#count += 1;
    return `call_${this.#count}`;
  }
}
