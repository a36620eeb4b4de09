// One turn of the model in BidiGenerateContent: audio, generation complete, and when it would have
// been played, turn complete with the usage beside it; or interrupted, or tool calls.
import type { SimLink } from '../contract.ts';
import type { PlannedCall } from '../directive.ts';
import { isMembers, type Members } from '../members.ts';
import { deltaCount, deltaMs, toneDelta } from '../sound/tone.ts';
import { Alarm } from '../voice/alarm.ts';
import type { VoiceDirective, VoiceFault } from '../voice/directive.ts';
import { audioTokensOf, type TokenPair } from '../voice/tokens.ts';
import { deadlineExpired } from './check.ts';

export interface TurnHost {
  readonly link: SimLink;
  send(message: string): void;
  sendRaw(text: string): void;
  mute(): void;
  goAway(directive: VoiceDirective, silent: boolean): void;
  newId(): string;
  /** Calls that were made: their results continue the turn. */
  expect(ids: readonly string[]): void;
  /** No longer the active one; what it said joins the history. */
  over(turn: Turn, output: TokenPair): void;
  /** The input transcription that comes late may come now. */
  settled(): void;
}

export interface TurnPlan {
  pieces: readonly string[];
  pitchHz: number;
  calls: readonly PlannedCall[];
  input: TokenPair;
  /** Input of the turn before: cached. */
  before: TokenPair | null;
  /** The set-up asked for it. */
  transcribed: boolean;
}

const lateDeltas = 3;

export class Turn {
  readonly #host: TurnHost;
  readonly #plan: TurnPlan;
  readonly #directive: VoiceDirective;
  readonly #faults: ReadonlySet<VoiceFault>;
  readonly #alarm: Alarm;
  #index = 0;
  #startedMs = 0;
  #over = false;

  constructor(host: TurnHost, plan: TurnPlan, directive: VoiceDirective, number: number) {
    this.#host = host;
    this.#plan = plan;
    this.#directive = directive;
    const isHit = directive.turn === null || directive.turn === number;
    this.#faults = isHit ? directive.faults : new Set();
    this.#alarm = new Alarm(host.link.wheel);
  }

  start(): void {
    const { firstMs } = this.#directive.base;
    const begin = () => {
      this.#startedMs = performance.now();
      this.#run();
    };
    if (firstMs > 0) this.#alarm.set(performance.now() + firstMs, begin);
    else begin();
  }

  /** The user spoke: what is not played is void. */
  interrupt(): void {
    if (this.#over) return;
    this.#alarm.clear();
    this.#host.send('"serverContent":{"interrupted":true}');
    if (this.#faults.has('late_deltas')) {
      for (let late = 0; late < lateDeltas; late += 1) this.#sendDelta(this.#index + late, false);
    }
    this.#complete('');
  }

  stop(): void {
    this.#over = true;
    this.#alarm.clear();
  }

  #run(): void {
    this.#host.link.cork(() => this.#deliver());
  }

