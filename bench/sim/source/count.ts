// A video that counts its seconds: the number n, in seven segments, over a colour of its own, from
// second n to n + 1. The digits are boxes: a build of ffmpeg need not have a font.
import { encoding, keptClip, source } from '../video/clip.ts';

/** Backgrounds, by the last digit. */
export const countColours: readonly string[] = [
  '0x101010',
  '0x7a1f1f',
  '0x1f7a1f',
  '0x1f1f7a',
  '0x7a7a1f',
  '0x7a1f7a',
  '0x1f7a7a',
  '0x7a4a1f',
  '0x4a1f7a',
  '0x4a4a4a',
];

/** In units of the digit's width: where a segment is, and the digits that show it. */
const segments: readonly (readonly [x: number, y: number, w: number, h: number, on: string])[] = [
  [0, 0, 1, 0.2, '02356789'],
  [0.8, 0, 0.2, 1, '01234789'],
  [0.8, 1, 0.2, 1, '013456789'],
  [0, 1.8, 1, 0.2, '0235689'],
  [0, 1, 0.2, 1, '0268'],
  [0, 0, 0.2, 1, '045689'],
  [0, 0.9, 1, 0.2, '2345689'],
];

/** Frames exactly on a second must not count as the one before. */
const second = 'floor(t+0.001)';
const digitWidth = 160;
const digitGap = 60;
const longSeconds = 120;

export interface CountOptions {
  sound?: boolean;
  isTall?: boolean;
  /** What the MP4 is written with; empty: its index stands at the end. */
  flags?: string;
}

/** Null: ffmpeg failed. */
export function countClip(
  seconds: number,
  { sound = true, isTall = false, flags = '+faststart' }: CountOptions = {},
): Promise<Buffer | null> {
  const [width, height] = isTall ? [720, 1280] : [1280, 720];
  const rate = seconds > longSeconds ? 1 : 10;
  const words = [sound ? '' : 'silent', isTall ? 'tall' : '', flags === '' ? 'last' : ''];
  const name = ['count', `${seconds}s`, ...words].filter((word) => word !== '').join('-');
  return keptClip(name, () => [
    ...source(`color=c=black:s=${width}x${height}:r=${rate}:d=${seconds}`),
    ...(sound ? source(`sine=frequency=440:sample_rate=24000:duration=${seconds}`) : []),
    ...['-filter_complex', `[0]${boxes(seconds, width, height).join(',')}[v]`],
    ...['-map', '[v]', ...(sound ? ['-map', '1:a'] : [])],
    ...encoding(seconds, flags),
  ]);
}

function boxes(seconds: number, width: number, height: number): string[] {
  const backgrounds = countColours.map((colour, digit) =>
    box(0, 0, width, height, colour, `eq(mod(${second},10),${digit})`),
  );
  const digits = String(Math.max(0, seconds - 1)).length;
  const left = (width - digits * digitWidth - (digits - 1) * digitGap) / 2;
  const top = height / 2 - digitWidth;
  const shown = Array.from({ length: digits }, (_, place) => {
    const x = left + place * (digitWidth + digitGap);
    const digit = `mod(floor(${second}/${10 ** (digits - 1 - place)}),10)`;
    return segments.map(([dx, dy, w, h, on]) => {
      const isOn = [...on].map((each) => `eq(${digit},${each})`).join('+');
      const [boxX, boxY] = [x + dx * digitWidth, top + dy * digitWidth];
      return box(boxX, boxY, w * digitWidth, h * digitWidth, 'white', isOn);
    });
  });
  return [...backgrounds, ...shown.flat()];
}

function box(x: number, y: number, w: number, h: number, colour: string, enable: string): string {
  const [left, top, wide, high] = [x, y, w, h].map(Math.round);
  return `drawbox=x=${left}:y=${top}:w=${wide}:h=${high}:c=${colour}:t=fill:enable='${enable}'`;
}
