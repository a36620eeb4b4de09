// A conversation: microphone, loudspeaker and as many connections as it takes, one after the other.
// A renewable end opens the next one by itself, with the token and what was said so far.
import { type Account, AccountProblem, UNREACHABLE } from './account.ts';
import { type Connection, type Ending, openConnection } from './connection.ts';
import { type Microphone, MicrophoneProblem, openMicrophone } from './microphone.ts';
import { openSpeaker, type Speaker, SpeakerProblem } from './speaker.ts';
import { Timings } from './timings.ts';
import {
  closed,
  contextOf,
  type Transcript,
  withoutReserved,
  withReserved,
  withSpoken,
} from './transcript.ts';
import { endingText, type ServerEvent, type SpeechState } from './wire.ts';

export type Phase = 'idle' | 'opening' | 'live' | 'renewing' | 'failed';

/** A lost conversation is tried again for so long: servers start anew, phones change networks. */
const RENEWING_MS = 60_000;
const RETRY_MS = 700;
const RETRY_MS_MAX = 5_000;
/** Tokens live for about ten minutes. */
const TOKEN_MS = 570_000;

export class Conversation {
  phase: Phase = 'idle';
  state: SpeechState = 'connecting';
  /** For people: why it ended, or what is wrong. */
  notice = '';
  tool: string | null = null;
  transcript: Transcript = [];
  timings = new Timings();
  userLevel = 0;
  voiceLevel = 0;
  isMuted = false;
  speaker: Speaker | null = null;
  readonly #account: Account;
  readonly #changed: () => void;
  #microphone: Microphone | null = null;
  #connection: Connection | null = null;
  #voiceId = '';
  #token: { text: string; atMs: number } | null = null;
  /** Since the last connection that became ready. */
  #retries = 0;
  /** When that was lost. */
  #lostAtMs = 0;
  /** Counts the conversations: what one has asked for may be answered when the next one runs. */
  #number = 0;
  /** The user wants no other connection, however this one ends. */
  #isEnding = false;
  /** From the button until the server's clear: what arrives is of the old answer. */
  #isDiscarding = false;

  constructor(account: Account, changed: () => void) {
    this.#account = account;
    this.#changed = changed;
  }

  get isOpen(): boolean {
    return this.phase === 'opening' || this.phase === 'live' || this.phase === 'renewing';
  }

