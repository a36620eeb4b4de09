// The items of one Realtime response and the events around them: opened, filled, closed, in the
// order of the provider. When anything is sent is the business of `answer.ts`.
import type { PlannedCall } from '../directive.ts';
import type { Members } from '../members.ts';
import { type Conversation, callTokensOf, type Item } from './items.ts';
import type { Outlet } from './outlet.ts';

export class AnswerOutput {
  readonly items: Item[] = [];
  readonly responseId: string;
  readonly #outlet: Outlet;
  /** Null: the response stays out of the conversation. */
  readonly #conversation: Conversation | null;
  /** The same for every event of the response; undefined: each has its own. */
  readonly #eventId: string | undefined;
  #ids = '';

  constructor(outlet: Outlet, conversation: Conversation | null, hasOneEventId: boolean) {
    this.responseId = outlet.freshId('resp');
    this.#outlet = outlet;
    this.#conversation = conversation;
    this.#eventId = hasOneEventId ? outlet.freshId('event') : undefined;
  }

  openMessage(isAudio: boolean): void {
    const item = this.#open({ ...itemBase('message'), role: 'assistant', content: [] }, 0);
    item.audioMs = isAudio ? 0 : null;
    this.#ids =
      `"response_id":"${this.responseId}","item_id":"${item.id}",` +
      '"output_index":0,"content_index":0';
    this.part('response.content_part.added', `"part":${JSON.stringify(partOf(isAudio, ''))}`);
  }

  closeMessage(isAudio: boolean, text: string, isComplete: boolean): void {
    const [item] = this.items;
    if (item === undefined) return;
    const written = JSON.stringify(text);
    if (isAudio) {
      this.part('response.output_audio.done', '');
      this.part('response.output_audio_transcript.done', `"transcript":${written}`);
    } else this.part('response.output_text.done', `"text":${written}`);
    this.part('response.content_part.done', `"part":${JSON.stringify(partOf(isAudio, text))}`);
    const content = isAudio
      ? [{ type: 'output_audio', transcript: text }]
      : [{ type: 'output_text', text }];
    this.#close(item, 0, { content, status: isComplete ? 'completed' : 'incomplete' });
  }

  call({ name, argumentText }: PlannedCall, index: number): void {
    const callId = this.#outlet.freshId('call');
    const base = itemBase('function_call');
    const item = this.#open({ ...base, name, call_id: callId, arguments: '' }, index);
    item.textTokens = callTokensOf(name, argumentText);
    const ids =
      `"response_id":"${this.responseId}","item_id":"${item.id}",` +
      `"output_index":${index},"call_id":"${callId}"`;
    const half = argumentText.length >> 1;
    for (const delta of [argumentText.slice(0, half), argumentText.slice(half)]) {
      const type = 'response.function_call_arguments.delta';
      this.#write(type, `${ids},"delta":${JSON.stringify(delta)}`);
    }
    const rest = `"name":${JSON.stringify(name)},"arguments":${JSON.stringify(argumentText)}`;
    this.#write('response.function_call_arguments.done', `${ids},${rest}`);
    this.#close(item, index, { arguments: argumentText, status: 'completed' });
  }

  /** An event of the message's only part; `members` as JSON without braces. */
  part(type: string, members: string): void {
    this.#write(type, members === '' ? this.#ids : `${this.#ids},${members}`);
  }

  emit(type: string, members: Members): void {
    this.#write(type, JSON.stringify(members).slice(1, -1));
  }

  #open(body: Members, outputIndex: number): Item {
    const id = this.#outlet.freshId('item');
    const item: Item = { id, body: { id, ...body }, textTokens: 0, audioTokens: 0, audioMs: null };
    this.items.push(item);
    const before = this.#conversation?.add(item) ?? null;
    this.#emitItem('response.output_item.added', item, outputIndex);
    if (this.#conversation !== null) {
      this.emit('conversation.item.added', { previous_item_id: before, item: item.body });
    }
    return item;
  }

  #close(item: Item, outputIndex: number, changes: Members): void {
    Object.assign(item.body, changes);
    if (this.#conversation !== null) this.emit('conversation.item.done', { item: item.body });
    this.#emitItem('response.output_item.done', item, outputIndex);
  }

  #emitItem(type: string, item: Item, outputIndex: number): void {
    const { responseId } = this;
    this.emit(type, { response_id: responseId, output_index: outputIndex, item: item.body });
  }

  #write(type: string, members: string): void {
    this.#outlet.write(type, members, this.#eventId);
  }
}

function itemBase(type: string): Members {
  return { object: 'realtime.item', type, status: 'in_progress' };
}

function partOf(isAudio: boolean, text: string): Members {
  return isAudio ? { type: 'audio', transcript: text } : { type: 'text', text };
}
