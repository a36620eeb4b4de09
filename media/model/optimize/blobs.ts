// Bytes in disguise: long runs of base64 in a tool's output. A model cannot read them; it is told
// what stood there and how much. Looks only where a run must pass, so clean text costs nothing.
import { isFenced, narrowed, type Passage } from './passage.ts';

/** Kept of a run, so that a reader knows which one it was. */
const HEAD_CHARACTERS = 24;
const SAMPLE_CHARACTERS = 256;

export function withoutBlobs(passage: Passage, charactersMin: number): Passage {
  let changed = false;
  const lines = passage.lines.map((line, index) => {
    if (line.length < charactersMin || isFenced(passage, index)) return line;
    const plain = withoutRuns(line, charactersMin);
    if (plain !== line) changed = true;
    return plain;
  });
  return changed ? narrowed(passage, lines, [...lines.keys()]) : passage;
}

/** A run of n characters covers every n-th position of its line, so only those are looked at. */
function withoutRuns(line: string, charactersMin: number): string {
  let plain = '';
  let from = 0;
  for (let probe = charactersMin - 1; probe < line.length; ) {
    if (!isBase64(line.charCodeAt(probe))) {
      probe += charactersMin;
      continue;
    }
    let start = probe;
    while (start > from && isBase64(line.charCodeAt(start - 1))) start -= 1;
    let end = probe + 1;
    while (end < line.length && isBase64(line.charCodeAt(end))) end += 1;
    if (end - start >= charactersMin && looksEncoded(line, start)) {
      const length = end - start - HEAD_CHARACTERS;
      plain += `${line.slice(from, start + HEAD_CHARACTERS)}[… ${length} more of base64]`;
      from = end;
    }
    probe = Math.max(probe, end) + charactersMin - 1;
  }
  return from === 0 ? line : plain + line.slice(from);
}

/** Letters, digits, and the signs of both alphabets of RFC 4648. */
function isBase64(code: number): boolean {
  if (code >= 0x61) return code <= 0x7a;
  if (code >= 0x41) return code <= 0x5a || code === 0x5f;
  return (code >= 0x2f && code <= 0x39) || code === 0x2b || code === 0x2d;
}

/** Encoded bytes have letters of both cases and digits; a long word or a ruler has not. */
function looksEncoded(line: string, start: number): boolean {
  const sample = line.slice(start, start + SAMPLE_CHARACTERS);
  return /[a-z]/.test(sample) && /[A-Z]/.test(sample) && /\d/.test(sample);
}
