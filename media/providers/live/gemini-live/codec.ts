// One session in the Gemini Live wire format. It has no message to cancel or to truncate: the
// client's barge-in is ours alone, the model goes on and believes that all of it was heard.
import { isMembers, type Members } from '../../../transport/members.ts';
import { detailCharactersMax } from '../../../transport/refusal.ts';
import type { LiveCodec, LiveEvent, LiveMessages, LivePosition, LiveSetup } from '../contract.ts';
import { asBuffer, parseMessage } from '../message.ts';
import { decodeBase64, unheard } from '../pcm.ts';
import { ToolCalls } from './calls.ts';
import { audioMessage, historyMessage, setupMessage, toolResponse } from './setup.ts';
import { AudioTemplate } from './template.ts';
import { Turn } from './turn.ts';
import { UsageCounter } from './usage.ts';

interface Reading {
  events: LiveEvent[];
  replies: string[];
}

/** More than any model makes in one message: each of them is answered. */
const callsOfMessageMax = 256;
const pcmType = /^audio\/pcm(; ?rate=24000)?$/;
const finalOutcomes: Record<string, 'completed' | 'failed' | undefined> = {
  TURN_COMPLETE_REASON_UNSPECIFIED: 'completed',
  NEED_MORE_INPUT: 'completed',
  MALFORMED_FUNCTION_CALL: 'failed',
};

export function createCodec(setup: LiveSetup, model: string): LiveCodec {
  return new LiveGeminiCodec(setup, model);
}

class LiveGeminiCodec implements LiveCodec {
  readonly #setup: LiveSetup;
  readonly #model: string;
  readonly #turn = new Turn();
  readonly #usage = new UsageCounter();
  readonly #template = new AudioTemplate();
  readonly #calls = new ToolCalls();
  #isReady = false;
  /** The turn that ends next was interrupted before it had content. */
  #isEndSwallowed = false;

  constructor(setup: LiveSetup, model: string) {
    this.#setup = setup;
    this.#model = model;
  }

  get owesUsage(): boolean {
    return this.#turn.isOpen || this.#usage.isOwed;
  }

