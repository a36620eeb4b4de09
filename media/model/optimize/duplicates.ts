// Texts that stood earlier in the conversation: the later one becomes a reference to the first.
// Only what a reader still finds word for word above is referred to.
import { isFenced, narrowed, type Passage } from './passage.ts';
import type { OptimizerSettings } from './settings.ts';

const SHINGLE_LINES = 4;
const WHOLE_CHARACTERS_MIN = 160;
const QUOTED_CHARACTERS_MAX = 48;

/** What has been sent so far. It grows with the conversation; what comes later never counts. */
export interface Library {
  /** The whole texts, with the words that name each. */
  readonly wholes: Map<string, string>;
  readonly lines: string[];
  /** Of each line the number of the text it stands in. */
  readonly owners: number[];
  /** The names of the texts, by number. */
  readonly names: string[];
  /** Where four lines in a row stood first, by their hash. */
  readonly shingles: Map<number, number>;
}

export function createLibrary(): Library {
  return { wholes: new Map(), lines: [], owners: [], names: [], shingles: new Map() };
}

/** The reference that takes the place of a whole text, or null: then it is remembered as `name`. */
export function wholeReference(library: Library, text: string, name: string): string | null {
  if (text.length < WHOLE_CHARACTERS_MIN) return null;
  const known = library.wholes.get(text);
  if (known === undefined) {
    library.wholes.set(text, name);
    return null;
  }
  const reference = `[unchanged: the same ${countLines(text)} lines as ${known}]`;
  return reference.length < text.length ? reference : null;
}

interface Run {
  from: number;
  to: number;
  /** Where it stood before, in the library. */
  origin: number;
}

/** The passage with runs of known lines replaced; what stays is added to the library as `name`. */
export function withoutKnownRuns(
  passage: Passage,
  library: Library,
  name: string,
  settings: OptimizerSettings,
): Passage {
  const { lines } = passage;
  const hashes = Int32Array.from(lines, hashLine);
  const owner = library.names.push(name) - 1;
  const texts: string[] = [];
  const keep: number[] = [];
  let stretch = 0;
  let changed = false;
  for (let index = 0; index < lines.length; ) {
    const found = knownRun(passage, hashes, index, library);
    const run = found === null ? null : worthwhile(passage, found, library, settings);
    // A run that is not worth it is passed as a whole: looking into it again would be quadratic.
    const plainEnd = run?.from ?? found?.to ?? index + 1;
    for (; index < plainEnd; index += 1) {
      texts.push(lines[index] ?? '');
      keep.push(index);
    }
    if (run === null) continue;
    changed = true;
    remember(library, lines, hashes, stretch, run.from, owner);
    texts.push(reference(run, lines, library));
    keep.push(run.from);
    index = run.to;
    stretch = index;
  }
  remember(library, lines, hashes, stretch, lines.length, owner);
  if (!changed) return passage;
  return unmarkReferences(narrowed(passage, texts, keep), texts, lines, keep);
}

/** A reference that stands for a fenced block is no code itself. */
function unmarkReferences(
  passage: Passage,
  texts: readonly string[],
  lines: readonly string[],
  keep: readonly number[],
): Passage {
  for (const [index, text] of texts.entries()) {
    if (passage.fenced !== null && text !== lines[keep[index] ?? 0]) passage.fenced[index] = 0;
  }
  return passage;
}

function remember(
  library: Library,
  lines: readonly string[],
  hashes: Int32Array,
  from: number,
  to: number,
  owner: number,
): void {
  const base = library.lines.length - from;
  for (let index = from; index < to; index += 1) {
    library.lines.push(lines[index] ?? '');
    library.owners.push(owner);
    if (index + SHINGLE_LINES > to) continue;
    const key = shingleAt(hashes, index);
    if (!library.shingles.has(key)) library.shingles.set(key, base + index);
  }
}

function knownRun(
  { lines }: Passage,
  hashes: Int32Array,
  index: number,
  library: Library,
): Run | null {
  if (index + SHINGLE_LINES > lines.length) return null;
  const origin = library.shingles.get(shingleAt(hashes, index));
  if (origin === undefined) return null;
  const owner = library.owners[origin];
  let length = 0;
  while (
    index + length < lines.length &&
    library.owners[origin + length] === owner &&
    library.lines[origin + length] === lines[index + length]
  ) {
    length += 1;
  }
  return length < SHINGLE_LINES ? null : { from: index, to: index + length, origin };
}

/** The run cut back to where it may begin and end; null when too little is left to be worth it. */
function worthwhile(
  passage: Passage,
  run: Run,
  library: Library,
  settings: OptimizerSettings,
): Run | null {
  let { from, to } = run;
  while (from < to && !mayCut(passage, from, settings)) from += 1;
  while (to > from && !mayCut(passage, to, settings)) to -= 1;
  if (to - from < settings.runLinesMin) return null;
  let characters = 0;
  for (let index = from; index < to; index += 1) {
    characters += (passage.lines[index] ?? '').length + 1;
  }
  const cut = { from, to, origin: run.origin + from - run.from };
  if (characters < settings.runCharactersMin) return null;
  return reference(cut, passage.lines, library).length * 2 < characters ? cut : null;
}

/** Whether a run may begin or end before this line: never within a fence, else where blocks do. */
function mayCut(passage: Passage, line: number, settings: OptimizerSettings): boolean {
  const { lines } = passage;
  if (line === 0 || line === lines.length) return true;
  const before = isFenced(passage, line - 1);
  const after = isFenced(passage, line);
  if (before && after) return false;
  if (settings.partialRuns || before !== after) return true;
  return lines[line] === '' || lines[line - 1] === '';
}

function reference({ from, to, origin }: Run, lines: readonly string[], library: Library): string {
  const name = library.names[library.owners[origin] ?? 0] ?? '';
  const first = quoted(firstWords(lines, from, to, 1));
  const last = quoted(firstWords(lines, to - 1, from - 1, -1));
  return `[… the same ${to - from} lines as in ${name}, from ${first} to ${last} …]`;
}

function firstWords(lines: readonly string[], from: number, end: number, step: number): string {
  for (let index = from; index !== end; index += step) {
    const line = lines[index]?.trim() ?? '';
    if (line !== '') return line;
  }
  return '';
}

function quoted(line: string): string {
  const characters = [...line.slice(0, QUOTED_CHARACTERS_MAX * 2)];
  const short = characters.slice(0, QUOTED_CHARACTERS_MAX).join('');
  return `"${short}${short.length < line.length ? '…' : ''}"`;
}

function hashLine(line: string): number {
  let hash = line.length;
  for (let index = 0; index < line.length; index += 1) {
    hash = (Math.imul(hash, 31) + line.charCodeAt(index)) | 0;
  }
  return hash;
}

function shingleAt(hashes: Int32Array, at: number): number {
  let key = 17;
  for (let index = at; index < at + SHINGLE_LINES; index += 1) {
    key = (Math.imul(key, 0x01000193) ^ (hashes[index] ?? 0)) | 0;
  }
  return key;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
