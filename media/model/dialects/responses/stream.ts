// Writes one subscriber's Responses stream. Every event has its number, counted also where it is
// left out (`startingAfter`); a text event is strings joined around the text and the number.
import type { Problem } from '../../../../runtime/problem.ts';
import { type Answer, emptyAnswer } from '../../answer.ts';
import type { Citation, ModelEvent, NativeValue, Progress } from '../../events.ts';
import { chatError } from '../chat/error.ts';
import type { Receipt, ReplyIdentity, ReplyOptions, StreamEncoder, SvcUsage } from '../contract.ts';
import { isWholeJson } from '../whole-json.ts';
import { itemId } from './ids.ts';
import { type Inside, namespacesOf } from './namespaces.ts';
import {
  callItem,
  type Item,
  type ItemStatus,
  isRedacted,
  messageItem,
  nativeItem,
  reasoningItem,
  refusalPart,
  summaryPart,
  textPart,
  urlCitation,
} from './output.ts';
import { asksForSeal, responseObject, statusOf } from './response.ts';
import { tokenUsage } from './usage.ts';

/** The message or reasoning that is being written: the newest item, when it is of these. */
type Open =
  | { type: 'message'; id: string; index: number; content: Item[]; part: Part }
  | { type: 'reasoning'; id: string; index: number; text: string };

interface Part {
  type: 'text' | 'refusal';
  text: string;
  annotations: Item[];
}

/** Open until its arguments are whole JSON: upstreams may write those of several in turns. */
interface OpenCall {
  id: string;
  index: number;
  callId: string;
  name: string;
  arguments: string;
}

const textDelta = 'response.output_text.delta';
const textHead = `event: ${textDelta}\ndata: {"type":"${textDelta}","sequence_number":`;
const textClose = '","logprobs":[]}\n\n';

export class ResponsesStreamEncoder implements StreamEncoder {
  readonly #identity: ReplyIdentity;
  readonly #options: Pick<ReplyOptions, 'request'>;
  readonly #sealed: boolean;
  readonly #namespaces: ReadonlyMap<string, Inside>;
  /** Events up to this number are counted and left out. */
  readonly #startingAfter: number;
  /** The response as it stands in the first events; empty until they were written. */
  #beginning = '';
  #sequence = 0;
  #itemCount = 0;
  #open: Open | null = null;
  #calls = new Map<number, OpenCall>();
  /** The text part that takes deltas, and what stands between number and delta; or null. */
  #textPart: Part | null = null;
  #textMiddle = '';

  constructor(identity: ReplyIdentity, options: Pick<ReplyOptions, 'request' | 'startingAfter'>) {
    this.#identity = identity;
    this.#options = options;
    const { body } = options.request.source;
    this.#sealed = asksForSeal(body);
    this.#namespaces = namespacesOf(body.tools);
    this.#startingAfter = options.startingAfter ?? -1;
  }

