// One Realtime session: client events in, the conversation, turns that the ear hears, answers out.
import type { SimLink, SimSession } from '../contract.ts';
import { isMembers, type Members } from '../members.ts';
import { Ear, type EarListener } from '../sound/ear.ts';
import { samplesOfBase64 } from '../sound/pitch.ts';
import { type Actor, actOn } from '../voice/act.ts';
import { Brief } from '../voice/brief.ts';
import { parseVoiceDirective, type VoiceDirective } from '../voice/directive.ts';
import { audioTokensOf, type TokenPair } from '../voice/tokens.ts';
import { Answer, type AnswerHost } from './answer.ts';
import {
  announceItem,
  createItem,
  deleteItem,
  type EditedSession,
  retrieveItem,
  truncateItem,
} from './edits.ts';
import {
  activeResponse,
  emptyCommit,
  invalidJson,
  invalidValue,
  noActiveResponse,
  type RealtimeError,
  serverError,
  sessionExpired,
  unknownModel,
} from './failure.ts';
import { Conversation, type Item } from './items.ts';
import { Outlet } from './outlet.ts';
import { planResponse } from './plan.ts';
import {
  defaultSettings,
  paddingMsOf,
  type Settings,
  silenceMsOf,
  updateSettings,
} from './settings.ts';
import { Transcripts } from './transcripts.ts';

const inputRateHz = 24_000;
const commitMsMin = 100;

export class RealtimeSession implements SimSession, AnswerHost, EditedSession, EarListener, Actor {
  readonly link: SimLink;
  readonly outlet: Outlet;
  readonly conversation = new Conversation();
  readonly settings: Settings;
  readonly conversationId: string;
  truncation: Members | null = null;
  readonly #ear: Ear;
  readonly #brief: Brief;
  readonly #transcripts = new Transcripts();
  readonly #seen: Record<string, number> = {};
  #answer: Answer | null = null;
  #answers = 0;
  #spoke = false;
  #before: TokenPair | null = null;
  /** Where the audio begins that a commit would take. */
  #bufferMs = 0;
  #speechItemId: string | null = null;
  #speechStartMs = 0;
  #pitchHz = 0;

  constructor(link: SimLink, model: string, directiveText: string) {
    this.link = link;
    this.outlet = new Outlet(link);
    this.conversationId = this.outlet.freshId('conv');
    this.settings = defaultSettings(this.outlet.freshId('sess'), model);
    this.#ear = new Ear(inputRateHz, silenceMsOf(this.settings), this);
    this.#brief = new Brief(link, (directive, silent) => this.goAway(directive, silent));
    this.direct(directiveText);
    this.outlet.emit('session.created', { session: this.settings });
  }

  get rejectsTruncation(): boolean {
    return this.#brief.directive.faults.has('truncate_rejected');
  }

  message(bytes: Buffer): void {
    const event = parse(bytes);
    if (event === null) {
      this.outlet.error(invalidJson);
      return;
    }
    const type = String(event.type);
    const handle = handlers.get(type);
    const refusal = handle === undefined ? unknownType : handle(this, event);
    this.#seen[type] = (this.#seen[type] ?? 0) + 1;
    if (refusal === null) return;
    const id = event.event_id;
    this.outlet.error(typeof id === 'string' ? { ...refusal, event_id: id } : refusal);
  }

  append({ audio }: Members): RealtimeError | null {
    const samples = typeof audio === 'string' ? samplesOfBase64(audio) : null;
    if (samples === null) return invalidValue('audio', 'base64 of 16-bit PCM');
    this.#ear.hear(samples);
    return null;
  }

