// Sends replies: whole, as the socket takes them, or as streams; always corked.
import type { HttpResponse } from 'uWebSockets.js';
import { fixedLimits } from '../limits.ts';
import { atTurnEnd } from '../turns.ts';
import { HttpByteStream } from './bytes.ts';
import type { HeaderPair } from './cors.ts';
import type { HttpExchange } from './exchange.ts';
import { type Head, headerLine, writeHead } from './head.ts';
import type { Reply } from './route.ts';
import { HttpEventStream, type StreamTable } from './stream.ts';
import type { UnreadBody } from './unread.ts';
import { writeJson } from './whole-numbers.ts';

export interface ReplyContext {
  corsHeaders: readonly HeaderPair[];
  streams: StreamTable;
  /** Set while the server drains: every reply closes its connection. */
  isDraining: boolean;
}

/** Files have a way of their own (file/serve.ts). */
type PlainReply = Exclude<Reply, { file: unknown }>;
type StreamReply = Extract<Reply, { stream: unknown }>;
type BytesReply = Extract<Reply, { pour: unknown }>;

/** Neither a cache nor a proxy on the way may keep it to itself (nginx, proxy_buffering). */
const unbuffered = headerLine('cache-control', 'no-store') + headerLine('x-accel-buffering', 'no');
const bodilessStatuses = new Set([204, 304]);
/**
 * Larger bodies are sent as the socket takes them: uWS keeps all of what it is given at once, and
 * answers 13,000 requests of one read before anybody else's turn, also of who reads no reply. One
 * that is not sent yet ends a connection with a further request behind it.
 */
const wholeBytesMax = 2 * 1024;
/**
 * More wait for the end of the turn: uSockets hands all requests of a read of 512 KiB over before
 * anybody else's turn, 20,000 of one connection, which is closed when one of them has to wait.
 */
const repliesOfTurnMax = 256;
let repliesOfTurn = 0;
/** Larger replies are no refusals, and do not wait for the rest of a body. */
const lateBytesMax = 16 * 1024;

/** Sends what a handler answered. Streams stay open; everything else finishes the exchange. */
export function sendReply(exchange: HttpExchange, reply: PlainReply, context: ReplyContext): void {
  const response = exchange.response;
  if (response === null) return;
  if ('stream' in reply) sendStream(exchange, response, reply, context);
  else if ('pour' in reply) sendBytes(exchange, response, reply, context);
  else if ('json' in reply) {
    const body = writeJson(reply.json) ?? 'null';
    const { status, headers } = reply;
    sendWhole(
      exchange,
      response,
      { status, headers, mediaType: 'application/json', body },
      context,
    );
  } else if ('text' in reply) {
    sendWhole(exchange, response, { ...reply, body: reply.text }, context);
  } else sendWhole(exchange, response, { ...reply, body: reply.bytes }, context);
}

/** A reply in one piece. */
interface WholeReply extends Head {
  body: string | Uint8Array;
  /** The length as HEAD tells it; without it that of the body. */
  length?: number;
}

/** At the end of the turn if it has had its share. */
export function sendWhole(
  exchange: HttpExchange,
  response: HttpResponse,
  reply: WholeReply,
  context: ReplyContext,
): void {
  repliesOfTurn += 1;
  if (repliesOfTurn === 1) atTurnEnd(beginTurn);
  if (repliesOfTurn <= repliesOfTurnMax) sendNow(exchange, response, reply, context);
  else {
    atTurnEnd(() => {
      if (exchange.response !== null) sendNow(exchange, response, reply, context);
    });
  }
}

function beginTurn(): void {
  repliesOfTurn = 0;
}

