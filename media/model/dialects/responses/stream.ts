// Writes one subscriber's Responses stream. Every event has its number, counted also where it is
// left out (`startingAfter`); a text event is strings joined around the text and the number.
import type { Problem } from '../../../../runtime/problem.ts';
import { type Answer, emptyAnswer } from '../../answer.ts';
import type { Citation, ModelEvent, NativeValue, PartKind, Progress } from '../../events.ts';
import { flat, grow } from '../../flat.ts';
import { addTo } from '../../lists.ts';
import { carryingId } from '../../returned.ts';
import { isRun, singles } from '../../text-run.ts';
import { chatError } from '../chat/error.ts';
import {
  failureMembers,
  type Receipt,
  type ReplyIdentity,
  type ReplyOptions,
  type StreamEncoder,
  type SvcRouting,
  type SvcUsage,
} from '../contract.ts';
import { escapeText } from '../text-deltas.ts';
import { CallArguments } from '../whole-json.ts';
import { itemId } from './ids.ts';
import { declaredTools } from './late-tools.ts';
import { type Inside, namespacesOf } from './namespaces.ts';
import {
  annotationOf,
  calledBy,
  callItem,
  callPrefix,
  type Item,
  type ItemStatus,
  isClientCall,
  isRedacted,
  nativeItem,
  reasoningItem,
  unendedItem,
} from './output.ts';
import {
  endPart,
  newPart,
  type Open,
  openMessage,
  type Part,
  partAdded,
  partDelta,
  placeOf,
  type Written,
} from './parts.ts';
import { responseObject, statusOf, wantsSeal } from './response.ts';
import { tokenUsage } from './usage.ts';

/** Open until its arguments are whole JSON: upstreams may write those of several in turns. */
interface OpenCall {
  id: string;
  index: number;
  callId: string;
  name: string;
  arguments: CallArguments;
  /** The text of a custom tool cannot say that it is whole: an event does. */
  freeText?: true;
}

/** An item without a neutral form that was begun: its provider says what becomes of it. */
interface OpenNative {
  index: number;
  begun: Item;
  told: Item[];
}

const textDelta = 'response.output_text.delta';
const textHead = flat(`event: ${textDelta}\ndata: {"type":"${textDelta}","sequence_number":`);
const textClose = '","logprobs":[]}\n\n';

export class ResponsesStreamEncoder implements StreamEncoder {
  readonly #identity: ReplyIdentity;
  readonly #options: Pick<ReplyOptions, 'request' | 'seals'>;
  /** Null: the client has not asked for reasoning to be sealed. */
  readonly #seals: ReplyOptions['seals'] | null;
  readonly #namespaces: ReadonlyMap<string, Inside>;
  /** Events up to this number are counted and left out. */
  readonly #startingAfter: number;
  readonly #isLost: boolean;
  /** The response as it stands in the first events; empty until they were written. */
  #beginning = '';
  #sequence = 0;
  #itemCount = 0;
  #open: Open | null = null;
  #calls = new Map<number, OpenCall>();
  #natives = new Map<number, OpenNative>();
  /** The text part that takes deltas, and what stands between number and delta; or null. */
  #textPart: Part | null = null;
  #textMiddle = '';

  constructor(
    identity: ReplyIdentity,
    options: Pick<ReplyOptions, 'request' | 'seals' | 'startingAfter' | 'isLost'>,
  ) {
    this.#identity = identity;
    this.#options = options;
    const { source } = options.request;
    this.#seals = wantsSeal(source.body) ? options.seals : null;
    this.#namespaces = namespacesOf(declaredTools(source));
    this.#startingAfter = options.startingAfter ?? -1;
    this.#isLost = options.isLost ?? false;
  }

