// One session in the OpenAI Realtime wire format. The server interrupts by itself when the user
// speaks, but only it knows that; what was heard only we know: hence `truncate`.
import { isMembers, type Members } from '../../../transport/members.ts';
import { isUnpaid } from '../../unpaid.ts';
import type { LiveCodec, LiveEvent, LiveMessages, LivePosition, LiveSetup } from '../contract.ts';
import { asBuffer, parseMessage } from '../message.ts';
import { decodeBase64 } from '../pcm.ts';
import { Answers } from './answers.ts';
import { ToolCalls } from './calls.ts';
import { AudioDeltas } from './delta.ts';
import { finish, hear, idOf, outcomeOf, problemOf, userSaid } from './events.ts';
import { failureOf, harmlessPrefix, readError } from './failure.ts';
import { eventIdOf, Repetitions } from './repetitions.ts';
import {
  appendAudio,
  cancelResponse,
  createResponse,
  deleteItem,
  messageItem,
  sessionUpdate,
  toolOutput,
  truncateItem,
} from './setup.ts';
import { readUsage } from './usage.ts';

const givenUp = '{"error":"The answer was interrupted before there was a result."}';

interface Reading {
  events: LiveEvent[];
  replies: string[];
}

export function createCodec(setup: LiveSetup): LiveCodec {
  return new RealtimeCodec(setup);
}

class RealtimeCodec implements LiveCodec {
  readonly #setup: LiveSetup;
  readonly #answers = new Answers();
  readonly #calls = new ToolCalls();
  #isReady = false;
  #sentCount = 0;
  /** Our own request for a response is on its way. */
  #isAsked = false;
  /** What that request is called. */
  #askedId = '';
  /** The response to it is unwanted before it began (livekit/agents#6244). */
  #isUnwanted = false;
  /** The user has spoken, and the server's response to that has not begun. */
  #isAwaited = false;
  /** That response is unwanted. */
  #isAwaitedUnwanted = false;
  readonly #deltas = new AudioDeltas();
  readonly #repetitions = new Repetitions();

  constructor(setup: LiveSetup) {
    this.#setup = setup;
  }

  get owesUsage(): boolean {
    return this.#answers.isOwed;
  }