  async start(voiceId: string): Promise<void> {
    if (this.isOpen) return;
    this.#voiceId = voiceId;
    this.#token = null;
    this.#retries = 0;
    this.#isEnding = false;
    this.#number += 1;
    const number = this.#number;
    this.timings = new Timings();
    this.transcript = [];
    this.#become('opening', '');
    try {
      const speaker = await openSpeaker((report) => {
        this.voiceLevel = report.level;
        this.timings.played(performance.now(), report, speaker.deviceMs);
      });
      if (!this.#isCurrent(number)) return speaker.close();
      this.speaker = speaker;
      const microphone = await openMicrophone(
        ({ pcm, level }) => {
          this.userLevel = this.isMuted ? 0 : level;
          this.timings.heardUser(performance.now(), this.userLevel);
          if (!this.#isEnding) this.#connection?.sendFrame(pcm);
        },
        () => this.#close('failed', 'The microphone was taken away.'),
      );
      // Ended while the browser asked for consent; perhaps begun again.
      if (!this.#isCurrent(number)) return microphone.close();
      this.#microphone = microphone;
      microphone.setMuted(this.isMuted);
      await this.#connect();
    } catch (error) {
      if (this.#isCurrent(number)) this.#close('failed', textOf(error));
    }
  }

  /** From here on nothing is sent or heard; the server may take a moment to say goodbye. */
  end(): void {
    this.#isEnding = true;
    this.#isDiscarding = true;
    this.speaker?.clear();
    if (this.#connection === null) this.#close('idle', '');
    else this.#connection.end();
  }

  /** Silence now; the server is told to stop, and what it sent before it knew is dropped. */
  bargeIn(): void {
    if (this.phase !== 'live' || this.#isEnding) return;
    this.timings.bargedIn(performance.now());
    this.#isDiscarding = true;
    this.speaker?.clear();
    this.#connection?.bargeIn();
  }

  setMuted(isMuted: boolean): void {
    this.isMuted = isMuted;
    this.#microphone?.setMuted(isMuted);
    this.#changed();
  }

  #isCurrent(number: number): boolean {
    return this.isOpen && this.#number === number;
  }

  async #connect(): Promise<void> {
    const number = this.#number;
    this.state = 'connecting';
    const ticket = await this.#account.ticket();
    if (!this.#isCurrent(number)) return;
    const token = this.#token;
    const isFresh = token !== null && performance.now() - token.atMs < TOKEN_MS;
    const start = {
      ticket,
      voiceId: this.#voiceId,
      context: contextOf(this.transcript),
      continuationToken: isFresh ? token.text : null,
    };
    this.#isDiscarding = false;
    this.#connection = openConnection(start, {
      event: (event) => this.#event(event),
      audio: (pcm) => {
        if (!this.#isDiscarding) this.speaker?.push(pcm);
      },
      ended: (ending) => this.#ended(ending),
    });
  }

  #event(event: ServerEvent): void {
    switch (event.type) {
      case 'session.ready': {
        const text = event.continuation_token;
        this.#token = text === null ? null : { text, atMs: performance.now() };
        this.#retries = 0;
        this.#become('live', '');
        return;
      }
      case 'status':
        this.#turn(event.state);
        break;
      case 'transcript':
        this.transcript = withSpoken(this.transcript, event);
        break;
      case 'playback.clear':
        this.#isDiscarding = this.#isEnding;
        this.speaker?.clear();
        break;
      case 'tool':
        this.tool = event.state === 'started' ? event.name : null;
        break;
      case 'error':
        if (!event.fatal) this.notice = event.message;
    }
    this.#changed();
  }

  #turn(state: SpeechState): void {
    const isHeard = state === 'thinking' && this.state === 'listening';
    if (isHeard) this.transcript = withReserved(this.transcript);
    else if (state === 'listening') this.transcript = withoutReserved(this.transcript);
    this.state = state;
  }

  #ended(ending: Ending): void {
    this.#connection = null;
    this.transcript = closed(this.transcript);
    this.tool = null;
    if (ending.kind === 'refused' && !this.#mayRetry(ending)) this.#close('failed', ending.text);
    else if (this.#isEnding) this.#close('idle', endingText('client_end'));
    else if (ending.kind === 'ended' && !ending.renewable) {
      const isFault = ending.reason === 'error' || ending.reason === 'credits_exhausted';
      this.#close(isFault ? 'failed' : 'idle', endingText(ending.reason));
    } else {
      const lost = 'The connection was lost, and could not be opened again.';
      const notice = ending.kind === 'ended' ? endingText(ending.reason) : '';
      this.#renew(notice, ending.kind === 'refused' ? ending.text : lost);
    }
  }

  /** Whether another start may be taken: without the token, or in a moment. */
  #mayRetry({ code, isRetryable }: Extract<Ending, { kind: 'refused' }>): boolean {
    if (code !== 'invalid_continuation') return isRetryable && this.phase === 'renewing';
    // Its time went on while this machine slept, or the server was started anew on other data.
    const hadToken = this.#token !== null;
    this.#token = null;
    return hadToken;
  }

  /** Tries again in a moment, or ends with the last words when it has for a minute. */
  #renew(notice: string, lastWords: string): void {
    const number = this.#number;
    const nowMs = performance.now();
    if (this.#retries === 0) this.#lostAtMs = nowMs;
    if (nowMs - this.#lostAtMs > RENEWING_MS) {
      this.#close('failed', lastWords);
      return;
    }
    const waitMs = Math.min(RETRY_MS * 2 ** (this.#retries - 1), RETRY_MS_MAX);
    const delayMs = this.#retries === 0 ? 0 : waitMs;
    this.#retries += 1;
    this.#become('renewing', notice);
    setTimeout(() => {
      if (!this.#isCurrent(number)) return;
      this.#connect().catch((error: unknown) => {
        if (!this.#isCurrent(number)) return;
        const isPassing = error instanceof AccountProblem && error.isPassing;
        if (isPassing) this.#renew(error.message, error.message);
        else this.#close('failed', textOf(error));
      });
    }, delayMs);
  }

  #close(phase: 'idle' | 'failed', notice: string): void {
    this.#connection?.drop();
    this.#connection = null;
    this.#microphone?.close();
    this.#microphone = null;
    this.speaker?.close();
    this.speaker = null;
    this.userLevel = 0;
    this.voiceLevel = 0;
    this.tool = null;
    this.#become(phase, notice);
  }

  #become(phase: Phase, notice: string): void {
    this.phase = phase;
    this.notice = notice;
    this.#changed();
  }
}

function textOf(error: unknown): string {
  const problems = [AccountProblem, MicrophoneProblem, SpeakerProblem];
  if (problems.some((kind) => error instanceof kind)) return (error as Error).message;
  // The worklets are fetched when a conversation begins.
  if (error instanceof DOMException && error.name === 'AbortError') return UNREACHABLE;
  return 'This browser cannot play or record sound as this page needs it.';
}
