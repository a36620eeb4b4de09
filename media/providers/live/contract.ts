// What a realtime voice family is: how a session is set up at an upstream, how its messages become
// neutral events, and what a barge-in is there. No sockets here: `call.ts` owns them.
import type { UpstreamTarget } from '../generation/contract.ts';

/**
 * What is kept of an utterance until it is complete: half an hour of fast speech. A session has
 * up to four of them, with its codec: 256 KB; 4 MB in parts of one character, 32 bytes each.
 */
export const utteranceCharactersMax = 32_768;

/** One declared function that the server itself executes. */
export interface LiveTool {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>;
}

export interface LiveSetup {
  instructions: string;
  /** The upstream's name of the voice. */
  voice: string;
  /** History, oldest first. */
  context: readonly { role: 'user' | 'assistant'; content: string }[];
  tools: readonly LiveTool[];
}

/** What one report adds, in tokens; cached input is part of the input. Sum the reports. */
export interface LiveUsage {
  inputSpeechTokens: number;
  inputTextTokens: number;
  outputSpeechTokens: number;
  outputTextTokens: number;
}

export type LiveFailureKind =
  /** Credentials, address or model refused: trying again is of no use. */
  | 'refused'
  | 'busy'
  /** Nobody has paid the provider. */
  | 'unpaid'
  | 'connect'
  /** The connection ended, or was lost. */
  | 'closed'
  | 'garbage'
  | 'timeout';

/** How far into one item of the answer the user's ears are. */
export interface LivePosition {
  itemId: string;
  /** What of the item was sent to the client, in milliseconds from its start. */
  heardMs: number;
  /** Items behind it that the upstream has spoken and of which nothing was sent. */
  unsentItems?: readonly string[];
}

/**
 * In the order in which the upstream told them. Item ids are opaque, unique in the session.
 *
 * An answer is one or more `answer_started` with their audio, perhaps tool calls and what follows
 * their results, and one end: `answer_done`, `interrupted`, or our own `bargeIn`. After the latter
 * two nothing of it comes any more but its usage; after `answer_done` audio may still trail.
 */
export type LiveEvent =
  /** Set up, with the history; audio may be sent. Before it nothing else but `failed` comes. */
  | { type: 'ready' }
  /** The user speaks. A family that is not told so infers it, late. */
  | { type: 'speech_started' }
  | { type: 'speech_stopped' }
  /** The model begins an item of its answer. */
  | { type: 'answer_started'; itemId: string }
  /** 24 kHz pcm_s16le mono, whole samples. Never of an item that was interrupted. */
  | {
      type: 'audio';
      itemId: string;
      pcm: Uint8Array;
      /** A report of usage that was told before counts it already. */
      isReported?: true;
    }
  /** Sound of an answer that was given up: nobody hears it, the report of its usage counts it. */
  | { type: 'unheard'; durationMs: number }
  /** All audio of the item came. */
  | { type: 'audio_done'; itemId: string }
  /** `final`: `text` is the whole utterance; else it is appended. A user's may come late. */
  | {
      type: 'transcript';
      role: 'user' | 'assistant';
      itemId: string;
      text: string;
      final: boolean;
      /** Of an utterance that is long answered: nothing will tell that this part was the last. */
      isLate?: true;
    }
  /**
   * The user spoke over the answer: what is not yet played is void, and the upstream is to be told
   * with `truncate` what was. It also comes when the upstream had long sent the whole answer: of no
   * meaning then, if all of it was played.
   */
  | { type: 'interrupted'; itemId: string }
  /** The whole answer is there (not yet played). `interrupted`: the upstream gave it up itself. */
  | { type: 'answer_done'; outcome: 'completed' | 'interrupted' | 'incomplete' | 'failed' }
  /** The answer goes on after `toolResult`, of all calls that it made. */
  | { type: 'tool_call'; callId: string; name: string; argumentsJson: string }
  /** A call that can have no result: nobody executes it, and the answer goes on without it. */
  | { type: 'tool_refused'; callId: string; name: string }
  /** Calls whose results are no longer wanted. */
  | { type: 'tool_cancelled'; callIds: string[] }
  | { type: 'usage'; usage: LiveUsage }
  /** The answer is over and its usage did not come: what was heard of it can but be estimated. */
  | { type: 'unreported' }
  /** The upstream will end the session. */
  | { type: 'going_away'; leftMs: number }
  /** Something failed and the session goes on. The upstream's text is for the log only. */
  | { type: 'problem'; code: string; text: string }
  /** The session is over before `close` was called. The last event. */
  | { type: 'failed'; kind: LiveFailureKind; text: string }
  /** The session is over after `close`: no more usage will come. The last event. */
  | { type: 'ended' };

/** Messages for the upstream's socket, in order; text frames. */
export type LiveMessages = readonly string[];

/**
 * The protocol state of one session, pure: no clock, no socket. Never throws on what comes from the
 * upstream: unknown events and members are ignored, nonsense is a `failed` event of kind `garbage`.
 */
export interface LiveCodec {
  /** What is sent as soon as the socket is open. */
  open(): LiveMessages;
  /** One message of the upstream, text or binary. `replies` are to be sent (set-up in steps). */
  read(message: string | Uint8Array): { events: LiveEvent[]; replies: LiveMessages };
  /** pcm_s16le mono at the family's input rate. On the hot path: built by concatenation; ASCII. */
  audio(pcm: Uint8Array): string;
  /**
   * The client interrupts. `heard`: the item that plays, null when nothing was sent of any. From
   * here on late audio, transcripts and the end of the answer are swallowed, never its usage.
   */
  bargeIn(heard: LivePosition | null): LiveMessages;
  /**
   * Answers `interrupted`, when something was left to play. Clamped to what exists; what was not
   * sent at all leaves the upstream's history, so that the model does not take it for said.
   */
  truncate(heard: LivePosition): LiveMessages;
  toolResult(callId: string, name: string, outputJson: string): LiveMessages;
  /** No more audio will come; ends what runs, where the format can, so that its usage is told. */
  close(): LiveMessages;
  /** An answer runs whose usage was not reported. */
  readonly owesUsage: boolean;
}

export interface LiveFamily {
  readonly name: string;
  /** What `audio` takes. */
  readonly inputRateHz: 16_000 | 24_000;
  /** Where to connect. Credentials travel in headers wherever the vendor allows it. */
  address(target: UpstreamTarget): { url: string; headers: Record<string, string> };
  createCodec(setup: LiveSetup, target: UpstreamTarget): LiveCodec;
}

/** A live upstream session. After `failed` or `ended` nothing more is reported. */
export interface LiveCall {
  /** False: it was dropped and counted, since the socket's buffer is full or there is none yet. */
  audio(pcm: Uint8Array): boolean;
  bargeIn(heard: LivePosition | null): void;
  truncate(heard: LivePosition): void;
  toolResult(callId: string, name: string, outputJson: string): void;
  /** Reads no further, so that an answer that nobody has heard yet waits at the upstream. */
  pause(): void;
  resume(): void;
  /**
   * Ends the session when no usage is owed, at most `lingerMs` from now. Only what is used is
   * reported from here on (`usage`, `unheard`, `unreported`), then `ended` once. May be called at
   * any time, also twice (the first one counts).
   */
  close(lingerMs: number): void;
  readonly droppedFrames: number;
}

/** Never called before the call that opens the session has returned. */
export interface LiveListener {
  events(events: readonly LiveEvent[]): void;
}

export interface LiveDeadlines {
  connectMs: number;
  /** From connected to `ready`. */
  readyMs: number;
}
