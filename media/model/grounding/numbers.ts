// The numbers of a text, whoever wrote it: 1,000 and 1.000 and 1 000 are 1000, 12.05.2026 is a day,
// 1.2 million is 1200000. What can be read in two ways has two readings, and one of them suffices.

export interface Numeral {
  /** Each a decimal without zeros that say nothing. */
  readings: string[];
  /** It is several numbers, all of which have to be there: a date, a list without blanks. */
  parts: Numeral[];
  /** It stands in a date, so the name of a month will do. */
  isOfDate: boolean;
  /** As it was written. */
  digits: number;
}

const date = String.raw`\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(?!\d)`;
const numeral = new RegExp(`${date}|${String.raw`\d+(?:[.,'’٫٬]\d+| \d{3}(?!\d))*`}`, 'g');
const scaleWord = /^ ?-?([\p{L}\p{M}]{1,12})/u;

/** Powers of ten; a word of two languages has two. */
const scales = new Map<string, readonly number[]>(
  [
    ['thousand tausend mille mil mila k tsd', [3]],
    ['million millions millionen mio mn millón millones milione milioni milhão milhões m', [6]],
    ['billion billions bn', [9, 12]],
    ['milliarde milliarden mrd milliard milliards miliardo miliardi bilhão bilhões b', [9]],
    ['billionen billón billones', [12]],
    ['trillion trillions', [12, 18]],
    ['lakh', [5]],
    ['crore', [7]],
    ['千', [3]],
    ['万 萬 만', [4]],
    ['亿 億 억', [8]],
    ['兆 조', [12]],
  ].flatMap(([words, powers]) =>
    (words as string).split(' ').map((word) => [word, powers as readonly number[]] as const),
  ),
);

/** Takes a text that is folded: see `words.ts`. */
export function numeralsOf(folded: string): Numeral[] {
  const found: Numeral[] = [];
  for (const match of folded.matchAll(numeral)) {
    const [text] = match;
    const behind = folded.slice(match.index + text.length, match.index + text.length + 16);
    found.push(numeralOf(text, powersOf(behind)));
  }
  return found;
}

/** Every reading of it and of its parts: what a text that has it is known to have. */
export function* readingsIn(each: Numeral): Iterable<string> {
  yield* each.readings;
  for (const part of each.parts) yield* readingsIn(part);
}

function powersOf(behind: string): readonly number[] {
  const word = scaleWord.exec(behind)?.[1];
  if (word === undefined) return [];
  return scales.get(word) ?? scales.get(String.fromCodePoint(word.codePointAt(0) ?? 0)) ?? [];
}

function numeralOf(text: string, powers: readonly number[]): Numeral {
  const digits = text.replace(/\D/g, '').length;
  const none = { readings: [], parts: [], isOfDate: false, digits };
  if (/^\d+[-/.]\d+[-/.]\d+$/.test(text) && isDate(text)) {
    const parts = text.split(/[-/.]/).map((part) => ({ ...plain(part), isOfDate: true }));
    return { ...none, parts };
  }
  if (text.includes(' ')) {
    const isOne = /^\d{1,3}( \d{3})+([.,]\d+)?$/.test(text);
    if (isOne) return { ...none, readings: scaled(joined(text), powers) };
    return { ...none, parts: text.split(' ').map((group) => numeralOf(group, [])) };
  }
  const readings = readingsOf(text);
  if (readings.length > 0) {
    return { ...none, readings: readings.flatMap((reading) => scaled(reading, powers)) };
  }
  return { ...none, parts: text.split(/\D/).map(plain) };
}

function plain(digits: string): Numeral {
  const reading = canonical(digits, '');
  return { readings: [reading], parts: [], isOfDate: false, digits: digits.length };
}

function isDate(text: string): boolean {
  const parts = text.split(/[-/.]/);
  const year = parts.findIndex(({ length }) => length === 4);
  return year >= 0 && parts.every((part, index) => index === year || part.length <= 2);
}

/** None: it is several numbers. */
function readingsOf(text: string): string[] {
  const groups = text.split(/\D/);
  const [first = '', ...rest] = groups;
  if (rest.length === 0) return [canonical(first, '')];
  const marks = text.replace(/\d/g, '');
  const last = groups.at(-1) ?? '';
  const readings: string[] = [];
  const isGrouped =
    first.length <= 3 &&
    !/^0/.test(first) &&
    last.length === 3 &&
    rest.slice(0, -1).every(({ length }) => length === 3 || length === 2) &&
    new Set(marks).size === 1;
  if (isGrouped) readings.push(canonical(groups.join(''), ''));
  const before = groups.slice(0, -1);
  const isDecimal =
    /[.,٫]$/.test(marks) &&
    (before.length === 1 ||
      (isThousands(before) && !marks.slice(0, -1).includes(marks.at(-1) ?? '')));
  if (isDecimal) {
    const reading = canonical(before.join(''), last);
    if (!isGrouped || reading.includes('.')) readings.push(reading);
  }
  return readings;
}

function isThousands([first = '', ...rest]: readonly string[]): boolean {
  return first.length <= 3 && rest.every(({ length }) => length === 3 || length === 2);
}

function joined(text: string): string {
  const [whole = '', fraction = ''] = text.split(/[.,]/);
  return canonical(whole.replaceAll(' ', ''), fraction);
}

/** `007` is 7, `2.50` is 2.5. */
function canonical(whole: string, fraction: string): string {
  const left = whole.replace(/^0+(?=\d)/, '');
  const right = withoutZeros(fraction);
  return right === '' ? left : `${left}.${right}`;
}

function withoutZeros(fraction: string): string {
  let end = fraction.length;
  while (end > 0 && fraction[end - 1] === '0') end -= 1;
  return fraction.slice(0, end);
}

/** The reading, and what it is with the word behind it. */
function scaled(reading: string, powers: readonly number[]): string[] {
  const [whole = '', fraction = ''] = reading.split('.');
  const larger = powers.map((power) => {
    const digits = fraction.padEnd(power, '0');
    return canonical(whole + digits.slice(0, power), digits.slice(power));
  });
  return [reading, ...larger];
}
