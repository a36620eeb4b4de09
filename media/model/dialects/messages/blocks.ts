// Content blocks as this format writes them: whole in a reply, empty at their start in a stream.
import { readJson } from '../../../../runtime/http/whole-numbers.ts';
import { blockEnds, splitText } from '../../answer.ts';
import type { AnswerItem } from '../../answer-item.ts';
import type { Citation, NativeValue } from '../../events.ts';
import { carryingId } from '../../returned.ts';
import type { Seals } from '../../seals.ts';
import { sealReasoning } from '../responses/reasoning.ts';

type Block = Record<string, unknown>;

const direct = { type: 'direct' };

/** Without citations the vendor leaves the member out, and widespread clients refuse a null. */
export function textBlock(text: string, citations: Block[] | null): Block {
  return citations === null ? { type: 'text', text } : { type: 'text', text, citations };
}

export function thinkingBlock(thinking: string, signature: string): Block {
  return { type: 'thinking', thinking, signature };
}

function toolBlock(id: string, name: string, input: Block, native?: NativeValue): Block {
  const block = { type: 'tool_use', id, name, input, caller: direct };
  return native?.format === 'messages' ? { ...block, ...native.value } : block;
}

/** A call of the model's, under the id that its client carries. */
export function calledBlock(
  call: Parameters<typeof carryingId>[0] & { name: string; native?: NativeValue },
  input: Block,
  seals: Pick<Seals, 'seal'>,
): Block {
  return toolBlock(carryingId(call, seals), call.name, input, call.native);
}

/** The blocks of one item of an answer; none for what only another format can show. */
export function blocksOf(item: AnswerItem, seals: Pick<Seals, 'seal'>): Block[] {
  switch (item.type) {
    case 'text':
      return textBlocks(item);
    case 'refusal':
      return item.text === '' ? [] : [textBlock(item.text, null)];
    case 'reasoning':
      return [thinkingBlock(item.text, signatureOf(item.native, seals))];
    case 'tool_call':
      return [calledBlock(item, toolInput(item.arguments), seals)];
    default:
      // What a provider never ended would be refused when it is sent back.
      if (item.stages !== undefined && !item.stages.ended) return [];
      return item.format === 'messages' ? [item.value] : [];
  }
}

/** What a provider of another format needs to take its reasoning back travels sealed. */
export function signatureOf(native: NativeValue | null, seals: Pick<Seals, 'seal'>): string {
  if (native === null) return '';
  if (native.format !== 'messages') return sealReasoning(native, seals) ?? '';
  const { signature } = native.value;
  return typeof signature === 'string' ? signature : '';
}

/** A run of text is several blocks where citations end one of them; the others are the last's. */
function textBlocks({ text, citations }: AnswerItem & { type: 'text' }): Block[] {
  const ends = blockEnds(citations, text.length);
  const parts = splitText(text, ends).map((part): { part: string; own: Citation[] } => {
    return { part, own: [] };
  });
  const places = new Map(ends.map((end, index) => [end, index]));
  for (const citation of citations) {
    const isBound = citation.native?.format === 'messages' && citation.end !== null;
    const place = isBound ? places.get(citation.end ?? 0) : undefined;
    parts.at(place ?? -1)?.own.push(citation);
  }
  return parts.map(({ part, own }) =>
    textBlock(part, own.length === 0 ? null : own.flatMap(citationBlock)),
  );
}

/** A citation in this format; none of what has no address and no form here. */
export function citationBlock({ url, title, native }: Citation): Block[] {
  if (native?.format === 'messages') return [native.value];
  if (url === '') return [];
  return [{ type: 'web_search_result_location', cited_text: '', encrypted_index: '', title, url }];
}

/** The arguments of a call as the object that they are meant to be. */
export function toolInput(text: string): Block {
  if (text.trim() === '') return {};
  try {
    const input = readJson(text);
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Block;
  } catch {
    // What the model wrote is kept for it to see.
  }
  return { invalid_arguments: text };
}
