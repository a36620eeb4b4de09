// JSON as text: made smaller and cut into elements without parsing numbers, so that large integers,
// exponents and doubled names stay exactly what they were.

/** Of a list, so that a reader sees what its elements look like; and the last one. */
const HEAD_CHILDREN = 3;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether the text is one JSON object or array, and nothing else. */
export function isJsonDocument(text: string): boolean {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Valid JSON without the space between its tokens (RFC 8259, section 2). */
export function minifiedJson(text: string): string {
  let plain = '';
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
    } else if (code > 0x20) {
      at += 1;
    } else {
      plain += text.slice(from, at);
      at += 1;
      while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
      from = at;
    }
  }
  return from === 0 ? text : plain + text.slice(from);
}

/** The position behind the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  let end = at + 1;
  for (;;) {
    end = text.indexOf('"', end);
    if (end === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    end += 1;
    if (slashes % 2 === 0) return end;
  }
}

export interface JsonCut {
  /** Where each unit begins; the first begins at 0. */
  starts: number[];
  /** JSON_FIXED: outside of long lists, or at the edge of one. */
  marks: number[];
}

export const JSON_ELEMENT = 0;
export const JSON_FIXED = 1;
export const JSON_MEMBER = 2;

interface Open {
  start: number;
  isObject: boolean;
  /** Where each child begins. */
  children: number[];
}

interface List {
  end: number;
  open: Open;
}

/**
 * Cuts minified JSON into the elements of its long arrays and objects; what lies between them is
 * fixed. An element's unit has its comma with it. Of nested lists the outer one counts, but an
 * object that is little more than a wrapper of longer lists gives way to them.
 */
export function cutJson(text: string, childrenMin: number): JsonCut {
  const lists: List[] = [];
  const stack: Open[] = [];
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
      continue;
    }
    at += 1;
    const isObject = code === 0x7b;
    if (isObject || code === 0x5b) stack.push({ start: at, isObject, children: [at] });
    else if (code === 0x2c) stack.at(-1)?.children.push(at);
    else if (code === 0x5d || code === 0x7d) {
      const open = stack.pop();
      if (open !== undefined) addList(lists, { end: at - 1, open }, childrenMin);
    }
  }
  return unitsOf(lists);
}

function addList(lists: List[], list: List, childrenMin: number): void {
  const { open, end } = list;
  if (open.children.length < childrenMin) return;
  let first = lists.length;
  let within = 0;
  while (first > 0) {
    const inner = lists[first - 1];
    if (inner === undefined || inner.open.start < open.start) break;
    within += inner.end - inner.open.start;
    first -= 1;
  }
  if (open.isObject && within * 2 > end - open.start) return;
  lists.splice(first, lists.length - first, list);
}

function unitsOf(lists: readonly List[]): JsonCut {
  const starts = [0];
  const marks = [JSON_FIXED];
  for (const { end, open } of lists) {
    const { children, isObject } = open;
    for (const [index, child] of children.entries()) {
      const edge = index < HEAD_CHILDREN || index === children.length - 1;
      starts.push(child);
      marks.push(edge ? JSON_FIXED : isObject ? JSON_MEMBER : JSON_ELEMENT);
    }
    starts.push(end);
    marks.push(JSON_FIXED);
  }
  return { starts, marks };
}