  update(event: Members): RealtimeError | null {
    this.link.noteSetup(event);
    const refusal = updateSettings(this.settings, event.session, this.#spoke);
    if (refusal !== null) return refusal;
    this.#ear.silenceMs = silenceMsOf(this.settings);
    if (isMembers(event.session) && event.session.instructions !== undefined) {
      this.direct(this.settings.instructions);
    }
    this.outlet.emit('session.updated', { session: this.settings });
    return null;
  }

  commit(): RealtimeError | null {
    const endMs = Math.round(this.#ear.heardMs);
    const heldMs = endMs - this.#bufferMs;
    if (heldMs < commitMsMin) return emptyCommit(heldMs);
    this.#pitchHz = this.#ear.flush();
    this.#take(this.#speechItemId ?? this.outlet.freshId('item'), heldMs, endMs);
    this.#sendTranscripts();
    return null;
  }

  clear(): RealtimeError | null {
    this.#ear.flush();
    this.#bufferMs = Math.round(this.#ear.heardMs);
    this.#speechItemId = null;
    this.outlet.emit('input_audio_buffer.cleared', {});
    return null;
  }

  respond({ response }: Members): RealtimeError | null {
    if (this.#answer !== null) return activeResponse(this.#answer.id);
    if (response !== undefined && !isMembers(response)) {
      return invalidValue('response', 'an object');
    }
    this.#respond(response ?? {});
    return null;
  }

  cancel({ response_id: id }: Members): RealtimeError | null {
    const isOther = id !== undefined && id !== this.#answer?.id;
    if (this.#answer === null || isOther) return noActiveResponse;
    this.#answer.cancel('client_cancelled');
    return null;
  }

  closed(): void {
    this.mute();
    this.#brief.goingAway.clear();
  }

  act(directiveText: string): void {
    actOn(this, directiveText);
  }

  view(): Record<string, unknown> {
    const { model, instructions } = this.settings;
    return {
      family: 'realtime',
      model,
      instructions,
      events: { ...this.#seen },
      heard_ms: Math.round(this.#ear.heardMs),
      answers: this.#answers,
      truncation: this.truncation,
    };
  }

  speechStarted(onsetMs: number): void {
    const startMs = Math.max(this.#bufferMs, onsetMs - paddingMsOf(this.settings));
    this.#speechItemId = this.outlet.freshId('item');
    this.#speechStartMs = startMs;
    const members = { audio_start_ms: startMs, item_id: this.#speechItemId };
    this.outlet.emit('input_audio_buffer.speech_started', members);
    if (this.settings.audio.input.turn_detection?.interrupt_response !== false) {
      this.#answer?.cancel('turn_detected');
    }
  }

  speechStopped(endMs: number, pitchHz: number): void {
    const id = this.#speechItemId ?? this.outlet.freshId('item');
    this.#pitchHz = pitchHz;
    this.outlet.emit('input_audio_buffer.speech_stopped', { audio_end_ms: endMs, item_id: id });
    this.#take(id, endMs - this.#speechStartMs, endMs);
    if (this.settings.audio.input.turn_detection?.create_response === false) {
      this.#sendTranscripts();
    } else if (this.#answer === null) this.#respond({});
    else this.outlet.error(activeResponse(this.#answer.id));
  }

  /** The buffer becomes an item of the user. */
  #take(id: string, ms: number, endMs: number): void {
    this.#speechItemId = null;
    this.#bufferMs = endMs;
    const content = [{ type: 'input_audio' }];
    const base = { id, object: 'realtime.item', type: 'message', status: 'completed' };
    const body = { ...base, role: 'user', content };
    const item = { id, body, textTokens: 0, audioTokens: audioTokensOf(ms), audioMs: null };
    const before = this.conversation.lastId;
    const members = { item_id: id, previous_item_id: before };
    this.outlet.emit('input_audio_buffer.committed', members);
    this.conversation.add(item);
    announceItem(this.outlet, item, before);
    if (this.settings.audio.input.transcription !== null) {
      this.#transcripts.owe(item, ` heard ${this.#pitchHz}`);
    }
  }

  #sendTranscripts(): void {
    const { faults } = this.#brief.directive;
    this.#transcripts.tell(this.outlet, faults.has('transcript_failed'));
  }

  #respond(params: Members): void {
    const own = typeof params.instructions === 'string' ? params.instructions : '';
    const directive = parseVoiceDirective(own) ?? this.#brief.directive;
    const plan = planResponse({
      params,
      settings: this.settings,
      conversation: this.conversation,
      directive,
      roundIndex: this.#brief.roundIndex,
      pitchHz: this.#pitchHz,
      before: this.#before,
    });
    if (plan.form === 'calls') this.#brief.roundIndex += 1;
    if (plan.form === 'audio') this.#spoke = true;
    if (plan.joins) this.#before = plan.input;
    this.#answers += 1;
    this.#answer = new Answer(this, plan, directive, this.#answers);
    this.#answer.start();
  }

  sendingMsOf(item: Item): number | null {
    return this.#answer?.sentMsOf(item) ?? null;
  }

  begun(): void {
    if (!this.#brief.directive.faults.has('late_transcript')) this.#sendTranscripts();
  }

  over(answer: Answer): void {
    if (this.#answer === answer) this.#answer = null;
  }

  settled(): void {
    this.#sendTranscripts();
  }

  /** This format says it with an error, and closes later. */
  goAway(directive: VoiceDirective, silent: boolean): void {
    this.outlet.error(sessionExpired);
    if (silent) this.mute();
    else {
      this.#brief.goingAway.set(performance.now() + directive.leftMs, () => {
        this.link.close(1001, sessionExpired.message);
      });
    }
  }

  mute(): void {
    this.outlet.muted = true;
    this.#answer?.stop();
  }

  troubled(): void {
    this.outlet.error(serverError);
  }

  sendRaw(text: string): void {
    this.outlet.raw(text);
  }

  /** The model of the connection is none of ours: said after the upgrade, as the provider does. */
  rejectModel(): void {
    const error = unknownModel(this.settings.model);
    this.outlet.error(error);
    this.link.close(1008, error.message);
  }

  direct(text: string): void {
    this.#brief.read(text);
    this.outlet.strange = this.#brief.directive.base.unknown;
  }
}

type Handler = (session: RealtimeSession, event: Members) => RealtimeError | null;

const handlers = new Map<string, Handler>([
  ['session.update', (session, event) => session.update(event)],
  ['input_audio_buffer.append', (session, event) => session.append(event)],
  ['input_audio_buffer.commit', (session) => session.commit()],
  ['input_audio_buffer.clear', (session) => session.clear()],
  ['conversation.item.create', createItem],
  ['conversation.item.retrieve', retrieveItem],
  ['conversation.item.delete', deleteItem],
  ['conversation.item.truncate', truncateItem],
  ['response.create', (session, event) => session.respond(event)],
  ['response.cancel', (session, event) => session.cancel(event)],
]);

const unknownType = invalidValue('type', `one of '${[...handlers.keys()].join("', '")}'`);

function parse(bytes: Buffer): Members | null {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isMembers(value) ? value : null;
  } catch {
    return null;
  }
}
