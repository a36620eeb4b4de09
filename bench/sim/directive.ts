// The directive language of the simulator (decisions.md, section 9): what the last user text that
// holds one asks for between `[[sim` and `]]`. Unknown keys and bad values are ignored.

export type Fault =
  | 'cut'
  | 'error'
  | 'failed'
  | 'stall'
  | 'no_usage'
  | 'zero_usage'
  | 'garbage'
  | 'split_utf8';

/** How a page is judged: by rules, or as the page commands. */
export type Judging = 'right' | 'yes' | 'no' | 'clever';

/** How an answer cites numbered results: by rules, or with the lie of this name. */
export type Citing = 'good' | 'unknown' | 'unsupported' | 'none';

/** `unpaid`: as the provider words it that the account there has no credit, with its status. */
export type Refusal = number | 'unpaid';

export interface Directive {
  tokens: number;
  gapMs: number;
  firstMs: number;
  fault: Fault | null;
  /** Number of the event that the fault hits, counted from 0. */
  at: number;
  status: Refusal;
  /** Seconds in Retry-After when the status is 429 or 503. */
  retryAfterSeconds: number;
  /** Tool calls before the answer, round after round; the calls of one round are parallel. */
  rounds: readonly (readonly PlannedCall[])[];
  text: string | null;
  json: 'good' | 'bad' | 'repair' | null;
  /** What is said of pictures: `wrong` has times that no picture has. */
  sight: 'right' | 'wrong' | 'repair';
  judging: Judging;
  /** Null: nothing was said. `repair`: its numbers are wrong until somebody complains. */
  citing: Citing | 'repair' | null;
  cachedTokens: number;
  reasoningTokens: number;
  cacheWriteTokens: number;
  /** Native searches before the answer, where the tool is declared; null: nothing was said. */
  searchCount: number | null;
  /** `prompt`: already what was asked is blocked, where the format tells the two apart. */
  refusal: 'answer' | 'prompt' | null;
  /** Event types, fields and parts that no published type has are mixed in. */
  unknown: boolean;
  /** A search finds nothing. */
  empty: boolean;
}

/** `argumentText` is JSON for functions and free text for custom tools. */
export interface PlannedCall {
  name: string;
  argumentText: string;
}

const faults: readonly string[] = [
  'cut',
  'error',
  'failed',
  'stall',
  'no_usage',
  'zero_usage',
  'garbage',
  'split_utf8',
];

const citings: readonly string[] = ['good', 'unknown', 'unsupported', 'none', 'repair'];

const defaults: Readonly<Directive> = Object.freeze({
  tokens: 16,
  gapMs: 0,
  firstMs: 0,
  fault: null,
  at: 0,
  status: 200,
  retryAfterSeconds: 1,
  rounds: [],
  text: null,
  json: null,
  sight: 'right',
  judging: 'right',
  citing: null,
  cachedTokens: 0,
  reasoningTokens: 0,
  cacheWriteTokens: 0,
  searchCount: null,
  refusal: null,
  unknown: false,
  empty: false,
});

const tokensMax = 1_000_000;
const pauseMsMax = 3_600_000;
const searchesMax = 100;

/** The place of the last text that holds a directive, and that directive; without one, -1. */
export function findDirective(texts: readonly (string | null)[]): {
  directive: Directive;
  at: number;
} {
  for (let at = texts.length - 1; at >= 0; at -= 1) {
    const text = texts[at];
    if (typeof text !== 'string') continue;
    const start = text.lastIndexOf('[[sim');
    if (start < 0 || !text.includes(']]', start)) continue;
    const directive = parseDirective(text);
    // A text after it is the complaint about the bad object.
    const isLater = at < texts.length - 1;
    if (directive.json === 'repair') directive.json = isLater ? 'good' : 'bad';
    if (directive.sight === 'repair') directive.sight = isLater ? 'right' : 'wrong';
    if (directive.citing === 'repair') directive.citing = isLater ? 'good' : 'unsupported';
    return { directive, at };
  }
  return { directive: defaults, at: -1 };
}

