// Leaves out of a tool's output what nobody asked for. Kept: head and tail, failures, code blocks,
// and every unit that shares a term with the asks which is rare in that output, with neighbours.
import { type Asks, pairOf } from './asks.ts';
import type { ExtractionSettings } from './settings.ts';
import { FIGURE, scanTerms, type TermList, WORD } from './terms.ts';
import type { Noun, Units } from './units.ts';

/** What is asked, and how rare a term must be to ask: at most `share` of the units, or `least`. */
export interface Demand {
  asks: Asks;
  share: number;
  least: number;
}

const UNITS_MIN = 6;
/** Less than this is not worth a marker. */
const GAP_CHARACTERS_MIN = 80;
const SAVED_CHARACTERS_MIN = 400;
const SAVED_SHARE_MIN = 0.15;
/** Lines that are indented below one that was asked for belong to it. */
const CHILDREN_MAX = 12;

const FAILURES = `error fail failed failure failing exception fatal panic denied refused timeout
traceback crash crashed abort aborted invalid corrupt unhandled conflict fehler erreur`;
const failureHashes: ReadonlySet<number> = failureTerms();

function failureTerms(): ReadonlySet<number> {
  const list: TermList = { hashes: [], weights: [] };
  scanTerms(FAILURES, 0, FAILURES.length, list);
  return new Set(list.hashes);
}

/** The text without the units that no demand is for; the same text when little would be saved. */
export function extracted(
  text: string,
  units: Units,
  demands: readonly Demand[],
  settings: ExtractionSettings,
): string {
  const { starts, fixed } = units;
  if (text.length < settings.charactersMin || starts.length < UNITS_MIN) return text;
  const keep = Uint8Array.from(fixed, Number);
  keepEdges(keep, units, settings);
  const asked = askedUnits(text, units, demands, settings);
  keepFailures(keep, asked.failures, settings.errorsMax);
  for (const [unit, isAsked] of asked.marks.entries()) {
    if (isAsked === 1) keepAround(text, keep, starts, unit, settings.neighbours);
  }
  closeGaps(text, keep, starts);
  return joined(text, keep, units);
}

function keepEdges(keep: Uint8Array, units: Units, settings: ExtractionSettings): void {
  const head = Math.ceil(settings.headUnits * units.edgeShare);
  const tail = Math.ceil(settings.tailUnits * units.edgeShare);
  keep.fill(1, 0, head);
  if (tail > 0) keep.fill(1, Math.max(0, keep.length - tail));
}

function keepFailures(keep: Uint8Array, failures: readonly number[], max: number): void {
  const front = Math.ceil(max / 2);
  for (const [index, unit] of failures.entries()) {
    if (index < front || index >= failures.length - (max - front)) keep[unit] = 1;
  }
}

/** Neighbours, and in a listing the lines that are indented below. */
function keepAround(
  text: string,
  keep: Uint8Array,
  starts: readonly number[],
  unit: number,
  neighbours: number,
): void {
  keep.fill(1, Math.max(0, unit - neighbours), unit + neighbours + 1);
  const indent = indentAt(text, starts[unit] ?? 0);
  for (let child = unit + 1; child <= unit + CHILDREN_MAX && child < keep.length; child += 1) {
    if (indentAt(text, starts[child] ?? 0) <= indent) break;
    keep[child] = 1;
  }
}

function indentAt(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at - start;
}

interface Asked {
  /** 1 for a unit that a demand is for. */
  marks: Uint8Array;
  /** Units with a word of failure, ascending. */
  failures: number[];
}

/** How often each asking term comes, and where: decided when all units have been seen. */
class Tally {
  readonly demand: Demand;
  private readonly frequencies: Int32Array;
  private readonly lastUnits: Int32Array;
  private readonly hitUnits: number[] = [];
  private readonly hitTerms: number[] = [];

  constructor(demand: Demand) {
    this.demand = demand;
    this.frequencies = new Int32Array(demand.asks.count);
    this.lastUnits = new Int32Array(demand.asks.count).fill(-1);
  }

  see(unit: number, list: TermList): void {
    const { terms, pairs } = this.demand.asks;
    let before = -1;
    for (const hash of list.hashes) {
      const term = terms.get(hash);
      if (term === undefined) {
        before = -1;
        continue;
      }
      if (term !== -1) this.hit(unit, term);
      const pair = before === -1 ? undefined : pairs.get(pairOf(before, hash));
      if (pair !== undefined) this.hit(unit, pair);
      before = hash;
    }
  }

