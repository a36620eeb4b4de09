// Which regular expressions a provider compiles. Clients write them for JavaScript; providers read
// them with Python's `re`, with RE2, or turn them into grammars. One that does not compile refuses
// the whole request, so what is not surely taken counts as not taken.
import { RecentMap } from '../../../../runtime/transient.ts';

/**
 * - `ecma`: JavaScript's own.
 * - `python`: Python's `re`, of OpenAI's check of functions.
 * - `strict`: the same without a look around, of its strict schemas.
 * - `re2`: Google's.
 * - `grammar`: what llama.cpp and the grammars of vLLM and SGLang all take: anchored at both ends.
 */
export type PatternDialect = keyof typeof bits;

const bits = { ecma: 1, python: 2, strict: 4, re2: 8, grammar: 16 } as const;
const anyPython = bits.python | bits.strict;
const notGrammar = anyPython | bits.re2;
/** All that are not asked of the engine itself. */
const all = notGrammar | bits.grammar;
const none = 0;

type Construct = readonly [source: RegExp, takenBy: number];

const escapes: readonly Construct[] = [
  [/\\[dDsSwW]/, all],
  [/\\[nrt]/, all],
  [/\\x[\da-fA-F]{2}/, all],
  [/\\u[\da-fA-F]{4}/, anyPython | bits.grammar],
  [/\\[pP]\{\^?\w+\}/, bits.re2],
  [/\\[fv]/, notGrammar],
  [/\\[^A-Za-z0-9]/s, all],
  [/\\.?/s, none],
];

/** In order: the first that matches is meant. Groups and classes are counted by what they open. */
const outside: readonly Construct[] = [
  [/\\[bB]/, notGrammar],
  [/\\A/, notGrammar],
  [/\\Z/, anyPython],
  [/\\z/, bits.re2],
  ...escapes,
  [/\[\^?\]/, none],
  [/\[\^?/, all],
  [/\(\?:/, all],
  [/\(\?[=!]/, bits.python],
  [/\(\?P<[A-Za-z_]\w*>/, notGrammar],
  [/\(\?[ims]+:/, notGrammar],
  [/\(\?/, none],
  [/[()|]/, all],
  [/(?:[*+?]|\{\d+(?:,\d*)?\})[*+{]/, none],
  [/(?:[*+?]|\{\d+(?:,\d*)?\})\?/, notGrammar],
  // RE2 takes no more repetitions, nor does a grammar end.
  [/\{(?:\d{1,3}|1000)(?:,(?:\d{1,3}|1000)?)?\}/, all],
  [/\{\d+(?:,\d*)?\}/, anyPython],
  [/[*+?]/, all],
  [/[{}\]]/, none],
  [/[\^$]/, notGrammar],
  [/./s, all],
];

/** A class that ends a range, as in `[\w-.]`, is an error to most. */
const inside: readonly Construct[] = [
  [/\\[dDsSwW]-(?!\])/, none],
  [/[^\]\\]-\\[dDsSwW]/, none],
  ...escapes,
  [/\[[:.=]/, none],
  [/[^\]\\]-[^\]\\]/, all],
  [/./s, all],
];

const scanners = { outside: scannerOf(outside), inside: scannerOf(inside) };
/** Agents send the same tools with each request. */
const known = new RecentMap<string, number>(1_000);
/** Longer ones are read each time. */
const keptLengthMax = 500;
/** No tool needs a longer one, and none of them is worth its time. */
const lengthMax = 4_000;

/** Whether all readers of the dialect compile it. */
export function compiles(pattern: string, dialect: PatternDialect): boolean {
  let takers = known.get(pattern);
  if (takers === undefined) {
    takers = pattern.length > lengthMax ? none : takersOf(pattern);
    if (pattern.length <= keptLengthMax) known.set(pattern, takers);
  }
  return (takers & bits[dialect]) !== 0;
}

function takersOf(pattern: string): number {
  const isAnchored = /^\^.*[^\\]\$$/s.test(pattern) || pattern === '^$';
  const body = isAnchored ? pattern.slice(1, -1) : pattern;
  const takers = scan(body) & (isAnchored ? all : notGrammar);
  return takers | (isEcma(pattern) ? bits.ecma : none);
}

function isEcma(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

/** Who takes every construct of it. */
function scan(body: string): number {
  let takers = all;
  let depth = 0;
  let isInside = false;
  let isRepeatable = false;
  for (let at = 0; at < body.length && takers !== none; ) {
    const { text, takenBy } = nextOf(body, at, isInside);
    takers &= takenBy;
    at += text.length;
    if (isInside) {
      if (isReversed(text)) return none;
      if (text !== ']') continue;
      isInside = false;
      isRepeatable = true;
    } else if (text[0] === '[') isInside = true;
    else if (text[0] === '(') {
      depth += 1;
      isRepeatable = false;
    } else if (text === ')') {
      depth -= 1;
      if (depth < 0) return none;
      isRepeatable = true;
    } else if (/^[*+?{]/.test(text)) {
      if (!isRepeatable) return none;
      isRepeatable = false;
    } else isRepeatable = !/^(?:[|^$]|\\[bBAZz])$/.test(text);
  }
  return isInside || depth > 0 ? none : takers;
}

/** Whether it is a range of characters that ends before it begins. */
function isReversed(text: string): boolean {
  const [first, dash, last] = text;
  return dash === '-' && first !== undefined && last !== undefined && first > last;
}

interface Scanner {
  pattern: RegExp;
  takers: readonly number[];
}

function scannerOf(constructs: readonly Construct[]): Scanner {
  const sources = constructs.map(([{ source }]) => `(${source})`);
  return {
    pattern: new RegExp(sources.join('|'), 'ys'),
    takers: constructs.map(([, takenBy]) => takenBy),
  };
}

function nextOf(body: string, at: number, isInside: boolean): { text: string; takenBy: number } {
  const { pattern, takers } = isInside ? scanners.inside : scanners.outside;
  pattern.lastIndex = at;
  const found = pattern.exec(body) ?? [''];
  const index = found.findIndex((text, group) => group > 0 && text !== undefined);
  return { text: found[0] || ' ', takenBy: takers[index - 1] ?? none };
}
