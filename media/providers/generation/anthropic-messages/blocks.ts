// Content blocks of a Messages stream → neutral events. What can only be known or shown whole (a
// signature, a server tool's result, citations) waits for the end of its block, but for a client of
// the same format, which gets borders, citations and the calls of server tools as they come.
import { isPlain } from '../../../../runtime/http/json-pieces.ts';
import type { Citation, ModelEvent } from '../../../model/events.ts';
import { isMembers, type Members, wordOf } from '../../../transport/members.ts';
import { uniqueId } from '../call-ids.ts';
import { readLoosePart, unread, wordsIn } from '../loose-parts.ts';
import { ownCall } from './passthrough.ts';

type OpenBlock =
  /** `citations`: those that were not told yet. `border`: it is still to be told. */
  | { kind: 'text'; start: number; citations: Citation[]; border: ModelEvent | null }
  | { kind: 'thinking'; signature: string }
  | { kind: 'tool'; index: number; input: unknown; written: boolean }
  /** `index`: of one that was announced. */
  | { kind: 'native'; value: Members; input: string; index: number | null }
  /** `type`: what its server calls it. */
  | { kind: 'unknown'; type: unknown };

export interface BlockState {
  open: Map<unknown, OpenBlock>;
  toolCount: number;
  /** There is text, or what only this format has. */
  answered: boolean;
  /** Ids of the calls so far. */
  given: Set<string>;
  /** Of the text item that the answer has at this moment. */
  textLength: number;
  /** The client's format is this one. */
  own: boolean;
  /** Announced so far. */
  nativeCount: number;
}

export function emptyBlocks(own: boolean): BlockState {
  const given = new Set<string>();
  return {
    open: new Map(),
    toolCount: 0,
    answered: false,
    given,
    textLength: 0,
    own,
    nativeCount: 0,
  };
}

/** Blocks that clients of this format know; others would break them. */
const nativeTypes: ReadonlySet<unknown> = new Set([
  'redacted_thinking',
  'server_tool_use',
  'mcp_tool_use',
  'container_upload',
  'compaction',
  'mcp_tool_listing',
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
  if (block.type === 'text' && opened.kind === 'text') addText(state, opened, block.text, events);
  const thought = block.type === 'thinking' ? wordsIn(block.thinking) : '';
  if (thought !== '') events.push({ type: 'reasoning', text: thought });
}

function openBlock(state: BlockState, block: Members, events: ModelEvent[]): OpenBlock {
  const { type } = block;
  if (type === 'text') {
    const border = state.own ? borderOf(block) : null;
    return { kind: 'text', start: state.textLength, citations: [], border };
  }
  if (type === 'thinking') {
    state.textLength = 0;
    const { signature } = block;
    return { kind: 'thinking', signature: typeof signature === 'string' ? signature : '' };
  }
  if (type === 'tool_use') {
    state.textLength = 0;
    const index = state.toolCount;
    state.toolCount += 1;
    const named = typeof block.id === 'string' && block.id !== '' ? block.id : `toolu_${index}`;
    const id = uniqueId(state.given, named, index);
    const call = { type: 'tool_call' as const, index, id, name: wordOf(block.name ?? '') };
    const native = state.own ? ownCall(block) : null;
    events.push(native === null ? call : { ...call, native });
    return { kind: 'tool', index, input: block.input, written: false };
  }
  const isResult = typeof type === 'string' && resultType.test(type);
  if (!isResult && !nativeTypes.has(type)) return openOther(state, block, events);
  state.textLength = 0;
  state.answered = true;
  const isAnnounced = state.own && isWritten(block);
  const index = isAnnounced ? state.nativeCount : null;
  if (index !== null) {
    state.nativeCount += 1;
    events.push({ type: 'native_begin', index, format: 'messages', value: { ...block } });
  }
  return { kind: 'native', value: { ...block }, input: '', index };
}

/** A block of a kind that this format does not have: what it means, its members say. */
function openOther(state: BlockState, block: Members, events: ModelEvent[]): OpenBlock {
  const read = readLoosePart(block);
  switch (read.type) {
    case 'unread':
      return { kind: 'unknown', type: block.type };
    case 'reasoning': {
      const opened = openBlock(state, { type: 'thinking' }, events);
      if (read.text !== '') events.push({ type: 'reasoning', text: read.text });
      return opened;
    }
    default: {
      const opened = openBlock(state, { type: 'text' }, events);
      if (opened.kind === 'text') addText(state, opened, read.text, events);
      return opened;
    }
  }
}

/** Told with the first text; `item`: what the block begins with beside it. */
function borderOf({ citations }: Members): ModelEvent {
  const item = Array.isArray(citations) ? { citations: [] } : null;
  return { type: 'part', kind: 'output_text', item };
}

/** Whether deltas are to follow: of others nothing is known between beginning and end. */
function isWritten({ type, input, content }: Members): boolean {
  if (type === 'compaction') return (content ?? null) === null;
  return isMembers(input) && Object.keys(input).length === 0;
}

export function deltaBlock(
  state: BlockState,
  index: unknown,
  delta: unknown,
  events: ModelEvent[],
): void {
  const opened = state.open.get(index);
  if (!isMembers(delta) || opened === undefined) return;
  const block = opened.kind === 'unknown' ? meantBy(state, index, delta, events) : opened;
  switch (delta.type) {
    case 'text_delta':
      if (block.kind === 'text') addText(state, block, delta.text, events);
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
        const citation = readCitation(delta.citation);
        if (state.own && block.border === null) events.push({ type: 'citation', citation });
        else block.citations.push(citation);
      }
      return;
    case 'compaction_delta':
      if (block.kind === 'native') addCompaction(block, delta, events);
      return;
    default:
      return;
  }
}

