// Which font has a text: the files of Noto Sans hold a script each. A text is cut into runs of one
// file; what no file has becomes a question mark.

/** Runs prefer the file before, then the first of these that has the character. */
export const scripts = [
  'latin',
  'latin-ext',
  'vietnamese',
  'greek',
  'greek-ext',
  'cyrillic',
  'cyrillic-ext',
  'devanagari',
] as const;
export type Script = (typeof scripts)[number];

/** Whether the file of a script has a code point. */
export type Has = (script: Script, codePoint: number) => boolean;

export interface Run {
  script: Script;
  text: string;
}

/** Reads what `unicode.json` of the package says: `U+0000-00FF,U+0131`. */
export function coverageOf(ranges: Readonly<Record<string, string>>): Has {
  const byScript = new Map<Script, [number, number][]>(
    scripts.map((script) => [script, (ranges[script] ?? '').split(',').map(rangeOf)]),
  );
  return (script, codePoint) =>
    byScript.get(script)?.some(([first, last]) => first <= codePoint && codePoint <= last) === true;
}

function rangeOf(text: string): [number, number] {
  const [first = '', last = first] = text.trim().replace('U+', '').split('-');
  return [Number.parseInt(first, 16), Number.parseInt(last, 16)];
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Letters with their marks stay together: a mark of another file would stand beside its letter. */
export function runsOf(text: string, has: Has): Run[] {
  const runs: Run[] = [];
  for (const { segment } of segmenter.segment(text.normalize('NFC'))) {
    const last = runs.at(-1);
    const points = Array.from(segment, (character) => character.codePointAt(0) ?? 0);
    const isIn = (script: Script) => points.every((point) => has(script, point));
    if (last !== undefined && isIn(last.script)) {
      last.text += segment;
      continue;
    }
    const script = scripts.find(isIn);
    if (script !== undefined) runs.push({ script, text: segment });
    else if (last?.script === 'latin') last.text += '?';
    else runs.push({ script: 'latin', text: '?' });
  }
  return runs;
}
