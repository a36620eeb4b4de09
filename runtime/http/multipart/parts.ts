// The parts of a multipart body (RFC 2046, 5.1.1, and RFC 7578), as views of its bytes. A delimiter
// begins a line: the same bytes anywhere else belong to a file.

export interface Part {
  name: string;
  /** Undefined: a field, no file. */
  filename: string | undefined;
  mediaType: string | undefined;
  bytes: Buffer;
}

export type Splitting =
  | { status: 'whole'; parts: Part[] }
  | { status: 'endless' | 'malformed' | 'too_many' };

const headBytesMax = 8 * 1_024;
const lineEnd = '\r\n';
const parameterPattern = /;\s*([^=;\s"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))/g;

interface Delimiter {
  /** Where what stands before it ends. */
  start: number;
  /** Where the part begins. */
  end: number;
  isLast: boolean;
}

export function splitParts(body: Buffer, boundary: string, partsMax: number): Splitting {
  const parts: Part[] = [];
  let open = findDelimiter(body, boundary, 0);
  while (open !== null && open !== 'malformed' && !open.isLast) {
    if (parts.length === partsMax) return { status: 'too_many' };
    // Two delimiters may share the line end between them, where a part is empty of everything.
    const next = findDelimiter(body, boundary, open.end - lineEnd.length);
    if (next === null || next === 'malformed') return { status: next ?? 'endless' };
    const part = partOf(body.subarray(open.end, Math.max(open.end, next.start)));
    if (part === null) return { status: 'malformed' };
    parts.push(part);
    open = next;
  }
  if (open === 'malformed') return { status: open };
  return open === null ? { status: 'endless' } : { status: 'whole', parts };
}

/** The first delimiter that begins at `from` or later. */
function findDelimiter(
  body: Buffer,
  boundary: string,
  from: number,
): Delimiter | 'malformed' | null {
  const dashes = `--${boundary}`;
  let start = 0;
  let at = 0;
  if (from > 0 || body.indexOf(dashes) !== 0) {
    start = body.indexOf(lineEnd + dashes, from);
    if (start === -1) return null;
    at = start + lineEnd.length;
  }
  at += dashes.length;
  if (body.toString('latin1', at, at + 2) === '--') return { start, end: at + 2, isLast: true };
  while (body[at] === 32 || body[at] === 9) at += 1;
  if (body.toString('latin1', at, at + 2) !== lineEnd) return 'malformed';
  return { start, end: at + lineEnd.length, isLast: false };
}

/** Null: it has no head, or one that says no name. */
function partOf(bytes: Buffer): Part | null {
  const blank = bytes.subarray(0, headBytesMax).indexOf(lineEnd + lineEnd);
  if (blank === -1) return null;
  let disposition = new Map<string, string>();
  let mediaType: string | undefined;
  for (const line of bytes.toString('utf8', 0, blank).split(lineEnd)) {
    const colon = line.indexOf(':');
    if (colon === -1) return null;
    const header = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (header === 'content-disposition') disposition = parametersOf(value);
    else if (header === 'content-type') mediaType = value;
  }
  const name = disposition.get('name') ?? '';
  if (name === '') return null;
  // Some clients send it beside a name that is encoded for mail (RFC 6266, 4.3, has it go first).
  const filename = extended(disposition.get('filename*')) ?? disposition.get('filename');
  return { name, filename, mediaType, bytes: bytes.subarray(blank + 2 * lineEnd.length) };
}

function parametersOf(value: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, token = ''] of value.matchAll(parameterPattern)) {
    parameters.set(name.toLowerCase(), quoted?.replaceAll('\\"', '"') ?? token);
  }
  return parameters;
}

/** A value with its charset (RFC 8187, 3.2.1); undefined: none that can be read. */
function extended(value: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? '')?.[1];
  if (encoded === undefined) return undefined;
  try {
    // Whoever puts quotes around the plain name, as .NET's clients are advised to, has them here.
    return decodeURIComponent(encoded).replace(/^"(.*)"$/s, '$1');
  } catch {
    // Not UTF-8: the plain name has to do.
    return undefined;
  }
}