/** Deltas say what a block is whose kind nobody knows. */
function meantBy(
  state: BlockState,
  index: unknown,
  { type }: Members,
  events: ModelEvent[],
): OpenBlock {
  const known = type === 'text_delta' || type === 'thinking_delta';
  if (known) startBlock(state, index, { type: type.slice(0, -'_delta'.length) }, events);
  return state.open.get(index) ?? { kind: 'unknown', type };
}

export function stopBlock(state: BlockState, index: unknown, events: ModelEvent[]): void {
  const block = state.open.get(index);
  if (block === undefined) return;
  state.open.delete(index);
  switch (block.kind) {
    case 'text':
      // The citations of a block without text belong to nothing.
      if (state.own) return;
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
      events.push(nativeEvent('native', block, block.value));
      return;
    case 'unknown':
      events.push(unread(block.type));
      return;
    default:
      return;
  }
}

/** Whatever the upstream forgot to end. */
export function stopBlocks(state: BlockState, events: ModelEvent[]): void {
  for (const index of [...state.open.keys()]) stopBlock(state, index, events);
}

function addText(
  state: BlockState,
  block: OpenBlock & { kind: 'text' },
  text: unknown,
  events: ModelEvent[],
): void {
  if (typeof text !== 'string' || text === '') return;
  if (block.border !== null) {
    events.push(block.border);
    block.border = null;
    for (const citation of block.citations) events.push({ type: 'citation', citation });
  }
  state.textLength += text.length;
  state.answered = true;
  events.push({ type: 'text', text, plain: isPlain(text) });
}

function addInput(block: OpenBlock, text: string, events: ModelEvent[]): void {
  if (text === '') return;
  if (block.kind === 'native') {
    block.input += text;
    if (block.index === null) return;
    // A member that runs of them can be joined by, when they are kept.
    events.push(nativeEvent('native_event', block, { type: 'input_json_delta', delta: text }));
  }
  if (block.kind !== 'tool') return;
  block.written = true;
  events.push({ type: 'tool_arguments', index: block.index, text });
}

/** It has the block's members as they are at its end. */
function addCompaction(
  block: OpenBlock & { kind: 'native' },
  delta: Members,
  events: ModelEvent[],
): void {
  const { type, ...members } = delta;
  Object.assign(block.value, members);
  if (block.index !== null) events.push(nativeEvent('native_event', block, { type, ...members }));
}

function nativeEvent(
  type: 'native' | 'native_event',
  { index }: OpenBlock & { kind: 'native' },
  value: Members,
): ModelEvent {
  if (type === 'native' && index === null) return { type, format: 'messages', value };
  return { type, index: index ?? 0, format: 'messages', value };
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
