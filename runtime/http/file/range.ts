// Which bytes a Range header asks for (RFC 9110, 14.2). The parser calls two things unsatisfiable
// that are not. `5-2` is no range, and a last part that is longer than the file is all of it.
import rangeParser from 'range-parser';

/** The bytes from `from` up to, not including, `to`. */
export interface ByteRange {
  from: number;
  to: number;
}

const unit = /^bytes=/i;
const between = /^(\d+)-(\d*)$/;
const atEnd = /^-(\d+)$/;

/** `whole`: no range, several, or none that we understand. */
export function rangeOf(header: string, bytes: number): ByteRange | 'whole' | 'unsatisfiable' {
  if (!unit.test(header)) return 'whole';
  const specs = header
    .slice('bytes='.length)
    .split(',')
    .map((spec) => spec.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((spec) => spec !== '');
  const mended: string[] = [];
  for (const spec of specs) {
    const [, first, last = ''] = between.exec(spec) ?? [];
    const [, length] = atEnd.exec(spec) ?? [];
    if (length !== undefined) {
      // It is satisfiable, but no Content-Range can tell a part without bytes.
      if (bytes === 0 && Number(length) > 0) return 'whole';
      mended.push(`-${Math.min(Number(length), bytes)}`);
    } else if (first !== undefined && !(last !== '' && Number(last) < Number(first))) {
      mended.push(spec);
    } else return 'whole';
  }
  const found = rangeParser(bytes, `bytes=${mended.join(',')}`);
  if (found === -1) return 'unsatisfiable';
  const [range] = found === -2 ? [] : found;
  if (range === undefined || specs.length > 1) return 'whole';
  return { from: range.start, to: range.end + 1 };
}
