// Content blocks of a Messages stream → neutral events. What can only be known or shown whole (a
// signature, a server tool's block, citations) waits for the end of its block.
import type { Citation, ModelEvent } from '../../model/events.ts';
import { isMembers, type Members } from '../members.ts';
import { isPlain } from '../sse.ts';

type OpenBlock =
  | { kind: 'text'; start: number; citations: Citation[] }
  | { kind: 'thinking'; signature: string }
  | { kind: 'tool'; index: number; input: unknown; written: boolean }
  | { kind: 'native'; value: Members; input: string }
  | { kind: 'unknown' };

export interface BlockState {
  open: Map<unknown, OpenBlock>;
  toolCount: number;
  /** Of the text item that the answer has at this moment. */
  textLength: number;
}

export function emptyBlocks(): BlockState {
  return { open: new Map(), toolCount: 0, textLength: 0 };
}

/** Blocks that clients of this format know; others would break them. */
const nativeTypes: ReadonlySet<unknown> = new Set([
  'redacted_thinking',
  'server_tool_use',
  'mcp_tool_use',
  'container_upload',
  'compaction',
]);
const resultType = /^[a-z_]+_tool_result$/;

export function startBlock(
  state: BlockState,
  index: unknown,
  block: unknown,
  events: ModelEvent[],
): void {
  if (!isMembers(block)) return;
  const opened = openBlock(state, block, events);
  state.open.set(index, opened);
  if (opened.kind === 'text') addText(state, block.text, events);
  if (opened.kind === 'thinking' && typeof block.thinking === 'string' && block.thinking !== '') {
    events.push({ type: 'reasoning', text: block.thinking });
  }
}

function openBlock(state: BlockState, block: Members, events: ModelEvent[]): OpenBlock {
  const { type } = block;
  if (type === 'text') return { kind: 'text', start: state.textLength, citations: [] };
  if (type === 'thinking') {
    state.textLength = 0;
    const { signature } = block;
    return { kind: 'thinking', signature: typeof signature === 'string' ? signature : '' };
  }
  if (type === 'tool_use') {
    state.textLength = 0;
    const index = state.toolCount;
    state.toolCount += 1;
    const id = typeof block.id === 'string' && block.id !== '' ? block.id : `toolu_${index}`;
    events.push({ type: 'tool_call', index, id, name: String(block.name ?? '') });
    return { kind: 'tool', index, input: block.input, written: false };
  }
  const isResult = typeof type === 'string' && resultType.test(type);
  if (!isResult && !nativeTypes.has(type)) return { kind: 'unknown' };
  state.textLength = 0;
  return { kind: 'native', value: { ...block }, input: '' };
}

export function deltaBlock(
  state: BlockState,
  index: unknown,
  delta: unknown,
  events: ModelEvent[],
): void {
  const block = state.open.get(index);
  if (!isMembers(delta) || block === undefined) return;
  switch (delta.type) {
    case 'text_delta':
      if (block.kind === 'text') addText(state, delta.text, events);
      return;
    case 'thinking_delta':
      if (block.kind === 'thinking' && typeof delta.thinking === 'string' && delta.thinking !== '')
        events.push({ type: 'reasoning', text: delta.thinking });
      return;
    case 'signature_delta':
      if (block.kind === 'thinking' && typeof delta.signature === 'string')
        block.signature = delta.signature;
      return;
    case 'input_json_delta':
      if (typeof delta.partial_json === 'string') addInput(block, delta.partial_json, events);
      return;
    case 'citations_delta':
      if (block.kind === 'text' && isMembers(delta.citation)) {
        block.citations.push(readCitation(delta.citation));
      }
      return;
    default:
      return;
  }
}

export function stopBlock(state: BlockState, index: unknown, events: ModelEvent[]): void {
  const block = state.open.get(index);
  if (block === undefined) return;
  state.open.delete(index);
  switch (block.kind) {
    case 'text':
      for (const citation of block.citations) {
        const place = { start: block.start, end: state.textLength };
        events.push({ type: 'citation', citation: { ...citation, ...place } });
      }
      return;
    case 'thinking': {
      const { signature } = block;
      if (signature === '') return;
      events.push({ type: 'reasoning_end', format: 'messages', value: { signature } });
      return;
    }
    case 'tool':
      if (block.written) return;
      events.push({ type: 'tool_arguments', index: block.index, text: inputText(block.input) });
      return;
    case 'native':
      if (block.input !== '') block.value.input = parsed(block.input);
      events.push({ type: 'native', format: 'messages', value: block.value });
      return;
    default:
      return;
  }
}

/** Whatever the upstream forgot to end. */
export function stopBlocks(state: BlockState, events: ModelEvent[]): void {
  for (const index of [...state.open.keys()]) stopBlock(state, index, events);
}

function addText(state: BlockState, text: unknown, events: ModelEvent[]): void {
  if (typeof text !== 'string' || text === '') return;
  state.textLength += text.length;
  events.push({ type: 'text', text, plain: isPlain(text) });
}

function addInput(block: OpenBlock, text: string, events: ModelEvent[]): void {
  if (text === '') return;
  if (block.kind === 'native') block.input += text;
  if (block.kind !== 'tool') return;
  block.written = true;
  events.push({ type: 'tool_arguments', index: block.index, text });
}

/** A document of the request has no address: only its own format can name it. */
function readCitation(citation: Members): Citation {
  const address = citation.url ?? citation.source;
  const title = citation.title ?? citation.document_title;
  return {
    url: typeof address === 'string' ? address : '',
    title: typeof title === 'string' ? title : '',
    start: null,
    end: null,
    native: { format: 'messages', value: citation },
  };
}

function inputText(input: unknown): string {
  return isMembers(input) ? JSON.stringify(input) : '{}';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
