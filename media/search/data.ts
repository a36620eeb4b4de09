// A provider's members as they are passed on: JSON of bounded size. Lists that are longer than
// their share lose their tail; what is too large without a list is left out.

const bytesMax = 512 * 1_024;
/** Deeper than any result; a deeper one would overflow the stack of whoever writes it. */
const depthMax = 64;
/** So deep lists are looked for. Those in an entry of a list are part of it. */
const listDepthMax = 4;
/** The marks around a name. */
const nameBytes = 4;

export interface BoundData {
  /** An object. */
  json: string;
  isTruncated: boolean;
}

/** What is written of a value. Of a leaf that is left out there is no text. */
type Part =
  | { form: 'object'; members: [string, Part][] }
  | { form: 'list'; texts: string[]; bytes: number }
  | { form: 'leaf'; text: string | null; bytes: number };
type ListPart = Extract<Part, { form: 'list' }>;
type LeafPart = Extract<Part, { form: 'leaf' }>;

interface Parts {
  lists: ListPart[];
  leaves: LeafPart[];
  /** Names and marks. */
  bytes: number;
  /** The whole could not be written: each part is looked at before it is. */
  mayBeDeep: boolean;
}

export function boundData(data: Readonly<Record<string, unknown>>): BoundData {
  const whole = stringified(data);
  if (whole !== null && Buffer.byteLength(whole) <= bytesMax) {
    return { json: whole, isTruncated: false };
  }
  const parts: Parts = { lists: [], leaves: [], bytes: 2, mayBeDeep: whole === null };
  const members = membersOf(data, listDepthMax, parts);
  shorten(parts);
  const json = written({ form: 'object', members }) ?? '{}';
  return { json: Buffer.byteLength(json) <= bytesMax ? json : '{}', isTruncated: true };
}

/** Null: it is nested too deep. */
function stringified(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

function membersOf(value: object, depth: number, parts: Parts): [string, Part][] {
  return Object.entries(value).map(([name, each]) => {
    parts.bytes += Buffer.byteLength(JSON.stringify(name)) + nameBytes;
    return [name, partOf(each, depth, parts)];
  });
}

function partOf(value: unknown, depth: number, parts: Parts): Part {
  if (Array.isArray(value)) {
    const texts = value.flatMap((each) => textOf(each, parts) ?? []);
    const list: ListPart = { form: 'list', texts, bytes: 2 };
    for (const text of texts) list.bytes += Buffer.byteLength(text) + 1;
    parts.lists.push(list);
    return list;
  }
  if (typeof value === 'object' && value !== null && depth > 1) {
    return { form: 'object', members: membersOf(value, depth - 1, parts) };
  }
  const text = textOf(value, parts);
  const leaf: LeafPart = { form: 'leaf', text, bytes: Buffer.byteLength(text ?? '') };
  parts.leaves.push(leaf);
  return leaf;
}

function textOf(value: unknown, { mayBeDeep }: Parts): string | null {
  return mayBeDeep && !isShallow(value, depthMax) ? null : stringified(value);
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));
}

/** Takes from the longest first. */
function shorten({ lists, leaves, bytes }: Parts): void {
  let left = bytesMax - bytes;
  for (const leaf of leaves) left -= leaf.bytes;
  for (const leaf of leaves.toSorted((one, other) => other.bytes - one.bytes)) {
    if (left >= 0) break;
    left += leaf.bytes;
    leaf.text = null;
  }
  const share = shareOf(lists, Math.max(0, left));
  for (const list of lists) {
    while (list.bytes > share) {
      const last = list.texts.pop();
      if (last === undefined) break;
      list.bytes -= Buffer.byteLength(last) + 1;
    }
  }
}

/** How long a list may be, so that all of them fit: short ones leave the rest to long ones. */
function shareOf(lists: readonly ListPart[], bytes: number): number {
  let left = bytes;
  let waiting = lists.length;
  for (const list of lists.toSorted((one, other) => one.bytes - other.bytes)) {
    if (list.bytes * waiting > left) return left / waiting;
    left -= list.bytes;
    waiting -= 1;
  }
  return Number.POSITIVE_INFINITY;
}

/** Null: it is left out. */
function written(part: Part): string | null {
  if (part.form === 'leaf') return part.text;
  if (part.form === 'list') return `[${part.texts.join(',')}]`;
  const members = part.members.flatMap(([name, each]) => {
    const text = written(each);
    return text === null ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join(',')}}`;
}
