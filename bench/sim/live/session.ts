// One BidiGenerateContent session: set-up, audio that the ear hears, turns of the model. What it
// sends is JSON in binary frames, as the provider does; what it refuses ends the connection.
import { countWords } from '../answer.ts';
import type { SimLink, SimSession } from '../contract.ts';
import { isMembers, type Members, membersOf } from '../members.ts';
import { Ear, type EarListener } from '../sound/ear.ts';
import { samplesOfBase64 } from '../sound/pitch.ts';
import { unknownTail } from '../unknown.ts';
import { type Actor, actOn } from '../voice/act.ts';
import { Brief } from '../voice/brief.ts';
import type { VoiceDirective } from '../voice/directive.ts';
import { audioTokensOf, type TokenPair } from '../voice/tokens.ts';
import {
  checkInput,
  deadlineExpired,
  explicitActivity,
  invalid,
  invalidJson,
  kindOf,
  type LiveRefusal,
  setupFirst,
  textsOf,
} from './check.ts';
import { keepHistory } from './resumption.ts';
import { type LiveSetup, readSetup } from './setup.ts';
import { Turn, type TurnHost } from './turn.ts';

const defaultRateHz = 16_000;
const paddingMs = 300;
const writtenPitchHz = 440;

export class LiveSession implements SimSession, TurnHost, EarListener, Actor {
  readonly link: SimLink;
  readonly #idTail: string;
  readonly #brief: Brief;
  readonly #seen: Record<string, number> = {};
  #setup: LiveSetup | null = null;
  /** The set-up as it came. */
  #asked: Members | null = null;
  #ear: Ear | null = null;
  #rateHz = 0;
  #ids = 0;
  #muted = false;
  #turn: Turn | null = null;
  #turns = 0;
  #history: TokenPair = { text: 0, audio: 0 };
  #awaitsHistory = false;
  #before: TokenPair | null = null;
  #speechStartMs = 0;
  /** Where the turn before ended: its audio is not counted again. */
  #heardToMs = 0;
  #pitchHz = 0;
  /** Input transcription that is still to come. */
  #untold = '';
  /** A turn of the user that waits for the end of the model's. */
  #owesAnswer = false;
  /** Calls without a result, and those that were cancelled. */
  readonly #pending = new Set<string>();
  readonly #cancelled = new Set<string>();

  constructor(link: SimLink, directiveText: string) {
    this.link = link;
    this.#idTail = link.id(12);
    this.#brief = new Brief(link, (directive, silent) => this.goAway(directive, silent));
    this.direct(directiveText);
  }

  newId(): string {
    this.#ids += 1;
    return `function-call-${this.#idTail}${this.#ids}`;
  }

  message(bytes: Buffer): void {
    const message = parse(bytes);
    const kind = message === null ? invalidJson : kindOf(message);
    if (message === null || typeof kind !== 'string') {
      this.#refuse(typeof kind === 'string' ? invalidJson : kind);
      return;
    }
    this.#seen[kind] = (this.#seen[kind] ?? 0) + 1;
    const body = isMembers(message[kind]) ? message[kind] : {};
    const refusal = this.#take(kind, body);
    if (refusal !== null) this.#refuse(refusal);
  }

  #take(kind: string, body: Members): LiveRefusal | null {
    if ((kind === 'setup') !== (this.#setup === null)) return setupFirst;
    if (kind === 'setup') return this.#begin(body);
    if (kind === 'realtimeInput') return this.#input(body);
    return kind === 'clientContent' ? this.#content(body) : this.#results(body);
  }

  #begin(members: Members): LiveRefusal | null {
    this.link.noteSetup({ setup: members });
    const setup = readSetup(members);
    if ('reason' in setup) return setup;
    this.#setup = setup;
    this.#asked = members;
    this.#history = setup.history;
    this.#awaitsHistory = setup.awaitsHistory;
    this.#read(setup.instructions);
    this.send('"setupComplete":{}');
    this.#sendResumption(true);
    return null;
  }