  events(events: readonly ModelEvent[]): string {
    let text = '';
    for (const event of events) {
      if (event.type === 'text' && this.#textPart !== null && event.logprobs === undefined) {
        grow(this.#textPart, event.text);
        const pieces = event.run?.pieces ?? [event.plain ? event.text : escapeText(event.text)];
        for (const piece of pieces) {
          const sequence = this.#sequence;
          this.#sequence = sequence + 1;
          if (sequence <= this.#startingAfter) continue;
          text += textHead + sequence + this.#textMiddle;
          text += piece + textClose;
        }
      } else if (isRun(event)) text += this.events(singles([event]));
      else text += this.#event(event);
    }
    return text;
  }

  /** Only before the first item: an attach or replay counts the events after it alike. */
  progress(progress: Progress): string {
    if (this.#itemCount > 0) return '';
    const begin = this.#begin();
    const member = `"svc_progress":${JSON.stringify(progress)}`;
    return begin + this.#emit('response.in_progress', `${this.#beginning},${member}`);
  }

  finish(receipt: Receipt, answer: Answer): string {
    const status = statusOf(answer);
    const text = this.#begin() + this.#closeAll(status);
    const response = responseObject(this.#identity, this.#options, answer, receipt, status);
    return text + this.#emit(`response.${status}`, `"response":${JSON.stringify(response)}`);
  }

  failure(
    problem: Problem,
    svcUsage: SvcUsage | null,
    answer: Answer,
    svcRouting: SvcRouting | null,
  ): string {
    if (this.#beginning === '') return this.#bareError(problem, svcUsage, svcRouting);
    const text = this.#closeAll('incomplete');
    // Its end stands behind whatever the client has seen, or it would never hear of it.
    if (this.#isLost) this.#sequence = Math.max(this.#sequence, this.#startingAfter + 1);
    const receipt =
      svcUsage === null ? null : { usage: tokenUsage(svcUsage), svcUsage, svcRouting };
    const identity = this.#identity;
    const options = this.#options;
    const response = responseObject(identity, options, answer, receipt, 'failed', problem);
    return text + this.#emit('response.failed', `"response":${JSON.stringify(response)}`);
  }

  /** Flat as the types have it, nested as servers send it. */
  #bareError(problem: Problem, svcUsage: SvcUsage | null, svcRouting: SvcRouting | null): string {
    const error = chatError(problem);
    const { code, message, param } = error;
    const members = { code, message, param, error, ...failureMembers(svcUsage, svcRouting) };
    return this.#emit('error', inner(members));
  }

  #event(event: ModelEvent): string {
    const begin = this.#begin();
    switch (event.type) {
      case 'text':
        return begin + this.#delta('output_text', event.text, event.logprobs);
      case 'refusal':
        return begin + this.#delta('refusal', event.text);
      case 'reasoning':
        return begin + this.#reasoning(event.text);
      case 'reasoning_end':
        return begin + this.#reasoningEnd({ format: event.format, value: event.value });
      case 'citation':
        return begin + this.#citation(event.citation);
      case 'tool_call':
        return begin + this.#toolCall(event);
      case 'tool_arguments':
        return begin + this.#toolArguments(event.index, event.text);
      case 'tool_end':
        return begin + this.#toolEnd(event.index);
      case 'part':
        return begin + this.#border(event.kind, event.item);
      case 'part_logprobs':
      case 'item_members':
        this.#amend(event);
        return begin;
      case 'native':
        return begin + this.#native({ format: event.format, value: event.value }, event.index);
      case 'native_begin':
        return begin + this.#beginNative(event.index, event.value);
      case 'native_event':
        return begin + this.#nativeEvent(event.index, event.value);
      default:
        return begin;
    }
  }

  /** The first two events, once. */
  #begin(): string {
    if (this.#beginning !== '') return '';
    const identity = this.#identity;
    const none = emptyAnswer();
    const response = responseObject(identity, this.#options, none, null, 'in_progress');
    this.#beginning = `"response":${JSON.stringify(response)}`;
    return (
      this.#emit('response.created', this.#beginning) +
      this.#emit('response.in_progress', this.#beginning)
    );
  }

  /** A text goes on in the part that is open, where it can. */
  #delta(kind: Part['kind'], text: string, logprobs: unknown[] = []): string {
    const isOpen = this.#open?.part?.kind === kind;
    const opening = isOpen ? '' : this.#openPart(kind, null);
    const open = this.#open;
    const part = open?.part ?? null;
    if (open === null || part === null) return opening;
    grow(part, text);
    addTo(part.logprobs, logprobs);
    return opening + this.#write(partDelta(open, part, text, logprobs));
  }

  /** Of which kind of reasoning a text is was said by its border; without one it is a summary. */
  #reasoning(text: string): string {
    const open = this.#open;
    if (text === '') return open?.type === 'reasoning' ? '' : this.#openItem('reasoning', {});
    const isContent = open?.type === 'reasoning' && open.part?.kind === 'reasoning_text';
    return this.#delta(isContent ? 'reasoning_text' : 'summary_text', text);
  }

  #border(kind: PartKind, item: Item | null): string {
    if (kind !== 'reasoning') return this.#openPart(kind, item);
    return this.#openItem('reasoning', item ?? {});
  }

  /** The next part of the open item; of a new one where that is another, or `item` says so. */
  #openPart(kind: Part['kind'], item: Item | null): string {
    const type = kind === 'output_text' || kind === 'refusal' ? 'message' : 'reasoning';
    let text = '';
    if (item !== null || this.#open?.type !== type) text += this.#openItem(type, item ?? {});
    const open = this.#open;
    if (open === null) return text;
    if (open.part !== null) text += this.#closePart(open, open.part);
    const part = newPart(kind);
    open.part = part;
    if (kind === 'output_text') {
      this.#textPart = part;
      this.#textMiddle = flat(`,${placeOf(open, part)},"delta":"`);
    }
    return text + this.#write(partAdded(open, part));
  }

  #openItem(type: Open['type'], members: Item): string {
    const closing = this.#endItems();
    const index = this.#itemCount;
    if (type === 'message') {
      const open: Open = { type, id: this.#newId('msg'), index, members, content: [], part: null };
      this.#open = open;
      return closing + this.#added(index, openMessage(open, 'in_progress'));
    }
    const parts = { members, summary: [], content: [] };
    const id = this.#newId('rs');
    this.#open = { type, id, index, ...parts, part: null };
    return closing + this.#added(index, reasoningItem(id, parts, null, this.#seals));
  }

  #closePart(open: Open, part: Part): string {
    this.#textPart = null;
    open.part = null;
    return endPart(open, part)
      .map((written) => this.#write(written))
      .join('');
  }

  #citation(citation: Citation): string {
    const open = this.#open;
    if (open?.part?.kind !== 'output_text') return '';
    const annotation = annotationOf(citation);
    if (annotation === null) return '';
    const members = { annotation_index: open.part.annotations.length, annotation };
    open.part.annotations.push(annotation);
    const event = 'response.output_text.annotation.added';
    return this.#emit(event, `${placeOf(open, open.part)},${inner(members)}`);
  }

  #reasoningEnd(native: NativeValue): string {
    const opening = this.#open?.type === 'reasoning' ? '' : this.#openItem('reasoning', {});
    return opening + this.#closeOpen('completed', native);
  }

