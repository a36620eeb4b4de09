// Answers with a file: its conditions first, then the range that was asked for, then the bytes. A
// 412 and a 416 have no body, since no code of ours says what their status says.
import type { HttpResponse } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { Problem } from '../../problem.ts';
import type { HttpExchange } from '../exchange.ts';
import { type Head, writeHead } from '../head.ts';
import { type ReplyContext, sendWhole } from '../reply.ts';
import type { FileContent, Reply } from '../route.ts';
import { isRangeWanted, verdictOf } from './conditions.ts';
import { httpDate } from './http-date.ts';
import { type ByteRange, rangeOf } from './range.ts';
import { FileSending, type FileTable } from './sending.ts';

export interface FileContext extends ReplyContext {
  files: FileTable;
  /** Answers with an error in place of the file. */
  refuse(error: unknown): void;
  /** Tells why a file was cut. */
  log(error: unknown): void;
}

type FileReply = Extract<Reply, { file: unknown }>;

const etagPattern = /^[\x21\x23-\x7e]+$/;

export function serveFile(exchange: HttpExchange, reply: FileReply, context: FileContext): void {
  const { response } = exchange;
  if (response === null) return;
  const { file } = reply;
  assert(etagPattern.test(file.etag), 'an entity tag without its quotes');
  const validators = validatorHeaders(file, reply.headers);
  const bodiless = (status: number, headers = validators, length = 0) =>
    sendWhole(exchange, response, { status, mediaType: '', headers, body: '', length }, context);
  const header = (name: string) => exchange.header(name);
  const verdict = verdictOf(header, file);
  const range = verdict === 'send' ? requestedRange(exchange, file) : 'whole';
  if (verdict === 'failed') bodiless(412);
  else if (verdict === 'unchanged') bodiless(304);
  else if (range === 'unsatisfiable') {
    bodiless(416, { ...validators, 'content-range': `bytes */${file.bytes}` });
  } else {
    const head = headOf(file, range, validators);
    const { from, to } = range === 'whole' ? { from: 0, to: file.bytes } : range;
    if (exchange.method !== 'HEAD' && from < to) {
      send(exchange, response, { file, from, to, head }, context);
    } else sendWhole(exchange, response, { ...head, body: '', length: to - from }, context);
  }
}

/** GET is the one method that has ranges. */
function requestedRange(exchange: HttpExchange, file: FileContent) {
  const range = exchange.method === 'GET' ? exchange.header('range') : undefined;
  if (range === undefined || !isRangeWanted(exchange.header('if-range'), file)) return 'whole';
  return rangeOf(range, file.bytes);
}

/** What a 304 has too. */
function validatorHeaders(
  { etag, lastModifiedMs }: FileContent,
  headers: Record<string, string> | undefined,
): Record<string, string> {
  return {
    etag: `"${etag}"`,
    // No later than now (RFC 9110, 8.8.2.1): who made it may have another clock.
    'last-modified': httpDate(Math.min(lastModifiedMs, Date.now())),
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...headers,
  };
}

function headOf(
  { bytes, mediaType, filename }: FileContent,
  range: ByteRange | 'whole',
  validators: Record<string, string>,
): Head {
  const headers: Record<string, string> = {
    ...validators,
    'accept-ranges': 'bytes',
    'content-disposition': disposition(filename),
  };
  if (range === 'whole') return { status: 200, mediaType, headers };
  headers['content-range'] = `bytes ${range.from}-${range.to - 1}/${bytes}`;
  return { status: 206, mediaType, headers };
}

/** Beyond ASCII in the form of RFC 8187, with something for those who do not read it. */
function disposition(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\/%]/g, '_');
  if (plain === filename) return `inline; filename="${plain}"`;
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `inline; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

function send(
  exchange: HttpExchange,
  response: HttpResponse,
  part: { file: FileContent; from: number; to: number; head: Head },
  context: FileContext,
): void {
  const { file, from, to, head } = part;
  const sending = new FileSending(context.files, response, {
    bytes: to - from,
    read: () => file.read(from, to),
    begin() {
      exchange.status = head.status;
      writeHead(exchange, response, head, context.corsHeaders);
      if (context.isDraining) response.writeHeader('connection', 'close');
    },
    refuse: (error) => context.refuse(unreadable(error)),
    ended: () => exchange.finish(head.status),
    failed(error) {
      if (error !== null) context.log(error);
      exchange.abort();
      response.close();
    },
  });
  exchange.onAbort(() => sending.abort());
  void sending.run();
}

function unreadable(error: unknown): unknown {
  if (error instanceof Problem) return error;
  const message = 'The file cannot be read at the moment. Try again.';
  return new Problem('dependency_unavailable', { message, cause: error });
}