/** Takes the directives out of a text. */
export function withoutDirective(text: string): string {
  return text.replace(/\[\[(sim|search)\b[\s\S]*?\]\]/g, '').trim();
}

/** Reads the last directive in a text that begins with `[[` and the mark; without, the defaults. */
export function parseDirective(text: string, mark = 'sim'): Directive {
  const entries = directiveEntries(text, mark);
  if (entries === null) return defaults;
  const directive: Directive = { ...defaults };
  for (const [key, value] of entries) {
    if (Object.hasOwn(readers, key)) readers[key]?.(directive, value);
  }
  return directive;
}

/** The keys and values of the last directive in a text, as written; null without one. */
export function directiveEntries(text: string, mark = 'sim'): [string, string][] | null {
  const opening = `[[${mark}`;
  const start = text.lastIndexOf(opening);
  const end = start < 0 ? -1 : text.indexOf(']]', start);
  if (end < 0) return null;
  const words = text.slice(start + opening.length, end).split(/\s+/);
  return words.flatMap((word): [string, string][] => {
    const equals = word.indexOf('=');
    return equals > 0 ? [[word.slice(0, equals), word.slice(equals + 1)]] : [];
  });
}

type Reader = (directive: Directive, value: string) => void;

const readers: Readonly<Record<string, Reader>> = {
  tokens: (directive, value) => {
    directive.tokens = integer(value, tokensMax, directive.tokens);
  },
  gap_ms: (directive, value) => {
    directive.gapMs = integer(value, pauseMsMax, 0);
  },
  first_ms: (directive, value) => {
    directive.firstMs = integer(value, pauseMsMax, 0);
  },
  fault: (directive, value) => {
    if (faults.includes(value)) directive.fault = value as Fault;
  },
  at: (directive, value) => {
    directive.at = integer(value, tokensMax, 0);
  },
  status: (directive, value) => {
    directive.status = statusOf(value);
  },
  retry_after: (directive, value) => {
    directive.retryAfterSeconds = integer(value, 86_400, 1);
  },
  tool: addRound,
  call: addRound,
  text: (directive, value) => {
    directive.text = value.replaceAll('_', ' ');
  },
  json: (directive, value) => {
    directive.json = value === 'bad' || value === 'repair' ? value : 'good';
  },
  sight: (directive, value) => {
    if (value === 'wrong' || value === 'repair') directive.sight = value;
  },
  judge: (directive, value) => {
    if (value === 'yes' || value === 'no' || value === 'clever') directive.judging = value;
  },
  cite: (directive, value) => {
    if (citings.includes(value)) directive.citing = value as Directive['citing'];
  },
  cached: (directive, value) => {
    directive.cachedTokens = integer(value, tokensMax, 0);
  },
  cache_write: (directive, value) => {
    directive.cacheWriteTokens = integer(value, tokensMax, 0);
  },
  reasoning: (directive, value) => {
    directive.reasoningTokens = integer(value, tokensMax, 0);
  },
  search: (directive, value) => {
    directive.searchCount = integer(value, searchesMax, 0);
  },
  refusal: (directive, value) => {
    directive.refusal = value === 'prompt' ? 'prompt' : value === '1' ? 'answer' : null;
  },
  unknown: (directive, value) => {
    directive.unknown = value === '1';
  },
  empty: (directive, value) => {
    directive.empty = value === '1';
  },
};

/** `name` or `name:<base64url of the arguments>`, several with commas: one parallel round. */
function addRound(directive: Directive, value: string): void {
  const words = value.split(',').filter((word) => word !== '');
  const round = words.map((word) => {
    const [name = '', encoded] = word.split(':');
    const argumentText = encoded === undefined ? '{}' : Buffer.from(encoded, 'base64url');
    return { name, argumentText: argumentText.toString() };
  });
  directive.rounds = [...directive.rounds, round];
}

function statusOf(value: string): Refusal {
  if (value === 'unpaid') return value;
  const status = integer(value, 599, 200);
  return status >= 400 ? status : 200;
}

function integer(value: string, max: number, fallback: number): number {
  if (!/^\d{1,9}$/.test(value)) return fallback;
  return Math.min(Number(value), max);
}
