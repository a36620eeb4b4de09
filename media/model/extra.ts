// Members of Chat that have no event of their own, merged as their deltas come.

/** Adds members that came later, in place: lists grow, numbered entries of them too. */
export function mergeExtra(into: Record<string, unknown>, from: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(from)) {
    if (name === '__proto__') continue;
    const before = into[name];
    if (Array.isArray(before) && Array.isArray(value)) into[name] = joinLists(before, value);
    else if (isObject(before) && isObject(value)) mergeExtra(before, value);
    else into[name] = isObject(value) ? structuredClone(value) : value;
  }
}

/** Numbered entries are deltas: what follows one of its own number and kind belongs to it. */
function joinLists(before: unknown[], added: unknown[]): unknown[] {
  const joined = [...before];
  for (const entry of added) {
    const last = joined.at(-1);
    const goesOn =
      isObject(last) &&
      isObject(entry) &&
      Number.isSafeInteger(entry.index) &&
      last.index === entry.index &&
      last.type === entry.type;
    if (goesOn) joined[joined.length - 1] = joinEntry(last, entry);
    else joined.push(entry);
  }
  return joined;
}

const writtenMembers: ReadonlySet<string> = new Set(['text', 'summary', 'data']);

function joinEntry(
  before: Record<string, unknown>,
  delta: Record<string, unknown>,
): Record<string, unknown> {
  const joined = { ...before };
  for (const [name, value] of Object.entries(delta)) {
    const known = joined[name];
    const isWritten = writtenMembers.has(name) && typeof known === 'string';
    if (isWritten && typeof value === 'string') joined[name] = known + value;
    else if (value !== null) joined[name] = value;
  }
  return joined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
