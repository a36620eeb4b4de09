// A long JSON text as the value that `JSON.parse` makes of it, read slice by slice so that no turn
// of the loop is long. It is cut at commas outside strings; each slice is parsed between the
// brackets that are open around it, and what it holds is added to the value that grows.
import { randomUUID } from 'node:crypto';

type Members = Record<string, unknown>;

/** A container that is open at a cut: for an object with the place of the key that led inside. */
interface OpenContainer {
  isArray: boolean;
  keyStart: number;
  keyEnd: number;
}

interface Cut {
  /** Of the comma. */
  position: number;
  open: readonly Readonly<OpenContainer>[];
}

/** The result of a scan; `tooDeep`: nothing else is known. `values`: members, items, containers. */
export type Scan = { tooDeep: true } | { tooDeep: false; cuts: readonly Cut[]; values: number };

/** One slice; `textStart` is where its text begins in the bytes, after `prefix`. */
export interface Slice {
  prefix: string;
  suffix: string;
  textStart: number;
  textEnd: number;
  open: readonly Readonly<OpenContainer>[];
}

const [quote, backslash, comma, colon] = [34, 92, 44, 58];
const [openArray, closeArray, openObject, closeObject] = [91, 93, 123, 125];
/** Most quotes are as near, and a native call costs as much as they. */
const nearBytes = 64;

/**
 * Finds the cuts: commas at which the text may be divided, at least `sliceBytes` apart. A generator
 * that yields every `stepBytes`, where the caller may let others have the loop.
 */
export function* scanJson(
  bytes: Buffer,
  depthMax: number,
  sliceBytes: number,
  stepBytes: number,
): Generator<undefined, Scan> {
  const cuts: Cut[] = [];
  let values = 1;
  const open: OpenContainer[] = [];
  let [cutNext, stepNext] = [sliceBytes, stepBytes];
  let [stringStart, stringEnd] = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      stringStart = at;
      at = endOfString(bytes, at);
      stringEnd = at + 1;
    } else if (byte === colon) {
      const inner = open.at(-1);
      if (inner === undefined) continue;
      inner.keyStart = stringStart;
      inner.keyEnd = stringEnd;
    } else if (byte === openArray || byte === openObject) {
      open.push({ isArray: byte === openArray, keyStart: 0, keyEnd: 0 });
      values += 1;
      if (open.length > depthMax) return { tooDeep: true };
    } else if (byte === closeArray || byte === closeObject) {
      open.pop();
    } else if (byte === comma) {
      values += 1;
      if (at >= cutNext && open.length > 0 && isBetween(bytes, at)) {
        cuts.push({ position: at, open: open.map((each) => ({ ...each })) });
        cutNext = at + sliceBytes;
      }
    }
    if (at < stepNext) continue;
    stepNext = at + stepBytes;
    yield;
  }
  return { tooDeep: false, cuts, values };
}

/**
 * The position of the closing quote, or of the end of the text. Behind its first characters a quote
 * is looked for by the processor's own means: by the byte an image of 7 MB took 20 ms of one turn.
 */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (;;) {
    const near = Math.min(at + nearBytes, bytes.length);
    while (at < near) {
      const byte = bytes[at];
      if (byte === quote) return at;
      at += byte === backslash ? 2 : 1;
    }
    if (at >= bytes.length) return bytes.length;
    const found = bytes.indexOf(quote, at);
    if (found < 0) return bytes.length;
    let escapes = found;
    while (escapes > at && bytes[escapes - 1] === backslash) escapes -= 1;
    if ((found - escapes) % 2 === 0) return found;
    at = found + 1;
  }
}

/** Whether values stand on both sides: a slice of its own would hide that one is missing. */
function isBetween(bytes: Buffer, position: number): boolean {
  let before = position - 1;
  while (isSpace(bytes[before])) before -= 1;
  let after = position + 1;
  while (isSpace(bytes[after])) after += 1;
  const left = bytes[before];
  const right = bytes[after];
  if (left === comma || left === colon || left === openArray || left === openObject) return false;
  return right !== comma && right !== closeArray && right !== closeObject && right !== undefined;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}

/** Puts slices together; one for each text. */
export class SlicedValue {
  /** Stands for the keys that led into a slice. Nobody can guess it, so no text has it. */
  readonly #marker = randomUUID();
  readonly #bytes: Buffer;
  readonly #cuts: readonly Cut[];
  #value: unknown;

  constructor(bytes: Buffer, cuts: readonly Cut[]) {
    this.#bytes = bytes;
    this.#cuts = cuts;
  }

  get value(): unknown {
    return this.#value;
  }

  *slices(): Generator<Slice> {
    let start = 0;
    let open: Slice['open'] = [];
    for (const cut of this.#cuts) {
      yield this.#slice(start, cut.position, open, cut.open);
      start = cut.position + 1;
      open = cut.open;
    }
    // The last one closes what is open by itself, or it is no JSON.
    yield this.#slice(start, this.#bytes.length, open, []);
  }

  /** Adds what a slice was parsed to. */
  add({ open }: Slice, parsed: unknown): void {
    if (open.length === 0) this.#value = parsed;
    else this.#merge(this.#value, parsed, open, 0);
  }

  #slice(textStart: number, textEnd: number, open: Slice['open'], left: Slice['open']): Slice {
    const prefix = open.map(({ isArray }, level) => {
      if (isArray) return '[';
      return level === open.length - 1 ? '{' : `{"${this.#marker}":`;
    });
    const suffix = left.map(({ isArray }) => (isArray ? ']' : '}')).reverse();
    return { prefix: prefix.join(''), suffix: suffix.join(''), textStart, textEnd, open };
  }

  #merge(target: unknown, part: unknown, open: Slice['open'], level: number): void {
    const isInnermost = level === open.length - 1;
    if (Array.isArray(target) && Array.isArray(part)) {
      if (!isInnermost) this.#merge(target.at(-1), part[0], open, level + 1);
      for (let index = isInnermost ? 0 : 1; index < part.length; index += 1) {
        target.push(part[index]);
      }
      return;
    }
    const grown = target as Members;
    const members = part as Members;
    // First, although it may not come first: a later member may have the same key.
    if (!isInnermost) {
      this.#merge(grown[this.#keyOf(open[level])], members[this.#marker], open, level + 1);
    }
    for (const [key, member] of Object.entries(members)) {
      if (isInnermost || key !== this.#marker) set(grown, key, member);
    }
  }

  #keyOf(container: OpenContainer | undefined): string {
    const text = this.#bytes.toString('utf8', container?.keyStart, container?.keyEnd);
    return JSON.parse(text) as string;
  }
}

function set(target: Members, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, ...ownMember });
}

const ownMember = { enumerable: true, configurable: true, writable: true };