  open(): LiveMessages {
    return [sessionUpdate(this.#setup)];
  }

  audio(pcm: Uint8Array): string {
    return appendAudio(pcm);
  }

  bargeIn(heard: LivePosition | null): LiveMessages {
    const messages = this.#cancel(this.#answers.heardIds);
    if (this.#isAsked) this.#isUnwanted = true;
    if (this.#isAwaited) this.#isAwaitedUnwanted = true;
    messages.push(...this.#giveUpCalls());
    this.#answers.voidAll();
    return heard === null ? messages : [...messages, ...this.truncate(heard)];
  }

  truncate({ itemId, heardMs, unsentItems = [] }: LivePosition): LiveMessages {
    const endMs = this.#answers.cut(itemId, heardMs);
    const cut = endMs === null ? [] : [truncateItem(itemId, endMs, this.#optionalId())];
    // Nothing of them can be kept, and a cut at 0 is refused.
    return [...cut, ...unsentItems.map((id) => deleteItem(id, this.#optionalId()))];
  }

  toolResult(ownId: string, _name: string, outputJson: string): LiveMessages {
    const callId = this.#calls.end(ownId);
    if (callId === null) return [];
    return [toolOutput(callId, outputJson), ...this.#goOn()];
  }

  close(): LiveMessages {
    const messages = this.#cancel(this.#answers.heardIds);
    this.#calls.giveUp();
    this.#answers.voidAll();
    return messages;
  }

  read(message: string | Uint8Array): Reading {
    const bytes = asBuffer(message);
    const audio = this.#isReady ? this.#deltas.read(bytes) : null;
    const pcm = audio === null ? null : decodeBase64(audio.delta);
    if (audio === null || pcm === null) return this.#readOther(bytes);
    const { eventId, itemId } = audio;
    if (this.#repetitions.isRepeated(eventId, itemId, pcm)) return nothing();
    const item = this.#answers.item(itemId);
    return item === undefined ? this.#readJson(bytes) : { events: hear(item, pcm), replies: [] };
  }

  #readOther(bytes: Buffer): Reading {
    const text = bytes.toString('latin1');
    if (this.#repetitions.isRepeated(eventIdOf(text), text, null)) return nothing();
    return this.#readJson(bytes);
  }

  #readJson(bytes: Buffer): Reading {
    const event = parseMessage(bytes);
    if (event === null) return garbage('a message that is no JSON object');
    const { type } = event;
    if (type === 'error') return this.#readError(event.error);
    if (type === 'session.updated' && !this.#isReady) {
      this.#isReady = true;
      return { events: [{ type: 'ready' }], replies: this.#setup.context.map(messageItem) };
    }
    if (!this.#isReady || typeof type !== 'string') return { events: [], replies: [] };
    if (type === 'response.created') return this.#begin(event.response);
    if (type === 'response.done') return this.#end(event.response);
    if (type === 'input_audio_buffer.speech_started') return this.#speechStarted();
    return { events: this.#readEvent(type, event), replies: [] };
  }

  #readEvent(type: string, event: Members): LiveEvent[] {
    switch (type) {
      case 'input_audio_buffer.speech_stopped':
        this.#isAwaited = true;
        return [{ type: 'speech_stopped' }];
      case 'response.output_item.added':
        return this.#itemAdded(event);
      case 'response.output_item.done':
        return this.#itemDone(event);
      case 'response.output_audio.delta':
      case 'response.audio.delta':
        return this.#audio(event);
      case 'response.output_audio.done':
      case 'response.audio.done':
        return this.#audioDone(event);
      case 'response.output_audio_transcript.delta':
      case 'response.audio_transcript.delta':
      case 'response.output_text.delta':
      case 'response.text.delta':
        return this.#said(event, event.delta, false);
      case 'response.output_audio_transcript.done':
      case 'response.audio_transcript.done':
        return this.#said(event, event.transcript, true);
      case 'response.output_text.done':
      case 'response.text.done':
        return this.#said(event, event.text, true);
      case 'conversation.item.input_audio_transcription.delta':
        return userSaid(event, event.delta, false);
      case 'conversation.item.input_audio_transcription.completed':
        return userSaid(event, event.transcript, true);
      case 'conversation.item.input_audio_transcription.failed':
        return [
          { type: 'problem', code: 'transcription_failed', text: readError(event.error).text },
        ];
      default:
        return [];
    }
  }

  #speechStarted(): Reading {
    const { newest } = this.#answers;
    const { isWaiting } = this.#calls;
    this.#calls.isUserTurn = true;
    // What the user says now is to be answered, whatever became of what was said before.
    this.#isAwaited = false;
    this.#isAwaitedUnwanted = false;
    // The server has given up the one that it takes for the answer.
    const replies = this.#cancel(this.#answers.heardIds.slice(0, -1));
    replies.push(...this.#giveUpCalls());
    this.#answers.voidAll();
    const events: LiveEvent[] = [{ type: 'speech_started' }];
    if (newest !== null) events.push({ type: 'interrupted', itemId: newest.id });
    // The results are told, but nobody goes on with them.
    else if (isWaiting) events.push({ type: 'answer_done', outcome: 'interrupted' });
    return { events, replies };
  }

  #begin(response: unknown): Reading {
    const responseId = isMembers(response) ? idOf(response.id) : null;
    if (responseId === null || !this.#answers.begin(responseId)) return nothing();
    this.#calls.isUserTurn = false;
    const isUnwanted = (this.#isAsked && this.#isUnwanted) || this.#isAwaitedUnwanted;
    this.#isAsked = false;
    this.#isUnwanted = false;
    this.#isAwaited = false;
    this.#isAwaitedUnwanted = false;
    if (!isUnwanted) return nothing();
    const replies = this.#cancel(this.#answers.heardIds);
    this.#answers.voidAll();
    return { events: [], replies };
  }

  #end(value: unknown): Reading {
    const response = isMembers(value) ? value : {};
    const { runningId } = this.#answers;
    const responseId = idOf(response.id) ?? runningId ?? '';
    if (!this.#answers.end(responseId)) return nothing();
    const usage = readUsage(response.usage);
    if (usage !== null) this.#answers.reported(responseId);
    const events: LiveEvent[] = [
      usage === null ? { type: 'unreported' } : { type: 'usage', usage },
    ];
    if (this.#answers.isVoidResponse(responseId)) return { events, replies: [] };
    for (const item of this.#answers.open(responseId)) events.push(...finish(item));
    const status = outcomeOf(response.status);
    if (status === 'failed') {
      const problem = problemOf(response.status_details);
      events.push(problem);
      // Nor can there be another answer.
      if (problem.type === 'failed') return { events, replies: [] };
    }
    const replies = status === 'completed' ? [] : this.#giveUpCalls();
    if (!this.#calls.isWaiting) {
      const isRefused = this.#calls.takeRefusal() && status === 'completed';
      events.push({ type: 'answer_done', outcome: isRefused ? 'failed' : status });
    }
    return { events, replies: [...replies, ...this.#goOn()] };
  }

  #itemAdded(event: Members): LiveEvent[] {
    const { item } = event;
    if (!isMembers(item) || item.type !== 'message' || item.role !== 'assistant') return [];
    const itemId = idOf(item.id);
    if (itemId === null || this.#answers.item(itemId) !== undefined) return [];
    return this.#addItem(itemId, event);
  }

  #addItem(itemId: string, event: Members): LiveEvent[] {
    const responseId = idOf(event.response_id) ?? this.#answers.runningId ?? '';
    const { isVoid } = this.#answers.addItem(itemId, responseId);
    return isVoid ? [] : [{ type: 'answer_started', itemId }];
  }

  #itemDone({ item, response_id: responseId }: Members): LiveEvent[] {
    if (!isMembers(item) || item.type !== 'function_call') return [];
    const id = idOf(responseId) ?? '';
    return this.#answers.isVoidResponse(id) ? [] : this.#calls.read(item, id);
  }

  #audio(event: Members): LiveEvent[] {
    const itemId = idOf(event.item_id);
    if (itemId === null || typeof event.delta !== 'string') return [];
    const pcm = decodeBase64(event.delta);
    if (pcm === null) return garbage('audio that is not base64').events;
    const known = this.#answers.item(itemId);
    if (known !== undefined) return hear(known, pcm);
    const events = this.#addItem(itemId, event);
    const item = this.#answers.item(itemId);
    return item === undefined ? events : [...events, ...hear(item, pcm)];
  }

  #audioDone(event: Members): LiveEvent[] {
    const item = this.#answers.item(idOf(event.item_id) ?? '');
    return item === undefined || item.isDone || item.isVoid ? [] : finish(item);
  }

  #said(event: Members, text: unknown, final: boolean): LiveEvent[] {
    const itemId = idOf(event.item_id);
    if (itemId === null || typeof text !== 'string') return [];
    const events = this.#answers.item(itemId) === undefined ? this.#addItem(itemId, event) : [];
    if (this.#answers.item(itemId)?.isVoid !== false) return events;
    return [...events, { type: 'transcript', role: 'assistant', itemId, text, final }];
  }

  #readError(value: unknown): Reading {
    const error = readError(value);
    const { code, text } = error;
    if (!this.#isReady || code === 'session_expired' || isUnpaid(code)) {
      return { events: [failureOf(error)], replies: [] };
    }
    const problem: LiveEvent = { type: 'problem', code, text };
    if (code === 'conversation_already_has_active_response') this.#isAsked = false;
    else if (this.#isAsked && error.eventId === this.#askedId) {
      this.#isAsked = false;
      // After a barge-in nobody waits for it.
      const isOver = this.#isUnwanted || this.#answers.isBusy;
      this.#isUnwanted = false;
      const events = isOver ? [] : [problem, { type: 'answer_done', outcome: 'failed' } as const];
      return { events, replies: [] };
    }
    if (error.isHarmless) return nothing();
    return { events: [problem], replies: [] };
  }

  #cancel(responseIds: readonly string[]): string[] {
    return responseIds.map((id) => cancelResponse(id, this.#optionalId()));
  }

  /** Else the model would wonder about them, or call again, in a later answer. */
  #giveUpCalls(): string[] {
    return this.#calls.giveUp().map((callId) => toolOutput(callId, givenUp));
  }

  #goOn(): string[] {
    if (!this.#calls.takeTurn(this.#answers.isBusy)) return [];
    this.#isAsked = true;
    this.#askedId = this.#optionalId();
    return [createResponse(this.#askedId)];
  }

  #optionalId(): string {
    this.#sentCount += 1;
    return `${harmlessPrefix}${this.#sentCount}`;
  }
}

function nothing(): Reading {
  return { events: [], replies: [] };
}

function garbage(text: string): Reading {
  return { events: [{ type: 'failed', kind: 'garbage', text }], replies: [] };
}
