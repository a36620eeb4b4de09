// One response of a Realtime session, as a row of events: speech, text or function calls, paced,
// cancelled or broken as the directive asks. The order is that of a spoken turn of the provider.
import { countWords } from '../answer.ts';
import type { SimLink } from '../contract.ts';
import type { PlannedCall } from '../directive.ts';
import type { Members } from '../members.ts';
import { deltaCount, deltaMs, toneDelta } from '../sound/tone.ts';
import { Alarm } from '../voice/alarm.ts';
import type { VoiceDirective, VoiceFault } from '../voice/directive.ts';
import { audioTokensOf, type TokenPair } from '../voice/tokens.ts';
import { serverError } from './failure.ts';
import type { Conversation, Item } from './items.ts';
import type { Outlet } from './outlet.ts';
import { AnswerOutput } from './output.ts';
import type { Settings } from './settings.ts';
import { usageOf, zeroUsage } from './usage.ts';

/** What an answer needs of its session. */
export interface AnswerHost {
  readonly link: SimLink;
  readonly outlet: Outlet;
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly conversationId: string;
  mute(): void;
  goAway(directive: VoiceDirective, silent: boolean): void;
  /** The first delta is out: a good moment for what comes at any time. */
  begun(): void;
  /** No longer the active one; `response.done` may still come. */
  over(answer: Answer): void;
  /** `response.done` was sent. */
  settled(): void;
}

export interface AnswerPlan {
  form: 'audio' | 'text' | 'calls';
  pieces: readonly string[];
  pitchHz: number;
  audioMs: number;
  calls: readonly PlannedCall[];
  /** Cut short by the limit of output tokens. */
  limited: boolean;
  metadata: unknown;
  /** False: the conversation is left as it is. */
  joins: boolean;
  input: TokenPair;
  before: TokenPair | null;
}

type Status = 'completed' | 'cancelled' | 'failed' | 'incomplete';

const lateDeltas = 3;
const lateGapMs = 20;
const rateLimit = { name: 'tokens', limit: 1_000_000, remaining: 995_000, reset_seconds: 0.3 };

export class Answer {
  readonly #host: AnswerHost;
  readonly #output: AnswerOutput;
  readonly #plan: AnswerPlan;
  readonly #directive: VoiceDirective;
  readonly #faults: ReadonlySet<VoiceFault>;
  readonly #alarm: Alarm;
  /** Of late usage; the other one paces late deltas then. */
  readonly #doneAlarm: Alarm;
  readonly #count: number;
  #index = 0;
  #over = false;
  #doneSent = false;

  /** `number`: which answer of the session it is, from 1. */
  constructor(host: AnswerHost, plan: AnswerPlan, directive: VoiceDirective, number: number) {
    const isHit = directive.turn === null || directive.turn === number;
    this.#host = host;
    this.#plan = plan;
    this.#directive = directive;
    this.#faults = isHit ? directive.faults : new Set();
    this.#alarm = new Alarm(host.link.wheel);
    this.#doneAlarm = new Alarm(host.link.wheel);
    const conversation = plan.joins ? host.conversation : null;
    this.#output = new AnswerOutput(host.outlet, conversation, this.#faults.has('duplicate_id'));
    const { form, audioMs, pieces, calls } = plan;
    const spoken = form === 'audio' ? deltaCount(audioMs) : pieces.length;
    this.#count = form === 'calls' ? calls.length : spoken;
  }

  get id(): string {
    return this.#output.responseId;
  }

  /** Audio of an item that it is still sending; null: not one of its own. */
  sentMsOf(item: Item): number | null {
    if (this.#plan.form !== 'audio' || !this.#output.items.includes(item)) return null;
    return Math.min(this.#plan.audioMs, this.#index * deltaMs);
  }

  start(): void {
    const { firstMs } = this.#directive.base;
    this.#host.link.cork(() => {
      this.#output.emit('response.created', { response: this.#response('in_progress') });
      this.#output.emit('rate_limits.updated', { rate_limits: [rateLimit] });
      const { form } = this.#plan;
      if (form !== 'calls') this.#output.openMessage(form === 'audio');
      if (firstMs === 0) this.#deliver();
    });
    if (firstMs > 0) this.#alarm.set(performance.now() + firstMs, () => this.#run());
  }