  events(events: readonly ModelEvent[]): string {
    let text = '';
    for (const event of events) {
      if (event.type === 'text' && this.#textPart !== null) {
        this.#textPart.text += event.text;
        const sequence = this.#sequence;
        this.#sequence = sequence + 1;
        if (sequence <= this.#startingAfter) continue;
        text += textHead + sequence + this.#textMiddle;
        text += (event.plain ? event.text : escapeText(event.text)) + textClose;
      } else {
        text += this.#event(event);
      }
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
    const { request } = this.#options;
    const response = responseObject(this.#identity, { request }, answer, receipt, status);
    return text + this.#emit(`response.${status}`, `"response":${JSON.stringify(response)}`);
  }

  failure(problem: Problem, svcUsage: SvcUsage | null, answer: Answer): string {
    if (this.#beginning === '') return this.#bareError(problem, svcUsage);
    const text = this.#closeAll('incomplete');
    const receipt =
      svcUsage === null ? null : { usage: tokenUsage(svcUsage), svcUsage, svcRouting: null };
    const { request } = this.#options;
    const failed = 'failed';
    const response = responseObject(this.#identity, { request }, answer, receipt, failed, problem);
    return text + this.#emit('response.failed', `"response":${JSON.stringify(response)}`);
  }

  /** Flat as the types have it, nested as servers send it. */
  #bareError(problem: Problem, svcUsage: SvcUsage | null): string {
    const error = chatError(problem);
    const { code, message, param } = error;
    const usage = svcUsage === null ? {} : { svc_usage: svcUsage };
    return this.#emit('error', inner({ code, message, param, error, ...usage }));
  }

  #event(event: ModelEvent): string {
    const begin = this.#begin();
    switch (event.type) {
      case 'text':
        return begin + this.#partDelta('text', event.text);
      case 'refusal':
        return begin + this.#partDelta('refusal', event.text);
      case 'reasoning':
        return begin + this.#reasoning(event.text);
      case 'reasoning_end':
        return begin + this.#reasoningEnd({ format: event.format, value: event.value });
      case 'citation':
        return begin + this.#citation(event.citation);
      case 'tool_call':
        return begin + this.#toolCall(event.index, event.id, event.name);
      case 'tool_arguments':
        return begin + this.#toolArguments(event.index, event.text);
      case 'native':
        return begin + this.#native({ format: event.format, value: event.value });
      default:
        return begin;
    }
  }

  /** The first two events, once. */
  #begin(): string {
    if (this.#beginning !== '') return '';
    const { request } = this.#options;
    const response = responseObject(
      this.#identity,
      { request },
      emptyAnswer(),
      null,
      'in_progress',
    );
    this.#beginning = `"response":${JSON.stringify(response)}`;
    return (
      this.#emit('response.created', this.#beginning) +
      this.#emit('response.in_progress', this.#beginning)
    );
  }

  #partDelta(type: Part['type'], text: string): string {
    const opening = this.#openPart(type);
    const open = this.#open;
    if (open?.type !== 'message') return opening;
    open.part.text += text;
    const event = type === 'text' ? textDelta : 'response.refusal.delta';
    const logprobs = type === 'text' ? ',"logprobs":[]' : '';
    return opening + this.#emit(event, `${placeOf(open)},"delta":"${escapeText(text)}"${logprobs}`);
  }

  /** Opens a message or its next part, where the newest is another. */
  #openPart(type: Part['type']): string {
    let text = '';
    let open = this.#open;
    if (open?.type === 'message' && open.part.type === type) return text;
    const part: Part = { type, text: '', annotations: [] };
    if (open?.type === 'message') {
      text += this.#closePart(open);
      open.part = part;
    } else {
      text += this.#endItems();
      const index = this.#itemCount;
      const id = this.#newId('msg');
      open = { type: 'message', id, index, content: [], part };
      this.#open = open;
      text += this.#added(index, messageItem(id, 'in_progress', []));
    }
    if (type === 'text') {
      this.#textPart = part;
      this.#textMiddle = `,${placeOf(open)},"delta":"`;
    }
    const empty = JSON.stringify(partItem(part));
    return text + this.#emit('response.content_part.added', `${placeOf(open)},"part":${empty}`);
  }

  #closePart(open: Open & { type: 'message' }): string {
    const { part } = open;
    const place = placeOf(open);
    const item = partItem(part);
    this.#textPart = null;
    const written = JSON.stringify(part.text);
    const done =
      part.type === 'text'
        ? this.#emit('response.output_text.done', `${place},"text":${written},"logprobs":[]`)
        : this.#emit('response.refusal.done', `${place},"refusal":${written}`);
    open.content.push(item);
    const end = `${place},"part":${JSON.stringify(item)}`;
    return done + this.#emit('response.content_part.done', end);
  }