  #input(input: Members): LiveRefusal | null {
    const refusal = checkInput(input);
    if (refusal !== null) return refusal;
    const blobs = [...membersOf(input.mediaChunks), ...membersOf([input.audio])];
    for (const blob of blobs) {
      const wrong = this.#hear(blob);
      if (wrong !== null) return wrong;
    }
    if (
      (input.activityStart ?? input.activityEnd) !== undefined &&
      this.#setup?.isManual !== true
    ) {
      return explicitActivity;
    }
    if (input.activityStart !== undefined) this.speechStarted(this.#heardMs());
    if (input.activityEnd !== undefined) this.#flush();
    if (input.audioStreamEnd === true && this.#ear?.speaking === true) this.#flush();
    if (typeof input.text === 'string') {
      this.#interrupt();
      this.#read(input.text);
      this.#respond();
    }
    return null;
  }

  #hear({ data, mimeType }: Members): LiveRefusal | null {
    const found = /^audio\/pcm(?:;\s*rate=(\d{4,6}))?$/.exec(String(mimeType));
    if (found === null) return invalid('Unsupported MIME type of realtime input.');
    const samples = typeof data === 'string' ? samplesOfBase64(data) : null;
    if (samples === null) return invalid('Invalid value of realtime_input.audio.data.');
    const rateHz = Number(found[1] ?? defaultRateHz);
    if (this.#ear === null || this.#rateHz !== rateHz) {
      this.#rateHz = rateHz;
      this.#ear = new Ear(
        rateHz,
        this.#setup?.isManual === true ? null : (this.#setup?.silenceMs ?? null),
        this,
      );
    }
    this.#ear.hear(samples);
    return null;
  }

  #heardMs(): number {
    return Math.round(this.#ear?.heardMs ?? 0);
  }

  /** The user's turn ends here, whatever the ear says. */
  #flush(): void {
    this.speechStopped(this.#heardMs(), this.#ear?.flush() ?? 0);
  }

  #content(content: Members): LiveRefusal | null {
    const isHistory = this.#awaitsHistory;
    if (!isHistory) this.#interrupt();
    for (const turn of membersOf(content.turns)) this.#read(textsOf(turn));
    if (content.turnComplete !== true) return null;
    this.#awaitsHistory = false;
    if (!isHistory) this.#respond();
    return null;
  }

  #results(response: Members): LiveRefusal | null {
    for (const result of membersOf(response.functionResponses)) {
      const id = String(result.id);
      if (this.#cancelled.has(id)) continue;
      if (!this.#pending.delete(id)) return invalid(`Unknown function response id ${id}.`);
      this.#history.text += countWords(JSON.stringify(result.response) ?? '');
    }
    if (this.#pending.size === 0 && this.#turn === null) this.#respond();
    return null;
  }

  #read(text: string): void {
    this.#history.text += countWords(text);
    this.direct(text);
  }

  closed(): void {
    this.#muted = true;
    this.#brief.goingAway.clear();
    this.#turn?.stop();
  }

  act(directiveText: string): void {
    actOn(this, directiveText);
  }

  view(): Record<string, unknown> {
    return {
      family: 'live',
      setup: this.#asked,
      events: { ...this.#seen },
      heard_ms: this.#heardMs(),
      answers: this.#turns,
    };
  }

  speechStarted(onsetMs: number): void {
    this.#speechStartMs = Math.max(this.#heardToMs, onsetMs - paddingMs);
    if (this.#setup?.interrupts === true) this.#interrupt();
  }

  speechStopped(endMs: number, pitchHz: number): void {
    this.#pitchHz = pitchHz;
    this.#heardToMs = endMs;
    this.#history.audio += audioTokensOf(endMs - this.#speechStartMs);
    if (this.#setup?.hearsTranscript === true) this.#untold = ` heard ${pitchHz}`;
    this.#respond();
  }

  /** The user's turn voids what the model says, and calls that it waits for. */
  #interrupt(): void {
    this.#turn?.interrupt();
    if (this.#pending.size === 0) return;
    this.send(`"toolCallCancellation":${JSON.stringify({ ids: [...this.#pending] })}`);
    for (const id of this.#pending) this.#cancelled.add(id);
    this.#pending.clear();
  }

  #respond(): void {
    this.#owesAnswer = this.#turn !== null;
    if (this.#owesAnswer) return;
    if (!this.#brief.directive.faults.has('late_transcript')) this.#sendTranscript();
    const directive = this.#brief.directive;
    const round = directive.base.rounds[this.#brief.roundIndex] ?? [];
    const calls = round.filter(({ name }) => this.#setup?.declared.has(name) === true);
    if (calls.length > 0) this.#brief.roundIndex += 1;
    const text = directive.base.text ?? ` heard ${this.#pitchHz}`;
    const plan = {
      pieces: text.split(/(?= )/),
      pitchHz: (this.#pitchHz === 0 ? writtenPitchHz : this.#pitchHz) / 2,
      calls,
      input: { ...this.#history },
      before: this.#before,
      transcribed: this.#setup?.saysTranscript === true,
    };
    this.#before = plan.input;
    this.#turns += 1;
    this.#sendResumption(false);
    this.#turn = new Turn(this, plan, directive, this.#turns);
    this.#turn.start();
  }

  #sendTranscript(): void {
    if (this.#untold === '') return;
    for (const word of this.#untold.split(/(?= )/)) {
      this.send(`"serverContent":{"inputTranscription":{"text":${JSON.stringify(word)}}}`);
    }
    this.#untold = '';
  }

  over(_turn: Turn, output: TokenPair): void {
    this.#turn = null;
    this.#history.text += output.text;
    this.#history.audio += output.audio;
  }

  settled(): void {
    this.#sendTranscript();
    this.#sendResumption(this.#pending.size === 0);
    if (this.#owesAnswer) this.#respond();
  }

  /** Handles come only while nothing runs; in between there is none. */
  #sendResumption(resumable: boolean): void {
    if (this.#setup?.resumes !== true) return;
    const newHandle = resumable ? keepHistory(`${this.#idTail}${this.#turns}`, this.#history) : '';
    const update = resumable ? { newHandle, resumable } : { resumable };
    this.send(`"sessionResumptionUpdate":${JSON.stringify(update)}`);
  }

  expect(ids: readonly string[]): void {
    for (const id of ids) this.#pending.add(id);
  }

  goAway(directive: VoiceDirective, silent: boolean): void {
    this.send(`"goAway":{"timeLeft":"${directive.leftMs / 1000}s"}`);
    if (silent) this.mute();
    else {
      this.#brief.goingAway.set(performance.now() + directive.leftMs, () => {
        this.link.close(deadlineExpired.code, deadlineExpired.reason);
      });
    }
  }

  mute(): void {
    this.#muted = true;
    this.#turn?.stop();
  }

  direct(text: string): void {
    this.#brief.read(text);
  }

  #refuse({ code, reason }: LiveRefusal): void {
    this.#turn?.stop();
    this.link.close(code, reason.slice(0, 120));
  }

  /** `members`: those of the message, without braces. */
  send(members: string): void {
    if (!this.#brief.directive.base.unknown) {
      this.sendRaw(`{${members}}`);
      return;
    }
    this.sendRaw(`{${unknownTail.slice(1)}}`);
    this.sendRaw(`{${members}${unknownTail}}`);
  }

  sendRaw(text: string): void {
    if (!this.#muted) this.link.send(text, true);
  }
}

function parse(bytes: Buffer): Members | null {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isMembers(value) ? value : null;
  } catch {
    return null;
  }
}
