// A text as lines, with the lines of fenced code marked: what is marked, no step changes. The marks
// are made once, on the text as it came, so no step can open or close a fence by accident.

export interface Passage {
  readonly lines: readonly string[];
  /** 1 for a line of a fenced block, its fences included; null when the text has no fence. */
  readonly fenced: Uint8Array | null;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

export function passageOf(text: string): Passage {
  const lines = text.split('\n');
  const mayHaveFence = text.includes('```') || text.includes('~~~');
  return { lines, fenced: mayHaveFence ? markFences(lines) : null };
}

export function isFenced(passage: Passage, line: number): boolean {
  return passage.fenced !== null && passage.fenced[line] === 1;
}

/** Takes lines of a passage; `keep` holds their numbers, ascending, `texts` what they are now. */
export function narrowed(passage: Passage, texts: string[], keep: readonly number[]): Passage {
  const { fenced } = passage;
  const marks = fenced === null ? null : Uint8Array.from(keep, (line) => fenced[line] ?? 0);
  return { lines: texts, fenced: marks };
}

/** By CommonMark 4.5: a fence is closed by one of its own kind, as long or longer, and bare. */
function markFences(lines: readonly string[]): Uint8Array | null {
  const marks = new Uint8Array(lines.length);
  let open: string | null = null;
  let found = false;
  for (const [index, line] of lines.entries()) {
    const head = line.charCodeAt(0);
    const mayBeFence = head === 0x60 || head === 0x7e || head === 0x20;
    const match = mayBeFence ? FENCE.exec(line) : null;
    if (open === null) {
      if (match === null) continue;
      const [, fence = '', info = ''] = match;
      if (fence.startsWith('`') && info.includes('`')) continue;
      open = fence;
      found = true;
    } else if (match !== null && closes(open, match)) {
      open = null;
    }
    marks[index] = 1;
  }
  return found ? marks : null;
}

function closes(open: string, [, fence = '', rest = '']: RegExpExecArray): boolean {
  return fence[0] === open[0] && fence.length >= open.length && rest.trim() === '';
}