  #toolCall(event: ModelEvent & { type: 'tool_call' }): string {
    const closing = this.#endItems();
    const index = this.#itemCount;
    const id = this.#newId(callPrefix(event));
    const { name, freeText } = event;
    const callId = carryingId(event, this.#options.seals);
    const call: OpenCall = { id, index, callId, name, arguments: new CallArguments() };
    if (freeText === true) call.freeText = freeText;
    this.#calls.set(event.index, call);
    return closing + this.#added(index, this.#callItem(call, 'in_progress'));
  }

  #toolArguments(callIndex: number, text: string): string {
    const call = this.#calls.get(callIndex);
    if (call === undefined) return '';
    call.arguments.add(text);
    const place = `"item_id":"${call.id}","output_index":${call.index}`;
    const event = `response.${calledBy(call).events}.delta`;
    return this.#emit(event, `${place},"delta":"${escapeText(text)}"`);
  }

  #toolEnd(callIndex: number): string {
    const call = this.#calls.get(callIndex);
    if (call === undefined) return '';
    this.#calls.delete(callIndex);
    return this.#closeCall(call, 'completed');
  }

  /** What the end of a part or of a message says otherwise than its beginning. */
  #amend(event: ModelEvent & { type: 'part_logprobs' | 'item_members' }): void {
    const open = this.#open;
    if (open?.type !== 'message') return;
    if (event.type === 'item_members') open.members = event.members;
    else if (open.part !== null) open.part.ends = { done: event.done, part: event.part };
  }

  /** Another format's item shows nothing, but it ends a message as it does in a whole reply. */
  #native(native: NativeValue, number: number | undefined): string {
    const begun = number === undefined ? undefined : this.#natives.get(number);
    if (begun !== undefined && number !== undefined) {
      this.#natives.delete(number);
      return this.#itemDone(begun.index, this.#nativeItem(native.value, begun.index));
    }
    const closing = this.#endItems();
    if (isRedacted(native)) return closing + this.#reasoningEnd(native);
    const { format, value } = native;
    if (format !== 'responses') return closing;
    const index = this.#itemCount;
    this.#itemCount += 1;
    const item = this.#nativeItem(value, index);
    return closing + this.#added(index, item) + this.#itemDone(index, item);
  }

  #beginNative(number: number, begun: Item): string {
    const closing = this.#endItems();
    const index = this.#itemCount;
    this.#itemCount += 1;
    this.#natives.set(number, { index, begun, told: [] });
    return closing + this.#added(index, this.#nativeItem(begun, index));
  }

  #nativeEvent(number: number, event: Item): string {
    const native = this.#natives.get(number);
    if (native === undefined) return '';
    if (isClientCall(native.begun)) native.told.push(event);
    const { type, ...members } = event;
    const { id } = this.#nativeItem(native.begun, native.index);
    if ('item_id' in members) members.item_id = id;
    if ('output_index' in members) members.output_index = native.index;
    return this.#emit(String(type), inner(members));
  }

  #nativeItem(value: Item, index: number): Item {
    return nativeItem(value, this.#identity.requestId, index);
  }

  #closeOpen(status: ItemStatus, native: NativeValue | null = null): string {
    const open = this.#open;
    this.#open = null;
    if (open === null) return '';
    const closing = open.part === null ? '' : this.#closePart(open, open.part);
    const item =
      open.type === 'message'
        ? openMessage(open, status)
        : reasoningItem(open.id, open, native, this.#seals);
    return closing + this.#itemDone(open.index, item);
  }

  /** Everything that is open, in its order; the newest item has the status of the response. */
  #closeAll(status: ItemStatus): string {
    const newest = this.#itemCount - 1;
    const statusAt = (index: number) => (index === newest ? status : 'completed');
    let text = '';
    for (const call of this.#calls.values()) text += this.#closeCall(call, statusAt(call.index));
    this.#calls.clear();
    text += this.#closeNatives(newest);
    return text + this.#closeOpen(status);
  }

  /** What its provider was about to do when the answer ended is no part of it, and has no end. */
  #closeNatives(newest: number): string {
    const open = [...this.#natives.values()];
    const isPending = (at: number) =>
      open.some(({ index, begun }) => index === at && !isClientCall(begun));
    let last = newest;
    while (isPending(last)) last -= 1;
    let text = '';
    for (const native of open) {
      const { index } = native;
      if (index > last) continue;
      text += this.#itemDone(index, this.#nativeItem(unendedItem(native), index));
    }
    this.#natives.clear();
    return text;
  }

  /** Another item begins: what is whole ends before it. */
  #endItems(): string {
    let text = this.#closeOpen('completed');
    for (const [index, call] of this.#calls) {
      if (call.freeText === true || !call.arguments.isWhole) continue;
      text += this.#closeCall(call, 'completed');
      this.#calls.delete(index);
    }
    return text;
  }

  #closeCall(call: OpenCall, status: ItemStatus): string {
    const place = `"item_id":"${call.id}","output_index":${call.index}`;
    const { events, member } = calledBy(call);
    const written = `"${member}":${JSON.stringify(call.arguments.text)}`;
    const { name } = this.#namespaces.get(call.name) ?? call;
    const named = call.freeText === true ? '' : `"name":${JSON.stringify(name)},`;
    const text = this.#emit(`response.${events}.done`, `${place},${named}${written}`);
    return text + this.#itemDone(call.index, this.#callItem(call, status));
  }

  #callItem(call: OpenCall, status: ItemStatus): Item {
    const { callId, name, freeText } = call;
    const whole = { id: callId, name, arguments: call.arguments.text, freeText };
    return callItem(call.id, status, whole, this.#namespaces.get(name));
  }

  #added(index: number, item: Item): string {
    const members = `"output_index":${index},"item":${JSON.stringify(item)}`;
    return this.#emit('response.output_item.added', members);
  }

  #itemDone(index: number, item: Item): string {
    const members = `"output_index":${index},"item":${JSON.stringify(item)}`;
    return this.#emit('response.output_item.done', members);
  }

  #newId(prefix: string): string {
    const index = this.#itemCount;
    this.#itemCount += 1;
    return itemId(prefix, this.#identity.requestId, index);
  }

  #write([type, members]: Written): string {
    return this.#emit(type, members);
  }

  #emit(type: string, members: string): string {
    const sequence = this.#sequence;
    this.#sequence = sequence + 1;
    if (sequence <= this.#startingAfter) return '';
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${members}}\n\n`;
  }
}

/** The members of an object as they stand inside of a larger one. */
function inner(members: Item): string {
  return JSON.stringify(members).slice(1, -1);
}
