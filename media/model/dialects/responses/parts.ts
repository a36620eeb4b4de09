// The items of a stream that are written part by part, and the events of their parts: names and
// members differ by the kind of part, the order never does.
import type { PartKind } from '../../events.ts';
import { escapeText } from '../text-deltas.ts';
import {
  type Item,
  type ItemStatus,
  messageItem,
  reasoningPart,
  refusalPart,
  summaryPart,
  textPart,
} from './output.ts';

/** A message or reasoning that is being written: the newest item, when it is of these. */
export type Open =
  | {
      type: 'message';
      id: string;
      index: number;
      members: Item;
      content: Item[];
      part: Part | null;
    }
  | {
      type: 'reasoning';
      id: string;
      index: number;
      members: Item;
      summary: Item[];
      content: Item[];
      part: Part | null;
    };

export interface Part {
  kind: Exclude<PartKind, 'reasoning'>;
  text: string;
  annotations: Item[];
  /** With its deltas, and as its two ends list them where those say otherwise. */
  logprobs: unknown[];
  ends: { done: unknown[]; part: unknown[] } | null;
}

/** An event: its type, and its members but for the first two. */
export type Written = [type: string, members: string];

const names: Record<Part['kind'], { text: string; part: string }> = {
  output_text: { text: 'response.output_text', part: 'response.content_part' },
  refusal: { text: 'response.refusal', part: 'response.content_part' },
  summary_text: {
    text: 'response.reasoning_summary_text',
    part: 'response.reasoning_summary_part',
  },
  reasoning_text: { text: 'response.reasoning_text', part: 'response.content_part' },
};

export function newPart(kind: Part['kind']): Part {
  return { kind, text: '', annotations: [], logprobs: [], ends: null };
}

/** Where the part stands that is being written. */
export function placeOf(open: Open, { kind }: Part): string {
  const list = kind === 'summary_text' && open.type === 'reasoning' ? open.summary : open.content;
  const name = kind === 'summary_text' ? 'summary_index' : 'content_index';
  return `"item_id":"${open.id}","output_index":${open.index},"${name}":${list.length}`;
}

export function partAdded(open: Open, part: Part): Written {
  const members = `${placeOf(open, part)},"part":${JSON.stringify(partItem(part))}`;
  return [`${names[part.kind].part}.added`, members];
}

export function partDelta(open: Open, part: Part, text: string, logprobs: unknown[]): Written {
  const members = `${placeOf(open, part)},"delta":"${escapeText(text)}"`;
  const listed = part.kind === 'output_text' ? `,"logprobs":${JSON.stringify(logprobs)}` : '';
  return [`${names[part.kind].text}.delta`, members + listed];
}

/** The end of a part: of its text, then its own. It stands in its item from then on. */
export function endPart(open: Open, part: Part): Written[] {
  const { kind, text, logprobs, ends } = part;
  const place = placeOf(open, part);
  const item = partItem(part);
  const member = kind === 'refusal' ? 'refusal' : 'text';
  const listed =
    kind === 'output_text' ? `,"logprobs":${JSON.stringify(ends?.done ?? logprobs)}` : '';
  const done = `${place},"${member}":${JSON.stringify(text)}${listed}`;
  const written = JSON.stringify(item);
  if (kind === 'summary_text' && open.type === 'reasoning') open.summary.push(item);
  else open.content.push(item);
  return [
    [`${names[kind].text}.done`, done],
    [`${names[kind].part}.done`, `${place},"part":${written}`],
  ];
}

function partItem({ kind, text, annotations, logprobs, ends }: Part): Item {
  switch (kind) {
    case 'output_text':
      return textPart(text, annotations, ends?.part ?? logprobs);
    case 'refusal':
      return refusalPart(text);
    case 'summary_text':
      return summaryPart(text);
    case 'reasoning_text':
      return reasoningPart(text);
  }
}

export function openMessage(open: Open & { type: 'message' }, status: ItemStatus): Item {
  return messageItem(open.id, status, open.content, open.members);
}