function sendNow(
  exchange: HttpExchange,
  response: HttpResponse,
  reply: WholeReply,
  context: ReplyContext,
): void {
  const { status, body } = reply;
  const close = exchange.mustClose || context.isDraining;
  exchange.status = status;
  const isShort = body.length > 0 && body.length <= lateBytesMax && exchange.method !== 'HEAD';
  if (exchange.unread?.isOver === false && isShort && !exchange.mustClose) {
    sendLate(exchange, exchange.unread, response, reply, context);
    return;
  }
  const isLong = body.length > wholeBytesMax && exchange.method !== 'HEAD';
  if (isLong && !close && !exchange.mustLinger) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    sendPiecewise(exchange, response, bytes, reply, context);
    return;
  }
  response.cork(() => {
    const isHead = exchange.method === 'HEAD' && !bodilessStatuses.has(status);
    writeHead(exchange, response, reply, context.corsHeaders);
    // uWS closes a reply with a length only, and a 304 may have that of the 200 alone (8.6).
    const isTold = exchange.mustLinger || (close && (isHead || status === 304));
    if (isTold) response.writeHeader('connection', 'close');
    const length = reply.length ?? Buffer.byteLength(body);
    if (isHead) response.writeHeader('content-length', String(length));
    // Before the last byte: who has the reply may ask again, and finds its permit free.
    exchange.finish(status);
    // Given a length, uWS waits for that many bytes: no request behind this one is answered, and
    // the connection has no deadline (uWebSockets issue 1855).
    if (isHead) response.endWithoutBody();
    else if (!bodilessStatuses.has(status)) response.end(body, close);
    // Even an undefined length would be written; closing needs one (RFC 9110, 8.6 bends).
    else if (close && status !== 304) response.endWithoutBody(0, true);
    else response.endWithoutBody();
  });
}

/** All but the last byte at once, and that when the client has sent its body. */
function sendLate(
  exchange: HttpExchange,
  unread: UnreadBody,
  response: HttpResponse,
  reply: WholeReply,
  context: ReplyContext,
): void {
  const bytes = Buffer.from(reply.body as string);
  response.cork(() => {
    writeHead(exchange, response, reply, context.corsHeaders);
    response.tryEnd(bytes.subarray(0, -1), bytes.length);
  });
  // A client that has gone is not waited for.
  exchange.onFinish(() => unread.leave());
  unread.onOver(() => {
    if (exchange.response === null) return;
    response.cork(() => {
      exchange.finish(reply.status);
      response.tryEnd(bytes.subarray(response.getWriteOffset()), bytes.length);
    });
  });
}

function sendPiecewise(
  exchange: HttpExchange,
  response: HttpResponse,
  bytes: Uint8Array,
  reply: Head,
  context: ReplyContext,
): void {
  const { status } = reply;
  const last = bytes.length - 1;
  const send = (offset: number): boolean => {
    const isRest = offset < last;
    if (isRest && !response.tryEnd(bytes.subarray(offset, last), bytes.length)[0]) return false;
    // Before the last byte, as with a reply in one piece.
    exchange.finish(status);
    return response.tryEnd(bytes.subarray(last), bytes.length)[0];
  };
  response.cork(() => {
    writeHead(exchange, response, reply, context.corsHeaders);
    if (send(0)) return;
    response.onWritable((offset) => {
      let isSent = true;
      response.cork(() => {
        isSent = send(offset);
      });
      return isSent;
    });
  });
}

function sendStream(
  exchange: HttpExchange,
  response: HttpResponse,
  reply: StreamReply,
  context: ReplyContext,
): void {
  const { status, headers } = reply;
  const head = {
    status,
    headers,
    mediaType: 'text/event-stream; charset=utf-8',
    lines: unbuffered,
  };
  if (exchange.method === 'HEAD') {
    sendWhole(exchange, response, { ...head, body: '' }, context);
    return;
  }
  const stream = new HttpEventStream(context.streams, reply.keepAlive);
  // Before the headers: what the callback throws is still an ordinary 500.
  reply.stream(stream);
  exchange.status = reply.status;
  exchange.onAbort(() => stream.abort());
  stream.onClose((reason) => {
    if (reason === 'ended') exchange.finish(reply.status);
    else exchange.abort();
  });
  if (exchange.response === null) return;
  response.cork(() => {
    writeHead(exchange, response, head, context.corsHeaders);
    stream.open(response);
  });
}

function sendBytes(
  exchange: HttpExchange,
  response: HttpResponse,
  reply: BytesReply,
  context: ReplyContext,
): void {
  if (exchange.method === 'HEAD') {
    sendWhole(exchange, response, { ...reply, lines: unbuffered, body: '' }, context);
    return;
  }
  const stream = new HttpByteStream(fixedLimits.http.stalledMs);
  // Before the headers: what the callback throws is still an ordinary 500.
  reply.pour(stream);
  exchange.status = reply.status;
  exchange.onAbort(() => stream.abort());
  stream.onClose((reason) => {
    if (reason === 'ended') exchange.finish(reply.status);
    else exchange.abort();
  });
  if (exchange.response === null) {
    response.close();
    return;
  }
  response.cork(() => {
    writeHead(exchange, response, { ...reply, lines: unbuffered }, context.corsHeaders);
    if (context.isDraining) response.writeHeader('connection', 'close');
  });
  stream.open(response);
}
