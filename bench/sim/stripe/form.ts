// Forms as this provider's clients write them: `a[b][c]=v`, `list[0][x]=v`, `list[]=v`.
import { isMembers, type Members } from '../members.ts';

const depthMax = 8;
const fieldsMax = 1_000;

/** Nested members of texts; lists are arrays. */
export function parseNested(text: string): Members {
  const made: Members = {};
  let fields = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    fields += 1;
    if (fields > fieldsMax) break;
    const path = [...name.matchAll(/[^[\]]+|\[\]/g)].map(([part]) => part);
    if (path.length > 0 && path.length <= depthMax) put(made, path, value);
  }
  return asLists(made) as Members;
}

function put(target: Members, [head = '', ...rest]: readonly string[], value: string): void {
  const name = head === '[]' ? String(Object.keys(target).length) : head;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = Object.hasOwn(target, name) ? target[name] : undefined;
  const next: Members = isMembers(inner) ? inner : Object.create(null);
  target[name] = next;
  put(next, rest, value);
}

/** Members that are all numbered are a list. */
function asLists(value: unknown): unknown {
  if (!isMembers(value)) return value;
  const names = Object.keys(value);
  const inner = names.map((name) => asLists(value[name]));
  if (names.length > 0 && names.every((name, index) => name === String(index))) return inner;
  return Object.fromEntries(names.map((name, index) => [name, inner[index]]));
}

export function membersIn(parent: Members, name: string): Members {
  const found = parent[name];
  return isMembers(found) ? found : {};
}

export function textIn(parent: Members, name: string): string | null {
  const found = parent[name];
  return typeof found === 'string' && found !== '' ? found : null;
}

/** A whole number, or null. */
export function numberIn(parent: Members, name: string): number | null {
  const text = textIn(parent, name);
  return text !== null && /^-?\d{1,15}$/.test(text) ? Number(text) : null;
}
