// An answer as this format's list of output items. Text and refusals that follow one another are
// parts of one message; what only another format can show is passed over, but ends a message.
import type { Answer, AnswerItem } from '../../answer.ts';
import type { Citation, NativeValue } from '../../events.ts';
import { itemId, prefixOf } from './ids.ts';
import type { Inside } from './namespaces.ts';
import { sealReasoning } from './reasoning.ts';

export type Item = Record<string, unknown>;
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export function messageItem(id: string, status: ItemStatus, content: readonly Item[]): Item {
  return { id, type: 'message', status, content, role: 'assistant' };
}

export function textPart(text: string, annotations: readonly Item[]): Item {
  return { type: 'output_text', annotations, logprobs: [], text };
}

export function refusalPart(refusal: string): Item {
  return { type: 'refusal', refusal };
}

export function urlCitation({ url, title, start, end }: Citation): Item {
  return { type: 'url_citation', start_index: start ?? 0, end_index: end ?? 0, url, title };
}

export function callItem(
  id: string,
  status: ItemStatus,
  call: { id: string; name: string; arguments: string },
  inside: Inside | undefined,
): Item {
  const named = inside ?? { name: call.name };
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

/** `sealed`: the client asked for what a provider needs to take the reasoning back. */
export function reasoningItem(
  id: string,
  text: string,
  native: NativeValue | null,
  sealed: boolean,
): Item {
  const item: Item = { id, type: 'reasoning', summary: text === '' ? [] : [summaryPart(text)] };
  if (sealed) item.encrypted_content = native === null ? null : sealReasoning(native);
  return item;
}

/** A provider's own item under an id of ours. */
export function nativeItem(value: Item, requestId: string, outputIndex: number): Item {
  const type = typeof value.type === 'string' ? value.type : 'item';
  return { ...value, type, id: itemId(prefixOf(value.id, type), requestId, outputIndex) };
}

/** Thinking that its provider hides, and wants back: reasoning here, without a summary. */
export function isRedacted({ format, value }: NativeValue): boolean {
  return format === 'messages' && value.type === 'redacted_thinking';
}

export interface OutputOptions {
  requestId: string;
  sealed: boolean;
  /** The status of the last item; the others are complete. */
  lastStatus: ItemStatus;
  /** Of the request, by the names that models of other formats know them by. */
  namespaces?: ReadonlyMap<string, Inside>;
}

export function outputItems(answer: Answer, options: OutputOptions): Item[] {
  const { requestId, sealed, lastStatus, namespaces } = options;
  const groups = grouped(answer.items);
  return groups.map((group, index): Item => {
    const status = index === groups.length - 1 ? lastStatus : 'completed';
    const [first] = group;
    switch (first?.type) {
      case 'reasoning':
        return reasoningItem(itemId('rs', requestId, index), first.text, first.native, sealed);
      case 'tool_call':
        return callItem(itemId('fc', requestId, index), status, first, namespaces?.get(first.name));
      case 'native':
        return isRedacted(first)
          ? reasoningItem(itemId('rs', requestId, index), '', first, sealed)
          : nativeItem(first.value, requestId, index);
      default:
        return messageItem(itemId('msg', requestId, index), status, group.map(contentPart));
    }
  });
}

/** Runs of text and refusals together, everything else by itself. */
function grouped(items: readonly AnswerItem[]): AnswerItem[][] {
  const groups: AnswerItem[][] = [];
  let message: AnswerItem[] | null = null;
  for (const item of items) {
    if (item.type === 'text' || item.type === 'refusal') {
      if (message === null) {
        message = [];
        groups.push(message);
      }
      message.push(item);
      continue;
    }
    message = null;
    const isShown = item.type !== 'native' || item.format === 'responses' || isRedacted(item);
    if (isShown) groups.push([item]);
  }
  return groups;
}

function contentPart(item: AnswerItem): Item {
  if (item.type === 'text') {
    const shown = item.citations.filter(({ url }) => url !== '');
    return textPart(item.text, shown.map(urlCitation));
  }
  return refusalPart(item.type === 'refusal' ? item.text : '');
}
