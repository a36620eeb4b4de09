// Declarations of CSS, as far as they say whether something is seen. A `style` attribute or a rule
// has them. Doubts count as hidden.

export type Declarations = ReadonlyMap<string, string>;

/** A colour as red, green and blue; null: none that is known, such as that of a picture. */
export type Colour = readonly [number, number, number] | null;

/** What an element has of those around it. */
export interface Surroundings {
  colour: Colour | 'transparent';
  background: Colour;
}

export const page: Surroundings = { colour: [0, 0, 0], background: [255, 255, 255] };

/** Text that is no larger is read by nobody. */
const fontPixelsMin = 4;
/** So far outside, nothing is seen of a page. */
const outsidePixels = 100;
/** Colours that differ less are one for the eye. */
const colourDistanceMin = 40;
const opacityMin = 0.1;

/** Names in lower case; the last one counts, and `!important` before others. */
export function readDeclarations(text: string): Map<string, string> {
  const read = new Map<string, string>();
  const important = new Set<string>();
  for (const part of text.replace(/\/\*[\s\S]*?\*\//g, ' ').split(';')) {
    const colon = part.indexOf(':');
    if (colon < 0) continue;
    const name = part.slice(0, colon).trim().toLowerCase();
    const written = part
      .slice(colon + 1)
      .trim()
      .toLowerCase();
    const isImportant = /!\s*important$/.test(written);
    if (important.has(name) && !isImportant) continue;
    if (isImportant) important.add(name);
    read.set(name, written.replace(/\s*!\s*important$/, ''));
  }
  return read;
}

/** Whether the element and all in it is hidden. */
export function isHiding(css: Declarations): boolean {
  const value = (name: string) => css.get(name) ?? '';
  if (/^none\b/.test(value('display')) || /^hidden\b/.test(value('content-visibility')))
    return true;
  if (/^(hidden|collapse)\b/.test(value('visibility'))) return true;
  const opacity = Number.parseFloat(value('opacity'));
  if (opacity < opacityMin * (value('opacity').endsWith('%') ? 100 : 1)) return true;
  if (/opacity\(\s*0/.test(value('filter')) || /scale[xy3d]*\(\s*0/.test(value('transform')))
    return true;
  return isSizeless(css) || isOutside(css) || isClipped(css);
}

function isSizeless(css: Declarations): boolean {
  const pixels = (name: string) => pixelsOf(css.get(name) ?? '');
  const font = pixelsOf(css.get('font-size') ?? sizeOfFont(css.get('font') ?? ''));
  if (font !== null && font < fontPixelsMin) return true;
  const isCut = /hidden|clip/.test(`${css.get('overflow') ?? ''} ${css.get('overflow-y') ?? ''}`);
  const sides = ['width', 'height', 'max-width', 'max-height'].map(pixels);
  if (pixels('width') === 0 && pixels('height') === 0) return true;
  return isCut && sides.some((side) => side !== null && side <= 2);
}

function sizeOfFont(font: string): string {
  return /(?:^|\s)(\d*\.?\d+(?:px|pt|em|rem|%))/.exec(font)?.[1] ?? '';
}

function isOutside(css: Declarations): boolean {
  const places = ['left', 'top', 'right', 'bottom', 'text-indent', 'margin-left', 'margin-top'];
  const values = places.map((name) => pixelsOf(css.get(name) ?? ''));
  const moved = (css.get('transform') ?? '').matchAll(/translate\w*\(([^)]*)\)/g);
  const moves = [...moved].flatMap(([, given = '']) => given.split(',').map(pixelsOf));
  const shorthand = (css.get('margin') ?? css.get('inset') ?? '').split(/\s+/).map(pixelsOf);
  return [...values, ...moves, ...shorthand].some(
    (value) => value !== null && (value <= -outsidePixels || value >= 100 * outsidePixels),
  );
}

function isClipped(css: Declarations): boolean {
  const clip = css.get('clip') ?? '';
  const path = css.get('clip-path') ?? '';
  if (/^rect\(/.test(clip)) return true;
  return /^(inset\(\s*(?:[5-9]\d|100)|circle\(\s*0|polygon\(\s*0)/.test(path);
}

/** Whether a text of these colours is seen by nobody. */
export function isUnseen({ colour, background }: Surroundings): boolean {
  if (colour === 'transparent') return true;
  if (colour === null || background === null) return false;
  const apart = colour.reduce((sum, part, at) => sum + Math.abs(part - (background[at] ?? 0)), 0);
  return apart < colourDistanceMin;
}

function isTransparent(colour: string): boolean {
  if (colour === 'transparent') return true;
  if (/^#(?:[0-9a-f]{3}0|[0-9a-f]{6}0[0-9a-f])$/.test(colour)) return true;
  const parts = /^(?:rgb|hsl)a?\(([^)]*)\)$/.exec(colour)?.[1]?.match(/[\d.]+%?/g) ?? [];
  const alpha = parts[3];
  return (
    alpha !== undefined && Number.parseFloat(alpha) < opacityMin * (alpha.endsWith('%') ? 100 : 1)
  );
}

/** What those inside it have around them. */
export function surroundingsOf(css: Declarations, around: Surroundings): Surroundings {
  const colour = css.get('-webkit-text-fill-color') ?? css.get('color');
  const ground = css.get('background-color') ?? css.get('background');
  const isPicture = /url\(|gradient\(/.test(`${ground ?? ''} ${css.get('background-image') ?? ''}`);
  return {
    colour: colour === undefined ? around.colour : inkOf(colour, around),
    background: isPicture
      ? null
      : ground === undefined
        ? around.background
        : (colourOf(ground) ?? around.background),
  };
}

function inkOf(colour: string, around: Surroundings): Surroundings['colour'] {
  return isTransparent(colour) ? 'transparent' : (colourOf(colour) ?? around.colour);
}

const named: Readonly<Record<string, string>> = {
  white: 'ffffff',
  snow: 'fffafa',
  ivory: 'fffff0',
  whitesmoke: 'f5f5f5',
  ghostwhite: 'f8f8ff',
  floralwhite: 'fffaf0',
  black: '000000',
  red: 'ff0000',
  green: '008000',
  blue: '0000ff',
  yellow: 'ffff00',
  gray: '808080',
  grey: '808080',
  silver: 'c0c0c0',
  lightgray: 'd3d3d3',
  lightgrey: 'd3d3d3',
  navy: '000080',
  orange: 'ffa500',
};

/** Null: it says none, or one that is not read here. */
export function colourOf(text: string): Colour {
  const word = text.trim().toLowerCase();
  const hex = named[word.split(/\s/)[0] ?? ''] ?? /#([0-9a-f]{3,8})\b/.exec(word)?.[1];
  if (hex !== undefined) {
    const long = hex.length < 6 ? [...hex.slice(0, 3)].map((digit) => digit + digit).join('') : hex;
    return [0, 2, 4].map((at) => Number.parseInt(long.slice(at, at + 2), 16)) as unknown as Colour;
  }
  const parts = /rgba?\(([^)]*)\)/
    .exec(word)?.[1]
    ?.split(/[\s,/]+/)
    .filter((part) => part !== '');
  if (parts !== undefined && parts.length >= 3) {
    const numbers = parts
      .slice(0, 3)
      .map((part) => Number.parseFloat(part) * (part.endsWith('%') ? 2.55 : 1));
    return numbers.some(Number.isNaN) ? null : (numbers as unknown as Colour);
  }
  const light = /hsla?\([^)]*?([\d.]+)%\s*(?:[,/][^)]*)?\)/.exec(word)?.[1];
  if (light === undefined) return null;
  const lightness = Number.parseFloat(light);
  // Between them the hue tells them apart from white and from black.
  if (lightness > 2 && lightness < 98) return null;
  const level = lightness * 2.55;
  return [level, level, level];
}

/** Pixels; em and the like count as 16, parts of the screen as 10 each. Null: no length. */
function pixelsOf(text: string): number | null {
  const found = /^\s*(-?\d*\.?\d+)(px|pt|em|rem|ex|ch|vw|vh|%)?\s*$/.exec(text);
  if (found === null) return null;
  const number = Number.parseFloat(found[1] ?? '0');
  const unit = found[2] ?? 'px';
  const pixels: Readonly<Record<string, number>> = { px: 1, pt: 1.33, em: 16, rem: 16 };
  return number * (pixels[unit] ?? (unit === 'ex' || unit === 'ch' ? 8 : unit === '%' ? 1.6 : 10));
}