  #deliver(): void {
    if (this.#plan.calls.length > 0) {
      if (!this.#isBroken()) this.#call();
      return;
    }
    const { gapMs, at } = this.#directive.base;
    const count = deltaCount(this.#directive.answerMs);
    while (this.#index < count) {
      if (this.#index === at && this.#isBroken()) return;
      if (this.#index === count - 2 && this.#faults.has('early_done')) this.#generated();
      this.#sendDelta(this.#index, true);
      this.#index += 1;
      if (gapMs > 0 && this.#index < count) {
        this.#alarm.set(performance.now() + gapMs, () => this.#run());
        return;
      }
    }
    if (!this.#faults.has('early_done')) this.#generated();
    const playedMs = this.#startedMs + this.#directive.answerMs;
    if (this.#directive.playback) this.#alarm.set(playedMs, () => this.#complete(''));
    else this.#complete('');
  }

  #generated(): void {
    this.#host.send('"serverContent":{"generationComplete":true}');
  }

  /** Transcription and audio come in messages of their own, in no promised order. */
  #sendDelta(index: number, withText: boolean): void {
    const { pieces, pitchHz, transcribed } = this.#plan;
    const { answerMs } = this.#directive;
    const isLast = index === deltaCount(answerMs) - 1;
    const piece = isLast ? pieces.slice(index).join('') : (pieces[index] ?? '');
    if (withText && transcribed && piece !== '') {
      this.#host.send(`"serverContent":{"outputTranscription":{"text":${JSON.stringify(piece)}}}`);
    }
    const totalMs = withText ? answerMs : (index + 1) * deltaMs;
    const data = toneDelta(pitchHz, totalMs, index);
    this.#host.send(
      '"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":' +
        `{"mimeType":"audio/pcm;rate=24000","data":"${data}"}}]}}`,
    );
  }

  #call(): void {
    const functionCalls = this.#plan.calls.map(({ name, argumentText }) => ({
      id: this.#host.newId(),
      name,
      args: argumentsOf(argumentText),
    }));
    const words = functionCalls.length * 2;
    const usage = this.#usage({ text: words, audio: 0 });
    const report = usage === null ? '' : `,"usageMetadata":${JSON.stringify(usage)}`;
    this.#over = true;
    this.#host.send(`"toolCall":${JSON.stringify({ functionCalls })}${report}`);
    this.#host.expect(functionCalls.map(({ id }) => id));
    this.#host.over(this, { text: words, audio: 0 });
    this.#host.settled();
  }

  #isBroken(): boolean {
    const { link } = this.#host;
    const { afterMs, closeCode } = this.#directive;
    if (this.#faults.has('garbage')) this.#host.sendRaw('{"serverContent":{"modelT');
    if (afterMs === null && this.#faults.has('goaway')) this.#host.goAway(this.#directive, false);
    if (afterMs === null && this.#faults.has('goaway_silence')) {
      this.#host.goAway(this.#directive, true);
      return true;
    }
    if (this.#faults.has('stall')) this.#host.mute();
    else if (this.#faults.has('cut')) link.cut();
    else if (this.#faults.has('close')) link.close(closeCode, deadlineExpired.reason);
    else if (this.#faults.has('failed')) this.#complete('RESPONSE_REJECTED');
    else if (this.#faults.has('incomplete')) this.#complete('GENERATED_AUDIO_SAFETY');
    else return false;
    return true;
  }

  #complete(reason: string): void {
    this.#over = true;
    this.#alarm.clear();
    const sentMs = Math.min(this.#directive.answerMs, this.#index * deltaMs);
    const output = { text: 0, audio: audioTokensOf(sentMs) };
    const usage = this.#usage(output);
    const why = reason === '' ? '' : `,"turnCompleteReason":"${reason}"`;
    const report = usage === null ? '' : `"usageMetadata":${JSON.stringify(usage)}`;
    const isLate = this.#faults.has('late_usage');
    const beside = report === '' || isLate ? '' : `,${report}`;
    this.#host.send(`"serverContent":{"turnComplete":true${why}}${beside}`);
    if (isLate && report !== '') {
      const dueMs = performance.now() + this.#directive.lateMs;
      this.#alarm.set(dueMs, () => this.#host.send(report));
    }
    this.#host.over(this, output);
    this.#host.settled();
  }

  #usage(output: TokenPair): Members | null {
    if (this.#faults.has('no_usage')) return null;
    const isZero = this.#faults.has('zero_usage');
    return liveUsage(
      isZero ? { text: 0, audio: 0 } : this.#plan.input,
      isZero ? null : this.#plan.before,
      isZero ? { text: 0, audio: 0 } : output,
    );
  }
}

/** This format has objects here: other text is none, and the simulator goes on. */
function argumentsOf(text: string): Members {
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) ? value : {};
  } catch {
    return {};
  }
}

/** Not cumulative: the history counts again as prompt, part of it from the cache. */
function liveUsage(input: TokenPair, before: TokenPair | null, output: TokenPair): Members {
  const cached = {
    text: Math.min(input.text, before?.text ?? 0),
    audio: Math.min(input.audio, before?.audio ?? 0),
  };
  const promptTokenCount = input.text + input.audio;
  const responseTokenCount = output.text + output.audio;
  const cachedContentTokenCount = cached.text + cached.audio;
  return {
    promptTokenCount,
    responseTokenCount,
    totalTokenCount: promptTokenCount + responseTokenCount,
    promptTokensDetails: details(input),
    responseTokensDetails: details(output),
    ...(cachedContentTokenCount === 0
      ? {}
      : { cachedContentTokenCount, cacheTokensDetails: details(cached) }),
  };
}

function details({ text, audio }: TokenPair): Members[] {
  return [
    ...(text === 0 ? [] : [{ modality: 'TEXT', tokenCount: text }]),
    ...(audio === 0 ? [] : [{ modality: 'AUDIO', tokenCount: audio }]),
  ];
}
