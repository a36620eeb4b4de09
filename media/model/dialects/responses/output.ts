// An answer as this format's list of output items. Text and refusals that follow one another are
// parts of one message; what only another format can show is passed over, but ends a message.
import type { Answer } from '../../answer.ts';
import type { AnswerItem, Stages, ToolCall } from '../../answer-item.ts';
import type { Citation, NativeValue } from '../../events.ts';
import { carryingId } from '../../returned.ts';
import type { Seals } from '../../seals.ts';
import { itemId, prefixOf } from './ids.ts';
import type { Inside } from './namespaces.ts';
import { sealReasoning } from './reasoning.ts';

export type Item = Record<string, unknown>;
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** `members`: what its own format has beside these. */
export function messageItem(
  id: string,
  status: ItemStatus,
  content: readonly Item[],
  members: Item = {},
): Item {
  return { id, type: 'message', status, content, role: 'assistant', ...members };
}

export function textPart(
  text: string,
  annotations: readonly Item[],
  logprobs: readonly unknown[] = [],
): Item {
  return { type: 'output_text', annotations, logprobs, text };
}

export function refusalPart(refusal: string): Item {
  return { type: 'refusal', refusal };
}

/** Null: a document of a Messages request has no address, only that format can name it. */
export function annotationOf({ url, title, start, end, native }: Citation): Item | null {
  if (native?.format === 'responses') return native.value;
  if (url === '') return null;
  return { type: 'url_citation', start_index: start ?? 0, end_index: end ?? 0, url, title };
}

export function callItem(
  id: string,
  status: ItemStatus,
  call: ToolCall & { freeText?: true | undefined },
  inside: Inside | undefined,
): Item {
  const named = inside ?? { name: call.name };
  if (call.freeText === true) {
    const { id: call_id, arguments: input } = call;
    return { id, type: 'custom_tool_call', status, call_id, input, ...named };
  }
  return {
    id,
    type: 'function_call',
    status,
    arguments: call.arguments,
    call_id: call.id,
    ...named,
  };
}

export function summaryPart(text: string): Item {
  return { type: 'summary_text', text };
}

export function reasoningPart(text: string): Item {
  return { type: 'reasoning_text', text };
}

/** The texts of reasoning, and what its own format has beside them. */
export interface ReasoningParts {
  summary: readonly Item[];
  content: readonly Item[];
  members: Item;
}

/** `seals`: the client asked for what a provider needs to take the reasoning back. */
export function reasoningItem(
  id: string,
  { summary, content, members }: ReasoningParts,
  native: NativeValue | null,
  seals: Pick<Seals, 'seal'> | null,
): Item {
  const item: Item = { id, type: 'reasoning', summary };
  if (content.length > 0) item.content = content;
  Object.assign(item, native?.format === 'responses' ? reasoningMembers(native.value) : members);
  // Left out until it is known: strict clients take no null for it.
  const seal = seals === null || native === null ? null : sealReasoning(native, seals);
  if (seal !== null) item.encrypted_content = seal;
  return item;
}

function reasoningMembers(value: Item): Item {
  const { id: _id, encrypted_content: _sealed, summary: _summary, content, ...members } = value;
  return Array.isArray(content) && content.length === 0 ? { content, ...members } : members;
}

/** A provider's own item under an id of ours. */
export function nativeItem(value: Item, requestId: string, outputIndex: number): Item {
  const type = typeof value.type === 'string' ? value.type : 'item';
  return { ...value, type, id: itemId(prefixOf(value.id, type), requestId, outputIndex) };
}

/** A call to the client whose text is streamed. */
export function isClientCall({ type }: Item): boolean {
  return type === 'custom_tool_call' || type === 'function_call';
}

/** A native item that was begun and never ended, as far as it came. */
export function unendedItem({ begun, told }: Pick<Stages, 'begun' | 'told'>): Item {
  if (!isClientCall(begun)) return begun;
  const member = begun.type === 'custom_tool_call' ? 'input' : 'arguments';
  let text = '';
  for (const { type, delta } of told) {
    if (String(type).endsWith('.delta') && typeof delta === 'string') text += delta;
  }
  return { ...begun, status: 'incomplete', [member]: text };
}

/** Thinking that its provider hides, and wants back: reasoning here, without a summary. */
export function isRedacted({ format, value }: NativeValue): boolean {
  return format === 'messages' && value.type === 'redacted_thinking';
}

export interface OutputOptions {
  requestId: string;
  seals: Pick<Seals, 'seal'>;
  /** The client does not want what a provider needs to take reasoning back. */
  unsealed?: boolean;
  /** The status of the last item; the others are complete. */
  lastStatus: ItemStatus;
  /** Of the request, by the names that models of other formats know them by. */
  namespaces?: ReadonlyMap<string, Inside>;
}

