// Members of Chat that have no event of their own, merged as their deltas come.

type Members = Record<string, unknown>;

/**
 * Adds members that came later, in place: lists grow, numbered entries of them too. What `into` has
 * is its own: each token of an answer may add to a list, which cannot be copied for each of them.
 */
export function mergeExtra(into: Members, from: Members): void {
  for (const [name, value] of Object.entries(from)) {
    if (name === '__proto__') continue;
    const before = into[name];
    if (Array.isArray(before) && Array.isArray(value)) joinLists(before, value);
    else if (isObject(before) && isObject(value)) mergeExtra(before, value);
    else into[name] = copyExtra(value);
  }
}

/** A copy that does not grow with the original. Entries of lists are never changed in place. */
export function copyExtra<T>(value: T): T {
  if (Array.isArray(value)) return [...value] as T;
  if (!isObject(value)) return value;
  const copy: Members = {};
  for (const name of Object.keys(value)) {
    if (name !== '__proto__') copy[name] = copyExtra(value[name]);
  }
  return copy as T;
}

/** Numbered entries are deltas: what follows one of its own number and kind belongs to it. */
function joinLists(joined: unknown[], added: readonly unknown[]): void {
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
}

const writtenMembers: ReadonlySet<string> = new Set(['text', 'summary', 'data']);

function joinEntry(before: Members, delta: Members): Members {
  const joined = { ...before };
  for (const [name, value] of Object.entries(delta)) {
    const known = joined[name];
    const isWritten = writtenMembers.has(name) && typeof known === 'string';
    if (isWritten && typeof value === 'string') joined[name] = known + value;
    else if (value !== null) joined[name] = value;
  }
  return joined;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
