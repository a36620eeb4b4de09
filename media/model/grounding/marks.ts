// Marks `[n]`: one form for the many that models write, and where they are.

export interface Mark {
  /** UTF-16 units. */
  start: number;
  end: number;
  /** The source it names; 0: none, whatever it says. */
  position: number;
}

const plain = /\[\d+\]/g;
/** `[1, 2]`, `[1-3]`, `[^1]`, `【1】`, `[1†source]`, with digits of full width. */
const variants = new RegExp(
  String.raw`[[［【〔]${'[ \\t]{0,2}'}(\^?[\d０-９]{1,4}` +
    String.raw`(?:[ \t]{0,2}[,，、;；–—-][ \t]{0,2}\^?[\d０-９]{1,4}){0,15})` +
    String.raw`[ \t]{0,2}(?:†[^\]】\n]{0,100})?[\]］】〕]`,
  'g',
);
const rangeMax = 16;

/** The text with every mark written as `[n]`. */
export function withPlainMarks(text: string): string {
  return text.replace(variants, (found: string, inner: string) => {
    if (/^\[\d+\]$/.test(found)) return found;
    const marks = numbersIn(inner.normalize('NFKC')).map((number) => `[${number}]`);
    return marks.join('');
  });
}

function numbersIn(inner: string): string[] {
  const found: string[] = [];
  for (const part of inner.split(/[,、;]/)) {
    const [from = '', to = from] = part.replace(/[\s^]/g, '').split(/[-–—]/);
    const count = Number(to) - Number(from);
    if (count <= 0 || count >= rangeMax) found.push(...new Set([from, to]));
    else for (let at = Number(from); at <= Number(to); at += 1) found.push(String(at));
  }
  return found;
}

export function marksIn(text: string, sourceCount: number): Mark[] {
  return Array.from(text.matchAll(plain), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
    position: positionOf(match[0].slice(1, -1), sourceCount),
  }));
}

function positionOf(digits: string, sourceCount: number): number {
  const number = Number(digits);
  const isKnown = !digits.startsWith('0') && number >= 1 && number <= sourceCount;
  return isKnown ? number : 0;
}

export function withoutMarks(text: string): string {
  return text.replace(plain, ' ');
}
