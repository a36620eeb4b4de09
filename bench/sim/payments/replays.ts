// What was answered under which key: the same request again has the same answer, and another is
// refused.

const keptMax = 20_000;

export interface Answer {
  status: number;
  body: string;
}

export class Replays {
  readonly #answers = new Map<string, { request: string; answer: Answer }>();

  /** Null: it is new. */
  find(key: string, request: string): Answer | 'other' | null {
    const known = this.#answers.get(key);
    if (known === undefined) return null;
    return known.request === request ? known.answer : 'other';
  }

  keep(key: string, request: string, answer: Answer): void {
    this.#answers.set(key, { request, answer });
    if (this.#answers.size <= keptMax) return;
    const [oldest] = this.#answers.keys();
    if (oldest !== undefined) this.#answers.delete(oldest);
  }
}
