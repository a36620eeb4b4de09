// Lines that say the same again: identical ones in a row, and a progress display that counts up.
// The count is kept, so nothing is lost but the sight of it.
import { isFenced, narrowed, type Passage } from './passage.ts';

const REPEATS_MIN = 3;
const PROGRESS_MIN = 4;
const PERCENT = /(\d{1,3})(?:\.\d+)?\s?%/;
/** What moves in a progress line: figures with such a unit, times, and the bar itself. */
const MOVING = new RegExp(
  [
    '\\d+(?:[.,:]\\d+)*\\s?(?:%|[kMG]i?B(?:/s)?|B/s|it/s|m?s\\b|eta)',
    '\\d+(?::\\d\\d)+|\\d+/\\d+',
    '[#=>█▉▊▋▌▍▎▏░▒▓━╸─]{2,}|[.-]{4,}',
  ].join('|'),
  'giu',
);

/** Three or more identical lines in a row become one and a count. */
export function withoutRepeatedLines(passage: Passage): Passage {
  return collapsed(passage, (lines, from, to) => {
    const first = lines[from] ?? '';
    let end = from + 1;
    while (end < to && lines[end] === first) end += 1;
    const times = end - from - 1;
    if (times + 1 < REPEATS_MIN || first === '') return null;
    const note = `[the line above comes ${times} more times]`;
    if (note.length >= times * (first.length + 1)) return null;
    return { end, texts: [first, note], kept: [from, from + 1] };
  });
}

/** Four or more lines that differ in a growing percentage only: the last one tells it all. */
export function withoutProgress(passage: Passage): Passage {
  return collapsed(passage, (lines, from, to) => {
    const end = progressEnd(lines, from, to);
    if (end - from < PROGRESS_MIN) return null;
    const note = `[${end - from - 1} earlier lines of this progress]`;
    return { end, texts: [note, lines[end - 1] ?? ''], kept: [end - 2, end - 1] };
  });
}

function progressEnd(lines: readonly string[], from: number, to: number): number {
  const first = lines[from] ?? '';
  let percent = percentOf(first);
  if (percent === null) return from;
  const still = first.replace(MOVING, '\0');
  let end = from + 1;
  for (; end < to; end += 1) {
    const line = lines[end] ?? '';
    const next = percentOf(line);
    if (next === null || next < percent || line.replace(MOVING, '\0') !== still) break;
    percent = next;
  }
  return end;
}

function percentOf(line: string): number | null {
  if (line.length > 240 || !line.includes('%')) return null;
  const [, figure] = PERCENT.exec(line) ?? [];
  return figure === undefined ? null : Number(figure);
}

interface Collapse {
  end: number;
  texts: string[];
  /** The line numbers whose marks the texts take over. */
  kept: number[];
}

/** Offers each line outside fences to `fold`, together with where its unfenced stretch ends. */
function collapsed(
  passage: Passage,
  fold: (lines: readonly string[], from: number, to: number) => Collapse | null,
): Passage {
  const { lines } = passage;
  const texts: string[] = [];
  const keep: number[] = [];
  let changed = false;
  let stretchEnd = 0;
  for (let index = 0; index < lines.length; ) {
    if (index >= stretchEnd) {
      stretchEnd = index;
      while (stretchEnd < lines.length && !isFenced(passage, stretchEnd)) stretchEnd += 1;
    }
    const found = isFenced(passage, index) ? null : fold(lines, index, stretchEnd);
    if (found === null) {
      texts.push(lines[index] ?? '');
      keep.push(index);
      index += 1;
      continue;
    }
    changed = true;
    texts.push(...found.texts);
    keep.push(...found.kept);
    index = found.end;
  }
  return changed ? narrowed(passage, texts, keep) : passage;
}
