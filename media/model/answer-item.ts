// The items of an answer, in neutral form, and what only the upstream's own format tells of them.
import type { Citation, NativeValue, PartKind } from './events.ts';
import type { Returned } from './request.ts';

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text as the model wrote it: it may be invalid JSON. Of a custom tool: free text. */
  arguments: string;
}

export type AnswerItem =
  | { type: 'text'; text: string; citations: Citation[]; logprobs?: Logprobs; border?: Border }
  | { type: 'refusal'; text: string; border?: Border }
  /** `native`: what its format needs to take it back (a signature, encrypted content). */
  | {
      type: 'reasoning';
      text: string;
      native: NativeValue | null;
      border?: Border;
      member?: 'reasoning';
    }
  /** `freeText`: the arguments are a custom tool's text; `ended`: all of it. */
  | ({
      type: 'tool_call';
      index: number;
      native?: NativeValue;
      freeText?: true;
      ended?: true;
      returned?: Returned;
    } & ToolCall)
  | ({ type: 'native'; stages?: Stages } & NativeValue);

/**
 * In which pieces the answer came, in order: a number is the length of a delta (UTF-16 units), a
 * negative one says which item the next ones belong to (-1: the first), a word is an event of that
 * item or the next progress. A pair is a text's length and the number of its logprobs.
 */
export type Cut =
  | number
  | [number, number]
  | 'citation'
  | 'end'
  | 'logprobs'
  | 'members'
  | 'told'
  | 'progress';

/** The border in front of a text, where its own format told it. */
export interface Border {
  kind: PartKind;
  /** Members of the item that begins here; null: this is its next part. */
  item: Record<string, unknown> | null;
  /** The same at the end of the item, where that says otherwise. */
  done?: Record<string, unknown>;
}

/** Of a text: with its deltas, and as its two ends list them where those say otherwise. */
export interface Logprobs {
  told: unknown[];
  ends?: { done: unknown[]; part: unknown[] };
}

/** A native item as it was announced, with what was told of it since. */
export interface Stages {
  index: number;
  begun: Record<string, unknown>;
  told: Record<string, unknown>[];
  ended: boolean;
}