  private hit(unit: number, term: number): void {
    if (this.lastUnits[term] === unit) return;
    this.lastUnits[term] = unit;
    this.frequencies[term] = (this.frequencies[term] ?? 0) + 1;
    this.hitUnits.push(unit);
    this.hitTerms.push(term);
  }

  mark(marks: Uint8Array): void {
    const max = Math.max(this.demand.least, Math.floor(marks.length * this.demand.share));
    for (const [index, term] of this.hitTerms.entries()) {
      if ((this.frequencies[term] ?? 0) <= max) marks[this.hitUnits[index] ?? 0] = 1;
    }
  }
}

function askedUnits(
  text: string,
  { starts, nounAt }: Units,
  demands: readonly Demand[],
  settings: ExtractionSettings,
): Asked {
  const keepsFigures = settings.keepsFigures && nounAt(0) === 'sentences';
  const marks = new Uint8Array(starts.length);
  const failures: number[] = [];
  const tallies = demands.map((demand) => new Tally(demand));
  const list: TermList = { hashes: [], weights: [] };
  for (const [unit, start] of starts.entries()) {
    scanTerms(text, start, starts[unit + 1] ?? text.length, list);
    for (const tally of tallies) tally.see(unit, list);
    if (hasFailure(list)) failures.push(unit);
    if (keepsFigures && list.weights.includes(FIGURE)) marks[unit] = 1;
  }
  for (const tally of tallies) tally.mark(marks);
  for (const { asks } of demands) markQuotations(text, starts, asks.quotations, marks);
  return { marks, failures };
}

function hasFailure({ hashes, weights }: TermList): boolean {
  for (let index = 0; index < hashes.length; index += 1) {
    if (weights[index] === WORD && failureHashes.has(hashes[index] ?? 0)) return true;
  }
  return false;
}

function markQuotations(
  text: string,
  starts: readonly number[],
  quotations: readonly string[],
  marks: Uint8Array,
): void {
  for (const quotation of quotations) {
    let unit = 0;
    for (let at = text.indexOf(quotation); at !== -1; at = text.indexOf(quotation, at + 1)) {
      while ((starts[unit + 1] ?? text.length) <= at) unit += 1;
      marks[unit] = 1;
      // It may run over the end of its unit.
      const end = at + quotation.length;
      for (let next = unit + 1; (starts[next] ?? text.length) < end; next += 1) marks[next] = 1;
    }
  }
}

/** What is left out must be more than the marker that says so. */
function closeGaps(text: string, keep: Uint8Array, starts: readonly number[]): void {
  for (let unit = 0; unit < keep.length; ) {
    if (keep[unit] === 1) {
      unit += 1;
      continue;
    }
    let end = unit;
    while (end < keep.length && keep[end] === 0) end += 1;
    const characters = (starts[end] ?? text.length) - (starts[unit] ?? 0);
    if (characters < GAP_CHARACTERS_MIN) keep.fill(1, unit, end);
    unit = end;
  }
}

function joined(text: string, keep: Uint8Array, units: Units): string {
  const { starts } = units;
  let result = '';
  for (let unit = 0; unit < keep.length; ) {
    const isKept = keep[unit];
    let end = unit;
    while (end < keep.length && keep[end] === isKept) end += 1;
    const from = starts[unit] ?? 0;
    const to = starts[end] ?? text.length;
    const noun = units.nounAt(unit);
    result += isKept === 1 ? text.slice(from, to) : marker(text, from, to, end - unit, noun);
    unit = end;
  }
  const saved = text.length - result.length;
  if (saved < SAVED_CHARACTERS_MIN || saved < text.length * SAVED_SHARE_MIN) return text;
  return result;
}

function marker(text: string, from: number, to: number, units: number, noun: Noun): string {
  if (noun === 'items') return `"[… ${units} items left out …]",`;
  if (noun === 'members') return `"[… ${units} members left out …]":null,`;
  const count = noun === 'sentences' ? units : countLines(text, from, to);
  const words = `[… ${count} ${count === 1 ? noun.slice(0, -1) : noun} left out …]`;
  if (to === text.length && text[to - 1] !== '\n') return words;
  return words + (text[to - 1] === '\n' ? '\n' : ' ');
}

function countLines(text: string, from: number, to: number): number {
  let count = text[to - 1] === '\n' ? 0 : 1;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) {
    count += 1;
  }
  return count;
}
