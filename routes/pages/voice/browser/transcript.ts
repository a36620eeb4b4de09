// The transcript as a pure state: a delta is appended to its role's open utterance, a final text
// replaces it. Also what of it a renewed connection is told, since the server restores no history.
import type { ContextMessage, Role } from './wire.ts';

export interface Line {
  /** Stays with the line, so that a view can keep its element. */
  id: number;
  role: Role;
  text: string;
  isFinal: boolean;
}

export type Transcript = readonly Line[];

const LINES_MAX = 500;

const lastId = (lines: Transcript): number => lines.at(-1)?.id ?? 0;

interface Spoken {
  role: Role;
  text: string;
  final: boolean;
  delta: boolean;
}

/** The transcript after one event of the server. */
export function withSpoken(lines: Transcript, event: Spoken): Transcript {
  const at = lines.findLastIndex((line) => line.role === event.role && !line.isFinal);
  const open = lines[at];
  const isFinal = event.final && !event.delta;
  if (open !== undefined) {
    const text = (event.delta ? open.text + event.text : event.text).trimStart();
    // An utterance that turned out to be nothing leaves nothing behind.
    if (isFinal && text.trim() === '') return lines.toSpliced(at, 1);
    return lines.with(at, { ...open, text, isFinal });
  }
  if (event.text.trim() === '') return lines;
  const id = lastId(lines) + 1;
  const line = { id, role: event.role, text: event.text.trimStart(), isFinal };
  return [...lines, line].slice(-LINES_MAX);
}

/**
 * Keeps a place for what the user has just said: providers write it down while they answer already,
 * and it belongs before the answer.
 */
export function withReserved(lines: Transcript): Transcript {
  if (lines.some((line) => line.role === 'user' && !line.isFinal)) return lines;
  const id = lastId(lines) + 1;
  return [...lines, { id, role: 'user', text: '', isFinal: false }];
}

/** Places that nothing was said for are given up. */
export function withoutReserved(lines: Transcript): Transcript {
  return lines.filter((line) => line.text !== '');
}

/** What was not finished when the connection ended will not be. */
export function closed(lines: Transcript): Transcript {
  return withoutReserved(lines).map((line) => ({ ...line, isFinal: true }));
}

const ITEMS_MAX = 40;
const ITEM_CHARACTERS_MAX = 4_000;
/** Below the server's 24,000, which a deployment may lower. */
const CHARACTERS_MAX = 12_000;

/** The end of the conversation as the context of a new connection. */
export function contextOf(lines: Transcript): ContextMessage[] {
  const context: ContextMessage[] = [];
  let left = CHARACTERS_MAX;
  for (const line of lines.toReversed()) {
    const characters = [...line.text.trim()].slice(0, ITEM_CHARACTERS_MAX);
    if (characters.length === 0) continue;
    left -= characters.length;
    if (left < 0 || context.length === ITEMS_MAX) break;
    context.unshift({ role: line.role, content: characters.join('') });
  }
  return context;
}