  #citation(citation: Citation): string {
    const open = this.#open;
    if (open?.type !== 'message' || open.part.type !== 'text') return '';
    // A document of the request has no address: only its own format can name it.
    if (citation.url === '') return '';
    const annotation = urlCitation(citation);
    const members = { annotation_index: open.part.annotations.length, annotation };
    open.part.annotations.push(annotation);
    const event = 'response.output_text.annotation.added';
    return this.#emit(event, `${placeOf(open)},${inner(members)}`);
  }

  #reasoning(text: string): string {
    let opening = '';
    let open = this.#open;
    if (open?.type !== 'reasoning') {
      opening = this.#openReasoning();
      open = this.#open;
    }
    if (open?.type !== 'reasoning' || text === '') return opening;
    const place = summaryPlaceOf(open);
    if (open.text === '') {
      const part = JSON.stringify(summaryPart(''));
      opening += this.#emit('response.reasoning_summary_part.added', `${place},"part":${part}`);
    }
    open.text += text;
    const delta = `${place},"delta":"${escapeText(text)}"`;
    return opening + this.#emit('response.reasoning_summary_text.delta', delta);
  }

  #openReasoning(): string {
    const closing = this.#endItems();
    const index = this.#itemCount;
    const id = this.#newId('rs');
    this.#open = { type: 'reasoning', id, index, text: '' };
    return closing + this.#added(index, reasoningItem(id, '', null, this.#sealed));
  }

  #reasoningEnd(native: NativeValue): string {
    const opening = this.#open?.type === 'reasoning' ? '' : this.#openReasoning();
    return opening + this.#closeOpen('completed', native);
  }

  #toolCall(callIndex: number, callId: string, name: string): string {
    const closing = this.#endItems();
    const index = this.#itemCount;
    const call: OpenCall = { id: this.#newId('fc'), index, callId, name, arguments: '' };
    this.#calls.set(callIndex, call);
    return closing + this.#added(index, this.#callItem(call, 'in_progress'));
  }

  #toolArguments(callIndex: number, text: string): string {
    const call = this.#calls.get(callIndex);
    if (call === undefined) return '';
    call.arguments += text;
    const place = `"item_id":"${call.id}","output_index":${call.index}`;
    const event = 'response.function_call_arguments.delta';
    return this.#emit(event, `${place},"delta":"${escapeText(text)}"`);
  }

  /** Another format's item shows nothing, but it ends a message as it does in a whole reply. */
  #native(native: NativeValue): string {
    const closing = this.#endItems();
    if (isRedacted(native)) return closing + this.#reasoningEnd(native);
    const { format, value } = native;
    if (format !== 'responses') return closing;
    const index = this.#itemCount;
    this.#itemCount += 1;
    const item = nativeItem(value, this.#identity.requestId, index);
    return closing + this.#added(index, item) + this.#itemDone(index, item);
  }

  #closeOpen(status: ItemStatus, native: NativeValue | null = null): string {
    const open = this.#open;
    this.#open = null;
    if (open === null) return '';
    if (open.type === 'message') {
      const closing = this.#closePart(open);
      return closing + this.#itemDone(open.index, messageItem(open.id, status, open.content));
    }
    let text = '';
    if (open.text !== '') {
      const place = summaryPlaceOf(open);
      const done = `${place},"text":${JSON.stringify(open.text)}`;
      const part = `${place},"part":${JSON.stringify(summaryPart(open.text))}`;
      text += this.#emit('response.reasoning_summary_text.done', done);
      text += this.#emit('response.reasoning_summary_part.done', part);
    }
    const item = reasoningItem(open.id, open.text, native, this.#sealed);
    return text + this.#itemDone(open.index, item);
  }

  /** Everything that is open, in its order; the newest item has the status of the response. */
  #closeAll(status: ItemStatus): string {
    const newest = this.#itemCount - 1;
    const statusAt = (index: number) => (index === newest ? status : 'completed');
    let text = '';
    for (const call of this.#calls.values()) text += this.#closeCall(call, statusAt(call.index));
    this.#calls.clear();
    return text + this.#closeOpen(status);
  }

  /** Another item begins: what is whole ends before it. */
  #endItems(): string {
    let text = this.#closeOpen('completed');
    for (const [index, call] of this.#calls) {
      if (!isWholeJson(call.arguments)) continue;
      text += this.#closeCall(call, 'completed');
      this.#calls.delete(index);
    }
    return text;
  }

  #closeCall(call: OpenCall, status: ItemStatus): string {
    const place = `"item_id":"${call.id}","output_index":${call.index}`;
    const written = `"arguments":${JSON.stringify(call.arguments)}`;
    const { name } = this.#namespaces.get(call.name) ?? call;
    const done = `${place},"name":${JSON.stringify(name)},${written}`;
    const text = this.#emit('response.function_call_arguments.done', done);
    return text + this.#itemDone(call.index, this.#callItem(call, status));
  }

  #callItem(call: OpenCall, status: ItemStatus): Item {
    const { callId, name } = call;
    const whole = { id: callId, name, arguments: call.arguments };
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

  #emit(type: string, members: string): string {
    const sequence = this.#sequence;
    this.#sequence = sequence + 1;
    if (sequence <= this.#startingAfter) return '';
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${members}}\n\n`;
  }
}

function placeOf(open: Open & { type: 'message' }): string {
  const { id, index, content } = open;
  return `"item_id":"${id}","output_index":${index},"content_index":${content.length}`;
}

function summaryPlaceOf(open: Open & { type: 'reasoning' }): string {
  return `"item_id":"${open.id}","output_index":${open.index},"summary_index":0`;
}

function partItem(part: Part): Item {
  return part.type === 'text' ? textPart(part.text, part.annotations) : refusalPart(part.text);
}

/** The members of an object as they stand inside of a larger one. */
function inner(members: Item): string {
  return JSON.stringify(members).slice(1, -1);
}

/** The inside of a JSON string. */
function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
