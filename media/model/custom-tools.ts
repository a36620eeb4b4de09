// Tools that take free text instead of arguments (`custom` of two formats). To every other format
// such a tool is a function of one text, which models also call with something else in its place.
import { grown } from './flat.ts';
import type { FunctionTool, GenerationRequest, Message } from './request.ts';

type Members = Record<string, unknown>;
type Call = Message['toolCalls'][number];

const member = 'input';

/** The tool as a function, with what it is where it is none. */
export function customTool(
  name: string,
  description: string | null,
  format: unknown,
): FunctionTool {
  const custom = { description, format: isMembers(format) ? format : null };
  const text = { type: 'string', description: formatWords(custom.format) };
  return {
    name,
    description: [description, asFunction].filter((part) => part !== null).join('\n\n'),
    parameters: {
      type: 'object',
      properties: { [member]: text },
      required: [member],
      additionalProperties: false,
    },
    strict: null,
    custom,
  };
}

const asFunction = `Call it with one argument, \`${member}\`: a string that holds the whole text.`;
const asText = 'The whole text as it is, without quotation marks or a fence around it.';

/** What the text is held to, for models that nobody holds to it. */
function formatWords(format: Members | null): string {
  const { type, syntax, definition } = format ?? {};
  if (type !== 'grammar' || typeof definition !== 'string') return asText;
  const named = typeof syntax === 'string' ? `${syntax} grammar` : 'grammar';
  return `${asText} It has to match this ${named}:\n${definition}`;
}

/** A call of a custom tool in a history: the arguments are those of the function. */
export function customCall(id: string, name: string, text: string): Call {
  return { id, name, arguments: JSON.stringify({ [member]: text }), custom: text };
}

/** The names of the request's custom tools; null: it has none. */
export function customNames({
  tools,
}: Pick<GenerationRequest, 'tools'>): ReadonlySet<string> | null {
  let names: Set<string> | null = null;
  for (const { name, custom } of tools) {
    if (custom === undefined) continue;
    names ??= new Set();
    names.add(name);
  }
  return names;
}

/** Whether custom tools are in the request, or calls of them. */
export function hasCustom({ tools, messages }: GenerationRequest): boolean {
  if (tools.some(({ custom }) => custom !== undefined)) return true;
  return messages.some(({ toolCalls }) => toolCalls.some(({ custom }) => custom !== undefined));
}

/** The arguments up to the text, and what may still become that. */
const head = /^\s*\{\s*"input"\s*:\s*"/;
const headBegun = /^\s*(?:\{\s*(?:"(?:i(?:n(?:p(?:u(?:t(?:"\s*(?::\s*)?)?)?)?)?)?)?)?)?$/;
/** A longer one is none: it is looked at anew with each delta. */
const headCharactersMax = 256;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const special = /["\\]/g;
const visible = /\S/g;

/**
 * The text of a call whose arguments come piece by piece. What is `{"input": text}` is told as it
 * comes; anything else waits for its end. All that `add` and `end` give is the text, wherever the
 * arguments are cut. Models forget to escape: what is no JSON inside of the text is text.
 */
export class CustomInput {
  #state: 'head' | 'text' | 'quote' | 'other' | 'done' = 'head';
  /** The part of the arguments that is not understood yet. */
  #waiting = '';
  /** The first half of a pair. */
  #half = '';

  /** The text has ended, as JSON says it. */
  get isWhole(): boolean {
    return this.#state === 'done';
  }

  /** More of the arguments; what is known of the text besides. */
  add(fragment: string): string {
    switch (this.#state) {
      case 'done':
        return '';
      case 'other':
        this.#waiting = grown(this.#waiting, fragment);
        return '';
      case 'head':
        return this.#readHead(this.#waiting + fragment);
      case 'text':
        return this.#told(this.#read(this.#taken() + fragment));
      case 'quote':
        return this.#told(this.#read(fragment));
    }
  }

  /** Nothing more comes: the rest of the text. */
  end(): string {
    const rest = this.#state === 'other' ? textOf(this.#taken()) : '';
    this.#state = 'done';
    return this.#told(rest);
  }

  #taken(): string {
    const waiting = this.#waiting;
    this.#waiting = '';
    return waiting;
  }

  #readHead(input: string): string {
    const found = head.exec(input);
    if (found !== null) {
      this.#waiting = '';
      this.#state = 'text';
      return this.#told(this.#read(input.slice(found[0].length)));
    }
    this.#waiting = input;
    if (input.length > headCharactersMax || !headBegun.test(input)) this.#state = 'other';
    return '';
  }

  /** The first half of a pair waits for the second. */
  #told(text: string): string {
    const whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    const isHalf = last >= 0xd800 && last < 0xdc00 && this.#state !== 'done';
    this.#half = isHalf ? whole.slice(-1) : '';
    return (isHalf ? whole.slice(0, -1) : whole).toWellFormed();
  }

  #read(input: string): string {
    let text = '';
    let at = 0;
    for (;;) {
      if (this.#state === 'quote') {
        visible.lastIndex = at;
        const next = visible.exec(input);
        if (next === null) {
          this.#waiting = grown(this.#waiting, input.slice(at));
          return text;
        }
        if (next[0] === '}' || next[0] === ',') {
          this.#state = 'done';
          return text;
        }
        // One that should have been escaped.
        text += this.#taken() + input.slice(at, next.index);
        this.#state = 'text';
        at = next.index;
      }
      special.lastIndex = at;
      const found = special.exec(input);
      if (found === null) return text + input.slice(at);
      text += input.slice(at, found.index);
      at = found.index + 1;
      if (found[0] === '"') {
        this.#state = 'quote';
        this.#waiting = '"';
        continue;
      }
      const read = readEscape(input, at);
      if (read === null) {
        this.#waiting = input.slice(found.index);
        return text;
      }
      text += read.text;
      at = read.end;
    }
  }
}

/** What stands behind a backslash; null: more has to come. Of no escape the backslash is text. */
function readEscape(input: string, at: number): { text: string; end: number } | null {
  const letter = input[at];
  if (letter === undefined) return null;
  const simple = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
  if (simple !== undefined) return { text: simple, end: at + 1 };
  const digits = letter === 'u' ? input.slice(at + 1, at + 5) : '-';
  if (!/^[0-9a-f]*$/i.test(digits)) return { text: '\\', end: at };
  if (digits.length < 4) return null;
  return { text: String.fromCharCode(Number.parseInt(digits, 16)), end: at + 5 };
}

/** The text of arguments that are not the expected ones: the bare text, or another member. */
function textOf(written: string): string {
  const value = parsed(written);
  if (typeof value === 'string') return value;
  if (!isMembers(value)) return written;
  const named = value[member];
  if (named !== undefined) return typeof named === 'string' ? named : JSON.stringify(named);
  const values = Object.values(value);
  if (values.length === 0) return '';
  const [only] = values;
  return values.length === 1 && typeof only === 'string' ? only : written;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