  open(): LiveMessages {
    return [setupMessage(this.#setup, this.#model)];
  }

  audio(pcm: Uint8Array): string {
    return audioMessage(pcm);
  }

  bargeIn(_heard: LivePosition | null): LiveMessages {
    this.#turn.bargeIn();
    // The model waits for them, and would never end its turn.
    const calls = this.#calls.endAll();
    const refusals = calls.map(({ modelsId, name }) => refusal(modelsId, name));
    if (refusals.length > 0) this.#usage.endCall();
    return refusals;
  }

  truncate(_heard: LivePosition): LiveMessages {
    return [];
  }

  toolResult(callId: string, name: string, outputJson: string): LiveMessages {
    const call = this.#calls.end(callId);
    if (call === null) return [];
    if (this.#calls.size === 0) this.#usage.endCall();
    return [toolResponse(call.modelsId, name, outputJson)];
  }

  close(): LiveMessages {
    this.#turn.giveUp();
    return [];
  }

  read(message: string | Uint8Array): Reading {
    const bytes = asBuffer(message);
    const pcm = this.#isReady ? this.#template.read(bytes) : null;
    if (pcm !== null) return { events: this.#hear(pcm), replies: [] };
    const parsed = parseMessage(bytes);
    if (parsed === null) return { events: [garbage('no JSON object')], replies: [] };
    if (this.#isReady) return this.#readMessage(parsed, bytes);
    if (!isMembers(parsed.setupComplete)) return { events: [], replies: [] };
    this.#isReady = true;
    const history = historyMessage(this.#setup, this.#model);
    const { events, replies } = this.#readMessage(parsed, bytes);
    if (history !== null) replies.unshift(history);
    return { events: [{ type: 'ready' }, ...events], replies };
  }

  /** Several members at once: what the user did, what the model does, what it cost, how it ends. */
  #readMessage(message: Members, bytes: Buffer): Reading {
    const content = isMembers(message.serverContent) ? message.serverContent : {};
    const events = [
      ...this.#activity(message),
      ...(content.interrupted === true ? this.#interrupted() : []),
      ...this.#heardFromUser(content.inputTranscription),
      ...this.#modelTurn(content.modelTurn),
      ...this.#said(content.outputTranscription),
    ];
    this.#learn(message, content, bytes);
    if (content.generationComplete === true) events.push(...this.#generated());
    const replies = this.#toolCalls(message.toolCall, events);
    this.#cancelCalls(message.toolCallCancellation, events);
    const usage = this.#usage.add(message.usageMetadata);
    if (usage !== null) events.push({ type: 'usage', usage });
    if (content.turnComplete === true) this.#endTurn(content.turnCompleteReason, events);
    if (isMembers(message.goAway)) {
      events.push({ type: 'going_away', leftMs: durationMs(message.goAway.timeLeft) });
    }
    return { events, replies };
  }

  /** Both members are told to some customers only. */
  #activity({ voiceActivity, voiceActivityDetectionSignal }: Members): LiveEvent[] {
    const told = [
      isMembers(voiceActivity) ? voiceActivity.voiceActivityType : null,
      isMembers(voiceActivityDetectionSignal) ? voiceActivityDetectionSignal.vadSignalType : null,
    ];
    if (told.includes('ACTIVITY_START') || told.includes('VAD_SIGNAL_TYPE_SOS')) {
      return this.#turn.speechStarted();
    }
    if (told.includes('ACTIVITY_END') || told.includes('VAD_SIGNAL_TYPE_EOS')) {
      return this.#turn.speechStopped();
    }
    return [];
  }

  #heardFromUser(transcription: unknown): LiveEvent[] {
    if (!isMembers(transcription)) return [];
    const { text, finished } = transcription;
    const events = typeof text === 'string' && text !== '' ? this.#turn.userSaid(text) : [];
    return finished === true ? [...events, ...this.#turn.userDone()] : events;
  }

  #interrupted(): LiveEvent[] {
    const turn = this.#turn;
    const events = [...turn.answeredDone(), ...turn.speechStarted()];
    if (turn.isDiscarding) return events;
    const wasOpen = turn.isOpen;
    if (!wasOpen) this.#isEndSwallowed = true;
    const itemId = turn.giveUp();
    if (itemId !== null) events.push({ type: 'interrupted', itemId });
    else if (wasOpen) events.push({ type: 'answer_done', outcome: 'interrupted' });
    return events;
  }

  #modelTurn(modelTurn: unknown): LiveEvent[] {
    if (!isMembers(modelTurn) || !Array.isArray(modelTurn.parts)) return [];
    const parts: readonly unknown[] = modelTurn.parts;
    return parts.flatMap((part) => this.#part(part));
  }

  /** Texts are thoughts: what is said stands in the transcription. */
  #part(part: unknown): LiveEvent[] {
    if (!isMembers(part) || !isMembers(part.inlineData)) return [];
    const { mimeType, data } = part.inlineData;
    if (typeof data !== 'string' || !/^audio\//.test(String(mimeType))) return [];
    const pcm = pcmType.test(String(mimeType)) ? decodeBase64(data) : null;
    if (pcm === null) return [garbage('audio that is not 24 kHz PCM in base64')];
    return this.#hear(pcm);
  }

  #hear(pcm: Buffer): LiveEvent[] {
    const events = this.#content();
    return [...events, ...(this.#turn.isDiscarding ? unheard(pcm) : this.#turn.hear(pcm))];
  }

  #said(transcription: unknown): LiveEvent[] {
    if (!isMembers(transcription)) return [];
    const { text, finished } = transcription;
    if (typeof text !== 'string' || text === '') {
      return finished === true ? this.#turn.saidAll() : [];
    }
    const events = this.#content();
    if (this.#turn.isDiscarding) return events;
    events.push(...this.#turn.say(text));
    return finished === true ? [...events, ...this.#turn.saidAll()] : events;
  }

  #content(): LiveEvent[] {
    this.#isEndSwallowed = false;
    return this.#usage.content() ? [{ type: 'unreported' }] : [];
  }

  #generated(): LiveEvent[] {
    if (this.#turn.isDiscarding) return this.#turn.answeredDone();
    return [...this.#turn.userDone(), ...this.#turn.generated()];
  }

  #toolCalls(toolCall: unknown, events: LiveEvent[]): string[] {
    if (!isMembers(toolCall) || !Array.isArray(toolCall.functionCalls)) return [];
    const told: readonly unknown[] = toolCall.functionCalls;
    if (told.length > callsOfMessageMax) {
      events.push(garbage(`${told.length} function calls at once`));
      return [];
    }
    const replies: string[] = [];
    events.push(...this.#content());
    if (!this.#turn.isDiscarding) events.push(...this.#turn.open());
    for (const call of told) {
      if (!isMembers(call) || typeof call.name !== 'string') continue;
      const modelsId = typeof call.id === 'string' && call.id !== '' ? call.id : null;
      if (this.#turn.isDiscarding) {
        replies.push(refusal(modelsId, call.name));
        this.#usage.endCall();
        continue;
      }
      const { name } = call;
      const argumentsJson = JSON.stringify(isMembers(call.args) ? call.args : {});
      const begun = this.#calls.begin(modelsId, name, argumentsJson);
      if (begun.state === 'known') continue;
      const { callId } = begun;
      if (begun.state === 'open') events.push({ type: 'tool_call', callId, name, argumentsJson });
      else {
        events.push({ type: 'tool_refused', callId, name });
        replies.push(toolResponse(modelsId, name, '{"error":"the call is refused"}'));
        this.#usage.endCall();
      }
    }
    return replies;
  }

  #cancelCalls(cancellation: unknown, events: LiveEvent[]): void {
    if (!isMembers(cancellation) || !Array.isArray(cancellation.ids)) return;
    const callIds = this.#calls.cancel(new Set<unknown>(cancellation.ids));
    if (callIds.length > 0) events.push({ type: 'tool_cancelled', callIds });
    if (this.#calls.size === 0 && (callIds.length > 0 || this.#turn.isDiscarding)) {
      events.push(...this.#endVoided());
    }
  }

  /** The user's speech voided the calls, and with them their turn: its end may come or not. */
  #endVoided(): LiveEvent[] {
    const turn = this.#turn;
    const events = turn.answeredDone();
    if (!turn.isDiscarding) events.push({ type: 'answer_done', outcome: 'interrupted' });
    turn.close();
    this.#usage.endCall();
    this.#isEndSwallowed = true;
    return events;
  }

  #endTurn(reason: unknown, events: LiveEvent[]): void {
    const turn = this.#turn;
    const isSwallowed = turn.isDiscarding || this.#isEndSwallowed;
    this.#isEndSwallowed = false;
    this.#usage.endCall();
    if (isSwallowed) events.push(...turn.answeredDone());
    else {
      events.push(...turn.userDone(), ...turn.generated(), ...turn.saidAll());
      const told = typeof reason === 'string' ? reason : 'TURN_COMPLETE_REASON_UNSPECIFIED';
      const outcome = finalOutcomes[told] ?? 'incomplete';
      if (outcome !== 'completed') {
        const text = told.slice(0, detailCharactersMax);
        events.push({ type: 'problem', code: text.toLowerCase(), text });
      }
      events.push({ type: 'answer_done', outcome });
    }
    turn.close();
  }

  /** The message had one meaning: this audio. */
  #learn(message: Members, content: Members, bytes: Buffer): void {
    const { modelTurn } = content;
    if (!hasOnly(message, ['serverContent']) || !hasOnly(content, ['modelTurn'])) return;
    if (!isMembers(modelTurn) || !hasOnly(modelTurn, ['parts', 'role'])) return;
    if (modelTurn.role !== undefined && modelTurn.role !== 'model') return;
    const parts: readonly unknown[] = Array.isArray(modelTurn.parts) ? modelTurn.parts : [];
    const [part] = parts;
    if (parts.length !== 1 || !isMembers(part) || !hasOnly(part, ['inlineData'])) return;
    const { inlineData } = part;
    if (!isMembers(inlineData) || !hasOnly(inlineData, ['mimeType', 'data'])) return;
    const { mimeType, data } = inlineData;
    if (typeof data !== 'string' || !pcmType.test(String(mimeType))) return;
    if (decodeBase64(data) !== null) this.#template.learn(bytes, data);
  }
}

function refusal(modelsId: string | null, name: string): string {
  return toolResponse(modelsId, name, '{"error":"the user interrupted"}');
}

function hasOnly(members: Members, names: readonly string[]): boolean {
  return Object.keys(members).every((name) => names.includes(name));
}

/** A protobuf duration, such as `9.5s`. Zero when it does not say. */
function durationMs(duration: unknown): number {
  if (typeof duration !== 'string' || !/^\d+(\.\d+)?s$/.test(duration)) return 0;
  return Math.floor(Number.parseFloat(duration) * 1000);
}

function garbage(text: string): LiveEvent {
  return { type: 'failed', kind: 'garbage', text };
}
