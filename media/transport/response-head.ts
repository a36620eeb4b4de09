// The head of an HTTP/1.1 response (RFC 9112, 4 and 5): every line is checked, and the few that
// each response needs are read; all of them are for who asks.

export type ResponseHeaders = Record<string, string | string[]>;

export const lineEnd = '\r\n';
/** Which characters a header's name is made of (RFC 9110, 5.6.2). */
const nameCharacters = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9!#$%&'*+.^_`|~-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** @throws Error what is no response, in words for the log */
export function fail(what: string): never {
  throw new Error(`the response has ${what}`);
}

/** What says how the body ends, and what becomes of the connection; null: it is not said. */
export interface Framing {
  connection: string | null;
  keepAlive: string | null;
  length: string | null;
  coding: string | null;
}

/** Checks every header between two places, and reads those few that each response needs. */
export function readFraming(head: string, start: number, end: number): Framing {
  const framing: Framing = { connection: null, keepAlive: null, length: null, coding: null };
  for (let at = start; at < end; ) {
    const found = head.indexOf(lineEnd, at);
    const lineStop = found < 0 || found > end ? end : found;
    const colon = endOfName(head, at, lineStop);
    switch (colon - at) {
      case 'connection'.length:
        if (isNamed(head, at, colon, 'connection')) {
          framing.connection = listed(framing.connection, head.slice(colon + 1, lineStop));
        } else if (isNamed(head, at, colon, 'keep-alive')) {
          framing.keepAlive = listed(framing.keepAlive, head.slice(colon + 1, lineStop));
        }
        break;
      case 'content-length'.length:
        if (isNamed(head, at, colon, 'content-length')) {
          framing.length = listed(framing.length, head.slice(colon + 1, lineStop));
        }
        break;
      case 'transfer-encoding'.length:
        if (isNamed(head, at, colon, 'transfer-encoding')) {
          framing.coding = listed(framing.coding, head.slice(colon + 1, lineStop));
        }
        break;
      default:
    }
    at = lineStop + lineEnd.length;
  }
  return framing;
}

/** Where the colon behind a header's name is. */
function endOfName(head: string, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    const code = head.charCodeAt(at);
    if (nameCharacters[code] === 1) continue;
    if (code === 58 && at > start) return at;
    break;
  }
  return fail('a header that is none');
}

function isNamed(head: string, start: number, end: number, name: string): boolean {
  return head.slice(start, end).toLowerCase() === name;
}

/** A header that comes twice is one list (RFC 9110, 5.3). */
function listed(before: string | null, value: string): string {
  return before === null ? value : `${before},${value}`;
}

/** All headers of a head whose lines were checked. */
export function readHeaders(lines: readonly string[]): ResponseHeaders {
  const headers: ResponseHeaders = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (name === '__proto__') continue;
    const value = line.slice(colon + 1).trim();
    const known = headers[name];
    if (known === undefined) headers[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else headers[name] = [known, value];
  }
  return headers;
}

/** The members of a comma-separated header, in lower case. */
export function tokensOf(value: string | null): string[] {
  if (value === null) return [];
  return value.split(',').map((token) => token.trim().toLowerCase());
}

/** `Keep-Alive: timeout=5, max=100`, in seconds. */
export function idleMsOf(value: string | null): number | null {
  if (value === null) return null;
  const seconds = /(?:^|[,\s])timeout=(\d{1,9})/i.exec(value)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
