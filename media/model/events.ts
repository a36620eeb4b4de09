// The neutral events of an answer: what every upstream family is read into and every dialect is
// written from. Plain data: they cross threads.
import type { Place } from '../transport/place.ts';
import type { Returned, WireFormat } from './request.ts';
import type { TokenUsage, UsageReport } from './usage.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Why an upstream attempt failed, without a word of the provider's own text in what is public. */
export interface UpstreamFailure {
  kind:
    | 'overloaded' // our own queue: nothing was sent, and nothing is known of the provider
    | 'connect' // no connection, or it broke before a response
    | 'timeout' // one of our deadlines, or the provider's 408
    | 'busy' // 429
    | 'unpaid' // the operator's account with the provider has no credit left
    | 'rejected' // 400, 413, 422: the request is at fault, no other provider is asked
    | 'failed' // 401, 403, 404, 5xx, 529, an error event
    | 'cut' // the connection closed inside the stream
    | 'garbage'; // bytes that are not the format
  /** The provider's HTTP status, where there was one. */
  status: number | null;
  retryAfterMs: number | null;
  /** For the log only; never sent to a client. */
  detail: string;
  /** Where a refusal finds the fault in the body that the provider was sent, if it says so. */
  place?: Place;
}

/** Something that only one wire format can show: encoders of the others pass over it. */
export interface NativeValue {
  format: WireFormat;
  value: Record<string, unknown>;
}

/** A source that the answer's text refers to; offsets in UTF-16 units of its text item. */
export interface Citation {
  /** Empty: a document of the request itself, which only `native` names. */
  url: string;
  title: string;
  start: number | null;
  end: number | null;
  /** As its own format wrote it. One of Messages belongs to the block of text that it ends. */
  native?: NativeValue;
}

/** A part by its name in Responses; `reasoning`: an item of it that has no part so far. */
export type PartKind = 'output_text' | 'refusal' | 'summary_text' | 'reasoning_text' | 'reasoning';

export type ModelEvent =
  /** The upstream has begun: its first well-formed event arrived (it may hold no answer yet).
   * `usage`: what it says of the input already. It is shown; charged where no other follows.
   * `native`: what its format says besides, where the client's is the same. */
  | { type: 'start'; usage?: TokenUsage; native?: NativeValue }
  /** `plain`: no character needs escaping in JSON, so encoders may copy it. `logprobs`: as the
   * client's own format has them, of exactly this text. `run`: its deltas, of several. */
  | { type: 'text'; text: string; plain: boolean; logprobs?: unknown[]; run?: TextRun }
  | { type: 'refusal'; text: string }
  /** `member`: where a server of Chat Completions has it, if not in the usual one. */
  | { type: 'reasoning'; text: string; member?: 'reasoning' }
  /** A part of a message or of reasoning begins here and, with `item`, the item around it. Readers
   * tell borders only where the client's format is the upstream's own: the others know none. */
  | { type: 'part'; kind: PartKind; item: Record<string, unknown> | null }
  /** The logprobs of a text part as its ends list them, where its deltas said otherwise. */
  | { type: 'part_logprobs'; done: unknown[]; part: unknown[] }
  /** What the message that is being written has beside its parts, where its end says otherwise. */
  | { type: 'item_members'; members: Record<string, unknown> }
  /** Closes the run of reasoning: Messages `{signature}`; Responses `{id, encrypted_content}`; Chat
   * `{server, members}`, which may come without reasoning. */
  | ({ type: 'reasoning_end' } & NativeValue)
  /** Belongs to the text before it. */
  | { type: 'citation'; citation: Citation }
  /** Tool calls are keyed by `index`, counted from 0 in order of appearance. `native`: what the
   * call has besides, where the client's format is the upstream's own. `freeText`: its arguments
   * are a custom tool's text, whose end is told. `returned`: for clients of another format. */
  | {
      type: 'tool_call';
      index: number;
      id: string;
      name: string;
      native?: NativeValue;
      freeText?: true;
      returned?: Returned;
    }
  | { type: 'tool_arguments'; index: number; text: string }
  | { type: 'tool_end'; index: number }
  /** A whole item (Responses) or content block (Messages) without a neutral form; `index`: the end
   * of one that was begun. */
  | ({ type: 'native'; index?: number } & NativeValue)
  /** One as it is announced, and what is told of it before its end. Told as borders are. */
  | ({ type: 'native_begin' | 'native_event'; index: number } & NativeValue)
  /** Members that only the same format understands: logprobs, annotations. `alone`: it is all that
   * a delta of the answer says, to a client that is shown it. */
  | {
      type: 'extra';
      format: 'chat';
      delta: Record<string, unknown>;
      choice: Record<string, unknown>;
      alone?: true;
    }
  /** A part of the answer that nobody here can read, by the short name of its kind. It is counted
   * and logged, and shown to nobody. */
  | { type: 'unread'; part: string }
  /** `native`: how its format says it, where that says more than the reason. */
  | { type: 'finish'; reason: FinishReason; stopSequence?: string; native?: NativeValue }
  /** Cumulative: the last one counts. */
  | { type: 'usage'; usage: UsageReport }
  | { type: 'failure'; failure: UpstreamFailure };

/** Whether the event is part of the answer: after the first one there is no failover. */
export function isAnswerDelta(event: ModelEvent): boolean {
  switch (event.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
    case 'tool_call':
    case 'tool_arguments':
    case 'native':
    case 'native_begin':
    case 'native_event':
      return true;
    case 'extra':
      return event.alone === true;
    default:
      return false;
  }
}

/** `svc_progress` of decisions.md, section 5. */
export interface Progress {
  stage: 'routing' | 'search' | 'tool' | 'answer';
  state: 'started' | 'completed' | 'failed';
  detail: string;
}

/** The event's `text` is that of all its pieces; none of them is empty. */
export interface TextRun {
  readonly pieces: readonly string[];
  /** How they came, where the client's format is the upstream's own. */
  readonly framed: FramedTexts | null;
}

/** Events of a stream that are nothing but `open`, a piece and `close`, one after the other. */
export interface FramedTexts {
  readonly raw: string;
  readonly open: string;
  readonly close: string;
}
