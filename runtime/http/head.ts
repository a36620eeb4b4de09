// The head of a reply: status line and headers. Nothing that a client sent can start a new header
// line: control characters in values are replaced.
import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { HeaderPair } from './cors.ts';
import type { HttpExchange } from './exchange.ts';

export interface Head {
  status: number;
  /** Empty: no content-type. */
  mediaType: string;
  headers?: Record<string, string> | undefined;
  /** More of them as they are sent, each behind the line end before it. */
  lines?: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not get through
const controlCharacters = /[\u0000-\u001f\u007f]/g;
const controlCharacter = new RegExp(controlCharacters.source);

/**
 * Asks for the body that a client holds back until then. uWS does so by itself for one spelling;
 * the value has no case (RFC 9110, 10.1.1), and the client of the JDK writes "100-Continue". At
 * once, as uWS does: that client waits for ever behind a refusal that came instead (JDK-8286171).
 */
export function sendContinue(exchange: HttpExchange, response: HttpResponse, expect: string): void {
  if (expect === '' || expect === '100-continue') return;
  if (expect.toLowerCase() !== '100-continue') return;
  exchange.isContinued = true;
  // With the empty line that ends an interim reply: `writeHead` begins another one.
  response.writeStatus('100 Continue\r\n');
}

/**
 * All headers at once: uWS is given them as the end of the first one's value, since each call
 * copies a name and a value into it (twelve calls cost 2 % of a small answer).
 */
export function writeHead(
  exchange: HttpExchange,
  response: HttpResponse,
  head: Head,
  corsHeaders: readonly HeaderPair[],
): void {
  const { status, mediaType, headers } = head;
  if (status !== 200 && !exchange.isContinued) response.writeStatus(statusLine(status));
  let lines = exchange.requestId;
  if (mediaType !== '') lines += headerLine('content-type', mediaType);
  if (exchange.isLast) lines += headerLine('connection', 'close');
  for (const [name, value] of corsHeaders) lines += headerLine(name, value);
  let values = '';
  let told = '';
  for (const [name, value] of exchange.extraHeaders ?? []) {
    if (headers !== undefined && isReplaced(name, headers)) continue;
    told += headerLine(name, value);
    values += value;
  }
  for (const name in headers) {
    const value = headers[name] ?? '';
    told += headerLine(name, value);
    values += value;
  }
  if (controlCharacter.test(values)) told = safeLines(exchange.extraHeaders ?? [], headers ?? {});
  // A stream lives long after its head.
  exchange.extraHeaders = null;
  const begin = exchange.isContinued ? `HTTP/1.1 ${statusLine(status)}\r\n` : '';
  // One native call for all of them.
  response.writeHeader(`${begin}x-request-id`, lines + told + (head.lines ?? ''));
}

export function headerLine(name: string, value: string): string {
  return `\r\n${name}: ${value}`;
}

/** The reply's own header is the one that counts, but cookies stand beside each other. */
function isReplaced(name: string, headers: Record<string, string>): boolean {
  return name in headers && name !== 'set-cookie';
}

/** The same lines, if a value could begin a line of its own. */
function safeLines(extra: readonly HeaderPair[], headers: Record<string, string>): string {
  return [...extra.filter(([name]) => !isReplaced(name, headers)), ...Object.entries(headers)]
    .map(([name, value]) => headerLine(name, value.replace(controlCharacters, ' ')))
    .join('');
}

function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}
