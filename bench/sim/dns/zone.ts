// What the simulated DNS server knows: TXT records by name, the fault of each name, and what it was
// asked. A name that nobody has set does not exist.

const faultNames = ['servfail', 'timeout', 'nxdomain', 'truncated', 'split'] as const;
export type DnsFault = (typeof faultNames)[number];

interface KnownName {
  /** One text for each record. */
  txt: string[];
  fault: DnsFault | null;
}

interface Asked {
  name: string;
  type: string;
  over: 'udp' | 'tcp';
}

const namesMax = 1_000;
const recordsMax = 64;
const recordLengthMax = 4_000;
const nameLengthMax = 253;
const askedMax = 1_000;

export class DnsZone {
  readonly #names = new Map<string, KnownName>();
  #asked: Asked[] = [];

  /**
   * `{name, txt, fault}`: `txt` is a text or a list of them, null removes the name. False: it makes
   * no sense, or there are too many names.
   */
  set({ name, txt, fault }: Record<string, unknown>): boolean {
    if (typeof name !== 'string' || name === '' || name.length > nameLengthMax) return false;
    const key = name.toLowerCase();
    const chosen = faultNames.find((known) => known === fault) ?? null;
    if (chosen === null && fault !== undefined && fault !== null) return false;
    if (txt === null && chosen === null) {
      this.#names.delete(key);
      return true;
    }
    const texts = readTexts(txt, this.#names.get(key)?.txt ?? []);
    if (texts === null) return false;
    if (!this.#names.has(key) && this.#names.size >= namesMax) return false;
    this.#names.set(key, { txt: texts, fault: chosen });
    return true;
  }

  find(name: string): KnownName | null {
    return this.#names.get(name.toLowerCase()) ?? null;
  }

  asked(question: Asked): void {
    this.#asked.push(question);
    if (this.#asked.length > askedMax) this.#asked.shift();
  }

  view(): { names: Record<string, KnownName>; asked: Asked[] } {
    return { names: Object.fromEntries(this.#names), asked: this.#asked };
  }

  reset(): void {
    this.#names.clear();
    this.#asked = [];
  }
}

/** Left out: what the name has. Null: no texts. */
function readTexts(given: unknown, known: string[]): string[] | null {
  if (given === undefined) return known;
  const texts = given === null ? [] : [given].flat();
  const isText = (text: unknown) => typeof text === 'string' && text.length <= recordLengthMax;
  return texts.length <= recordsMax && texts.every(isText) ? (texts as string[]) : null;
}