export function outputItems(answer: Answer, options: OutputOptions): Item[] {
  const { requestId, lastStatus } = options;
  const seals = options.unsealed === true ? null : options.seals;
  const groups = grouped(answer.items);
  return groups.map((group, index): Item => {
    const status = index === groups.length - 1 ? lastStatus : 'completed';
    const [first] = group;
    switch (first?.type) {
      case 'reasoning':
        return reasoningGroup(itemId('rs', requestId, index), group, seals);
      case 'tool_call':
        return calledItem(first, index, status, options);
      case 'native':
        return isRedacted(first)
          ? reasoningItem(itemId('rs', requestId, index), noParts, first, seals)
          : nativeItem(shownValue(first), requestId, index);
      default: {
        const id = itemId('msg', requestId, index);
        return messageItem(id, status, group.map(contentPart), groupMembers(group));
      }
    }
  });
}

/** A custom tool's call has ended when its text has, however the answer ends. */
function calledItem(
  call: AnswerItem & { type: 'tool_call' },
  index: number,
  status: ItemStatus,
  { requestId, namespaces, seals }: OutputOptions,
): Item {
  const { name, arguments: text, freeText, ended } = call;
  const own = ended === true ? 'completed' : status;
  const id = itemId(callPrefix(call), requestId, index);
  const carrying = { id: carryingId(call, seals), name, arguments: text, freeText };
  return callItem(id, own, carrying, namespaces?.get(name));
}

/** The prefix of its id. */
export function callPrefix({ freeText }: { freeText?: true }): string {
  return freeText === true ? 'ctc' : 'fc';
}

/** How the events of a call's arguments are called, and the member that has all of them. */
export function calledBy({ freeText }: { freeText?: true }): { events: string; member: string } {
  return freeText === true ? customInput : functionArguments;
}

const customInput = { events: 'custom_tool_call_input', member: 'input' };
const functionArguments = { events: 'function_call_arguments', member: 'arguments' };

const noParts: ReasoningParts = { summary: [], content: [], members: {} };

function shownValue({ stages, value }: AnswerItem & { type: 'native' }): Item {
  return stages === undefined || stages.ended ? value : unendedItem(stages);
}

/** What a provider was about to do when the answer ended is no part of it. */
function isPending(item: AnswerItem): boolean {
  if (item.type !== 'native' || item.stages === undefined) return false;
  return !item.stages.ended && !isClientCall(item.stages.begun);
}

/** Runs of text and refusals together, parts of reasoning too, everything else by itself. */
function grouped(items: readonly AnswerItem[]): AnswerItem[][] {
  const groups: AnswerItem[][] = [];
  let open: 'message' | 'reasoning' | null = null;
  const count = items.findLastIndex((item) => isShown(item) && !isPending(item)) + 1;
  for (const item of items.slice(0, count)) {
    const kind = item.type === 'text' || item.type === 'refusal' ? 'message' : item.type;
    if (kind === 'message' || kind === 'reasoning') {
      const { border } = item as AnswerItem & { type: 'text' | 'reasoning' };
      // Without borders a message goes on, and each run of reasoning is an item.
      const goesOn = border === undefined ? kind === 'message' : border.item === null;
      if (open === kind && goesOn) groups.at(-1)?.push(item);
      else groups.push([item]);
      open = item.type === 'reasoning' && item.native !== null ? null : kind;
      continue;
    }
    open = null;
    if (isShown(item)) groups.push([item]);
  }
  return groups;
}

function isShown(item: AnswerItem): boolean {
  return item.type !== 'native' || isRedacted(item) || item.format === 'responses';
}

/** What the item of these parts has beside them: as its end has it, else as it began. */
function groupMembers(group: readonly AnswerItem[]): Item {
  let members: Item = {};
  for (const item of group) {
    if (!('border' in item) || item.border === undefined) continue;
    members = item.border.done ?? item.border.item ?? members;
  }
  return members;
}

function reasoningGroup(
  id: string,
  group: readonly AnswerItem[],
  seals: Pick<Seals, 'seal'> | null,
): Item {
  const summary: Item[] = [];
  const content: Item[] = [];
  let native: NativeValue | null = null;
  for (const item of group) {
    if (item.type !== 'reasoning') continue;
    native = item.native;
    const { text, border } = item;
    if (border?.kind === 'reasoning_text') content.push(reasoningPart(text));
    else if (border?.kind === 'summary_text' || text !== '') summary.push(summaryPart(text));
  }
  return reasoningItem(id, { summary, content, members: groupMembers(group) }, native, seals);
}

function contentPart(item: AnswerItem): Item {
  if (item.type === 'text') {
    const annotations = item.citations.map(annotationOf).filter((shown) => shown !== null);
    const { told, ends } = item.logprobs ?? {};
    return textPart(item.text, annotations, ends?.part ?? told);
  }
  return refusalPart(item.type === 'refusal' ? item.text : '');
}