  /** Ends it before its time; what was sent is counted. */
  cancel(reason: 'turn_detected' | 'client_cancelled'): void {
    if (this.#over) return;
    this.#finish('cancelled', reason);
    if (this.#faults.has('late_deltas') && this.#plan.form === 'audio') this.#straggle(0);
  }

  /** Nothing of it may leave any more. */
  stop(): void {
    this.#over = true;
    this.#alarm.clear();
    this.#doneAlarm.clear();
  }

  #run(): void {
    this.#host.link.cork(() => this.#deliver());
  }

  #deliver(): void {
    const { gapMs, at } = this.#directive.base;
    while (this.#index < this.#count) {
      if (this.#index === at && this.#isBroken()) return;
      const isEarly = this.#index === this.#count - 2 && this.#faults.has('early_done');
      if (isEarly) this.#sendDone('completed', null);
      this.#deliverOne(this.#index);
      this.#index += 1;
      if (this.#index === 1) this.#host.begun();
      if (gapMs > 0 && this.#index < this.#count) {
        this.#alarm.set(performance.now() + gapMs, () => this.#run());
        return;
      }
    }
    if (this.#plan.limited) this.#finish('incomplete', 'max_output_tokens');
    else this.#finish('completed', null);
  }

  #deliverOne(index: number): void {
    const { form, pieces, pitchHz, audioMs, calls } = this.#plan;
    const call = calls[index];
    if (form === 'calls') {
      if (call !== undefined) this.#output.call(call, index);
      return;
    }
    // A short answer says its last words at its last delta.
    const isLast = index === this.#count - 1;
    const piece = isLast ? pieces.slice(index).join('') : (pieces[index] ?? '');
    if (piece !== '') {
      const kind = form === 'audio' ? 'output_audio_transcript' : 'output_text';
      this.#output.part(`response.${kind}.delta`, `"delta":${JSON.stringify(piece)}`);
    }
    if (form === 'audio') this.#sendAudio(toneDelta(pitchHz, audioMs, index));
  }

  #sendAudio(delta: string): void {
    this.#output.part('response.output_audio.delta', `"delta":"${delta}"`);
  }

  /** Applies what is to happen at this delta; true: nothing follows. */
  #isBroken(): boolean {
    const { link, outlet } = this.#host;
    const { afterMs, closeCode } = this.#directive;
    if (this.#faults.has('garbage')) outlet.raw('{"type":"response.output_aud');
    if (this.#faults.has('error')) outlet.error(serverError);
    if (afterMs === null && this.#faults.has('goaway')) this.#host.goAway(this.#directive, false);
    if (afterMs === null && this.#faults.has('goaway_silence')) {
      this.#host.goAway(this.#directive, true);
      return true;
    }
    if (this.#faults.has('stall')) this.#host.mute();
    else if (this.#faults.has('cut')) link.cut();
    else if (this.#faults.has('close')) link.close(closeCode, serverError.message);
    else if (this.#faults.has('failed')) this.#finish('failed', null);
    else if (this.#faults.has('incomplete')) this.#finish('incomplete', 'content_filter');
    else return false;
    return true;
  }

  #finish(status: Status, reason: string | null): void {
    this.#over = true;
    this.#alarm.clear();
    const { form, audioMs, pieces } = this.#plan;
    const [item] = this.#output.items;
    if (form !== 'calls' && item !== undefined) {
      const text = (this.#index === this.#count ? pieces : pieces.slice(0, this.#index)).join('');
      item.textTokens = countWords(text);
      if (form === 'audio') {
        item.audioMs = Math.min(audioMs, this.#index * deltaMs);
        item.audioTokens = audioTokensOf(item.audioMs);
      }
      this.#output.closeMessage(form === 'audio', text, status === 'completed');
    }
    this.#host.over(this);
    if (this.#doneSent) return;
    if (this.#faults.has('late_usage')) {
      const dueMs = performance.now() + this.#directive.lateMs;
      this.#doneAlarm.set(dueMs, () => this.#sendDone(status, reason));
    } else this.#sendDone(status, reason);
  }

  #sendDone(status: Status, reason: string | null): void {
    this.#doneSent = true;
    this.#output.emit('response.done', { response: this.#response(status, reason) });
    this.#host.settled();
  }

  #usage(): Members {
    const { input, before, pieces, audioMs } = this.#plan;
    const output = { text: 0, audio: 0 };
    for (const item of this.#output.items) {
      // Told before its end, it counts everything that it will have sent.
      output.text += this.#over ? item.textTokens : countWords(pieces.join(''));
      output.audio += this.#over ? item.audioTokens : audioTokensOf(audioMs);
    }
    return this.#faults.has('zero_usage') ? zeroUsage : usageOf(input, before, output);
  }

  #response(status: Status | 'in_progress', reason: string | null = null): Members {
    const { settings, conversationId } = this.#host;
    const { format, voice } = settings.audio.output;
    const isRunning = status === 'in_progress';
    const details = {
      type: status,
      ...(reason === null ? {} : { reason }),
      ...(status === 'failed' ? { error: { type: 'server_error', code: 'failed' } } : {}),
    };
    const hasUsage = !isRunning && !this.#faults.has('no_usage');
    return {
      object: 'realtime.response',
      id: this.id,
      status,
      ...(isRunning || status === 'completed' ? {} : { status_details: details }),
      output: isRunning ? [] : this.#output.items.map(({ body }) => body),
      ...(this.#plan.joins ? { conversation_id: conversationId } : {}),
      output_modalities: [this.#plan.form === 'text' ? 'text' : 'audio'],
      max_output_tokens: settings.max_output_tokens,
      audio: { output: { format, voice } },
      metadata: this.#plan.metadata ?? null,
      ...(hasUsage ? { usage: this.#usage() } : {}),
    };
  }

  /** Deltas of an answer that was cancelled. */
  #straggle(sent: number): void {
    if (sent === lateDeltas) return;
    this.#alarm.set(performance.now() + lateGapMs, () => {
      const index = this.#index + sent;
      this.#sendAudio(toneDelta(this.#plan.pitchHz, (index + 1) * deltaMs, index));
      this.#straggle(sent + 1);
    });
  }
}
