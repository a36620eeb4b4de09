// Numbers as people write them: points, commas, blanks and apostrophes part thousands in one
// country and cents in another.

const separators = /([.,'’\s])/;

/** `1.234,56`, `1,234.56`, `1'234`, `12,34,567` as a decimal with a point; null: it is none. */
export function readDecimal(text: string): string | null {
  if (text.length > 40) return null;
  const parts = text.trim().split(separators);
  const groups = parts.filter((_, at) => at % 2 === 0);
  const marks = parts.filter((_, at) => at % 2 === 1);
  if (!groups.every((group) => /^\d+$/.test(group))) return null;
  const fraction = isFraction(groups, marks) ? groups.pop() : undefined;
  if (fraction !== undefined) marks.pop();
  if (new Set(marks).size > 1 || !areThousands(groups)) return null;
  const whole = groups.join('').replace(/^0+(?=\d)/, '');
  if (whole.length > 15 || (fraction?.length ?? 0) > 9) return null;
  return fraction === undefined ? whole : `${whole}.${fraction}`;
}

/** Whether the last mark parts cents: of one alone the three digits behind it say thousands. */
function isFraction(groups: readonly string[], marks: readonly string[]): boolean {
  const last = marks.at(-1);
  if (last !== '.' && last !== ',') return false;
  if (marks.filter((mark) => mark === last).length > 1) return false;
  if (marks.length > 1) return true;
  return groups.at(-1)?.length !== 3 || groups[0] === '0';
}

/** Groups of three, or of two before the last three as in India. */
function areThousands([first = '', ...rest]: readonly string[]): boolean {
  if (rest.length === 0) return true;
  if (first.length > 3 || rest.at(-1)?.length !== 3) return false;
  const inner = new Set(rest.slice(0, -1).map((group) => group.length));
  return inner.size === 0 || (inner.size === 1 && (inner.has(3) || inner.has(2)));
}
