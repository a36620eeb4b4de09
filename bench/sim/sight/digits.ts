// Reads a number in seven segments off a picture: white, on anything dark, as the counting videos
// of `source/` show it.
import type { Picture } from './jpeg.ts';

/** Where a segment has its middle, in units of the digit's width, and the digits that show it. */
const segments: readonly (readonly [x: number, y: number, shown: string])[] = [
  [0.5, 0.1, '02356789'],
  [0.9, 0.5, '01234789'],
  [0.9, 1.5, '013456789'],
  [0.5, 1.9, '0235689'],
  [0.1, 1.5, '0268'],
  [0.1, 0.5, '045689'],
  [0.5, 1, '2345689'],
];
/** Smaller ones cannot be told apart. */
const heightMin = 10;

/** Null: there is no number. */
export function readNumber({ width, height, luma }: Picture): string | null {
  const threshold = ((luma[0] ?? 0) + 255) / 2;
  const isLit = (x: number, y: number) => (luma[y * width + x] ?? 0) > threshold;
  const rows = range(height).filter((y) => range(width).some((x) => isLit(x, y)));
  const [top] = rows;
  const bottom = rows.at(-1);
  if (top === undefined || bottom === undefined || bottom - top + 1 < heightMin) return null;
  const digitWidth = (bottom - top + 1) / 2;
  let text = '';
  for (let x = 0; x < width; x += 1) {
    const isRightEdge =
      rows.some((y) => isLit(x, y)) && !rows.some((y) => x + 1 < width && isLit(x + 1, y));
    if (!isRightEdge) continue;
    // Each digit reaches to its right edge; a one reaches no further to the left.
    const left = x + 1 - digitWidth;
    const digit = digitOf((sx, sy) =>
      isLit(Math.floor(left + sx * digitWidth), Math.floor(top + sy * digitWidth)),
    );
    if (digit === null) return null;
    text += digit;
  }
  return text;
}

function digitOf(isShown: (x: number, y: number) => boolean): string | null {
  const lit = segments.map(([x, y]) => isShown(x, y));
  const fits = (digit: string) =>
    segments.every(([, , shown], index) => shown.includes(digit) === lit[index]);
  return [...'0123456789'].find(fits) ?? null;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
