// groundingMetadata → citations and the number of searches. The surprise: positions are counted in
// bytes of the UTF-8 answer, ours in UTF-16 units, so the text with other characters is kept.
import type { Citation, ModelEvent } from '../../../model/events.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { generationOf } from './model.ts';

/** A piece of text with characters beyond ASCII, and where it begins in both countings. */
interface WidePiece {
  text: string;
  bytes: number;
  units: number;
}

export interface GroundingState {
  /** Of the text so far. */
  bytes: number;
  units: number;
  wide: WidePiece[];
  /** Distinct searches. */
  queries: Set<string>;
  /** The last sources that were listed; supports refer to them by position. */
  chunks: Members[];
  /** What was reported, as the whole of it may be repeated in every event. */
  cited: Set<string>;
}

/** More than this of one answer is nonsense. */
const citationsMax = 1_000;

export function emptyGrounding(): GroundingState {
  return { bytes: 0, units: 0, wide: [], queries: new Set(), chunks: [], cited: new Set() };
}

/** Another text item begins: positions start again at its beginning. */
export function startText(state: GroundingState): void {
  state.bytes = 0;
  state.units = 0;
  state.wide = [];
}

export function addText(state: GroundingState, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes !== text.length) state.wide.push({ text, bytes: state.bytes, units: state.units });
  state.bytes += bytes;
  state.units += text.length;
}

/** Reads `groundingMetadata` of a candidate. */
export function readGrounding(state: GroundingState, found: unknown, events: ModelEvent[]): void {
  if (!isMembers(found)) return;
  for (const query of listOf(found.webSearchQueries)) {
    if (typeof query === 'string' && query.trim() !== '') state.queries.add(query);
  }
  const chunks = listOf(found.groundingChunks).filter(isMembers);
  if (chunks.length > 0) state.chunks = chunks;
  for (const support of listOf(found.groundingSupports)) {
    if (!isMembers(support)) continue;
    const segment = isMembers(support.segment) ? support.segment : {};
    for (const index of listOf(support.groundingChunkIndices)) {
      const source = typeof index === 'number' ? state.chunks[index] : undefined;
      if (source !== undefined) cite(state, source.web, segment, events);
    }
  }
}

/** Reads `citationMetadata`: texts that the answer quotes. */
export function readCitations(state: GroundingState, found: unknown, events: ModelEvent[]): void {
  if (!isMembers(found)) return;
  for (const citation of listOf(found.citations ?? found.citationSources)) {
    if (isMembers(citation)) cite(state, citation, citation, events);
  }
}

/** Sources that no sentence refers to are named at the end, when nothing else was. */
export function endGrounding(state: GroundingState, events: ModelEvent[]): void {
  if (state.cited.size > 0) return;
  for (const { web } of state.chunks) cite(state, web, null, events);
}

/** How many searches are charged: before the third generation, one for a grounded answer. */
export function searchCalls(state: GroundingState, modelVersion: string): number {
  const count = state.queries.size;
  if (count === 0) return 0;
  const generation = generationOf(modelVersion);
  return generation !== null && generation < 3 ? Math.min(count, 1) : count;
}

function cite(
  state: GroundingState,
  source: unknown,
  segment: Members | null,
  events: ModelEvent[],
): void {
  if (!isMembers(source) || typeof source.uri !== 'string' || source.uri === '') return;
  const title = typeof source.title === 'string' ? source.title : '';
  const end = segment === null ? null : unitsAt(state, segment.endIndex);
  // A start of zero is left out of the JSON.
  const start = end === null || segment === null ? null : unitsAt(state, segment.startIndex ?? 0);
  const citation: Citation = { url: source.uri, title, start, end: start === null ? null : end };
  const key = `${start} ${end} ${source.uri}`;
  if (state.cited.has(key) || state.cited.size >= citationsMax) return;
  state.cited.add(key);
  events.push({ type: 'citation', citation });
}

/** UTF-16 position of a byte position; null when it is outside of the text. */
function unitsAt(state: GroundingState, position: unknown): number | null {
  if (typeof position !== 'number' || position < 0 || position > state.bytes) return null;
  const piece = state.wide.findLast(({ bytes }) => bytes <= position);
  if (piece === undefined) return position;
  const encoded = Buffer.from(piece.text);
  const inside = Math.min(position - piece.bytes, encoded.length);
  const units = encoded.subarray(0, inside).toString().length;
  return piece.units + units + (position - piece.bytes - inside);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
