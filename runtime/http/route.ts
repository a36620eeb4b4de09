// A route is a value: everything that validation, OpenAPI, the handler's types, the error
// documentation and the contract test need is said once, here.
import * as v from 'valibot';
import type { ProblemCode } from '../problem.ts';
import type { PrototypeKeys } from './json.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Schema = v.GenericSchema;
type OutputOf<S> = S extends Schema ? v.InferOutput<S> : undefined;

/** A JSON body: closed or open schema, and how many bytes are read before a 413. */
export interface JsonBody<B extends Schema> {
  kind: 'json';
  schema: B;
  bytesMax: number;
  /** Half of a surrogate pair in any text of it becomes U+FFFD, once it is valid. */
  halves?: 'replaced';
  /** Where any name may be a member, those of prototypes are no fault. */
  prototypeKeys?: PrototypeKeys;
  /** A body that works as it stands: what is made of a schema says `string` and is refused. */
  example?: Readonly<Record<string, unknown>>;
}

/** A form (WHATWG URL, 5.1). Each field once; the schema leaves out what it does not know. */
export interface FormBody<B extends Schema> {
  kind: 'form';
  schema: B;
  bytesMax: number;
}

/**
 * A body of any media type, which nobody parses: a signature is of these bytes and of no other
 * spelling. A handler has them for as long as the exchange lasts.
 */
export interface BytesBody<B extends Schema> {
  kind: 'bytes';
  /** It says what a handler is given: `bytesBody` has it. */
  schema: B;
  bytesMax: number;
}

/** A multipart body (RFC 7578): text fields by schema, files by name with their bounds. */
export interface MultipartBody<B extends Schema> {
  kind: 'multipart';
  schema: B;
  bytesMax: number;
  files: Record<string, { required: boolean; bytesMax: number }>;
}

const rawBytes = v.instance(Uint8Array);

export function bytesBody(bytesMax: number): BytesBody<typeof rawBytes> {
  return { kind: 'bytes', schema: rawBytes, bytesMax };
}

type RequestBody<B extends Schema> = JsonBody<B> | FormBody<B> | MultipartBody<B> | BytesBody<B>;

export interface UploadedFile {
  filename: string;
  mediaType: string;
  bytes: Uint8Array;
}

/** A documented reply. `schema` for JSON; otherwise `mediaType` alone. */
export interface ReplyDeclaration {
  description: string;
  schema?: Schema;
  mediaType?: string;
  /** Further media types of the same reply. */
  moreMediaTypes?: readonly string[];
  headers?: Record<string, string>;
  /** A 200 is a `file`. Conditions, ranges, their replies and HEAD follow from it. */
  isFile?: boolean;
}

/** The HTTP exchange as a handler sees it. Header names are lower case. */
export interface Exchange {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** As it was sent, without the question mark; empty after the first turn. */
  readonly query: string;
  /** Looked up when first read; empty when that is after the end of the exchange. */
  readonly clientAddress: string;
  /** After the first turn only the kernel's usual headers and those that the route declares. */
  header(name: string): string | undefined;
  /** Every reply of this exchange carries it, also a problem; a name set twice is sent twice. */
  setHeader(name: string, value: string): void;
  /** Runs when the client goes away before the reply is complete; at once if it is gone. */
  onAbort(listener: () => void): void;
  /** Runs once when the exchange is over: replied in full, or the client is gone. */
  onFinish(listener: () => void): void;
  readonly aborted: boolean;
}

/** An open text/event-stream reply (WHATWG HTML, server-sent events). Bytes are UTF-8. */
export interface EventStream {
  /** Writes now or queues up to the bound; false: the client is over the bound and was dropped. */
  write(text: string): boolean;
  /** Runs whenever the queue has become empty again: a replay of stored text waits for it. */
  onDrain(listener: () => void): void;
  end(text?: string): void;
  /** Runs once when the stream is over: ended by us, aborted by the client, or dropped as slow. */
  onClose(listener: (reason: 'ended' | 'aborted' | 'slow') => void): void;
  /** What waits in our own queue; 0 while the socket takes everything. */
  readonly bufferedBytes: number;
  readonly closed: boolean;
}

/** `failed`: by us, or the client took nothing for too long. */
export type ByteStreamEnd = 'ended' | 'aborted' | 'failed';

/** An open reply of bytes whose number is not known. Its headers leave with the first of them. */
export interface ByteStream {
  /** Keeps the bytes: they must not change. False: write no more before `onDrain`. */
  write(bytes: Uint8Array): boolean;
  end(): void;
  /** Cuts the connection, so that the client sees that this is not the whole reply. */
  fail(): void;
  /** Runs whenever the client has taken what was written. */
  onDrain(listener: () => void): void;
  /** Runs once when the reply is over. */
  onClose(listener: (reason: ByteStreamEnd) => void): void;
  readonly closed: boolean;
}

/** A file that is served whole or in part: all of it is known before a byte is read. */
export interface FileContent {
  /** How long the whole is. */
  bytes: number;
  /** Without quotes: the SHA-256 of the whole. The same tag must never name other bytes. */
  etag: string;
  lastModifiedMs: number;
  mediaType: string;
  /** What a browser calls it when it is saved. */
  filename: string;
  /**
   * The bytes from `from` up to, not including, `to`, in pieces of at most 256 KiB; never empty. A
   * piece is asked for when the client has taken the one before, and must not change then. What it
   * throws before its first piece is a 503, or the Problem that it is; later the connection is cut.
   * It is returned from early when the client goes away, and not called where no body is sent.
   */
  read(from: number, to: number): AsyncIterable<Uint8Array>;
}

/** What a handler answers with. */
export type Reply =
  | { status: number; json: unknown; headers?: Record<string, string> }
  | { status: number; text: string; mediaType: string; headers?: Record<string, string> }
  | { status: number; bytes: Uint8Array; mediaType: string; headers?: Record<string, string> }
  | {
      status: 200;
      /** Called once with the open stream, in the same turn in which the headers leave. */
      stream: (stream: EventStream) => void;
      /** Sent after this long without a write; the text is the format's own keep-alive. */
      keepAlive: { everyMs: number; text: string };
      headers?: Record<string, string>;
    }
  | {
      status: 200;
      mediaType: string;
      /** Called once with the open reply, in the same turn in which the headers leave. */
      pour: (stream: ByteStream) => void;
      headers?: Record<string, string>;
    }
  | {
      /** The request's conditions and range may make it 206, 304, 412 or 416 (RFC 9110). */
      status: 200;
      file: FileContent;
      headers?: Record<string, string>;
    };

/** One WebSocket connection. When it is over, every call does nothing. */
export interface ClientSocket {
  /** Both send now or queue; false: over the bound or closed, and lost. */
  text(message: string): boolean;
  binary(bytes: Uint8Array): boolean;
  /** Messages that `send` sends leave in one write. */
  together(send: () => void): void;
  /**
   * A close frame after what waits (RFC 6455, section 7.4). For us the connection is over: uWS cuts
   * it itself when the client does not answer, after 5 to 8 s.
   */
  end(code: number, reason: string): void;
  /** What the client has not taken yet. */
  readonly bufferedBytes: number;
}

/** The route's side of one connection. Nothing of it may throw. */
export interface SocketHandlers {
  opened(socket: ClientSocket): void;
  /** The bytes are lent for this call. */
  message(data: ArrayBuffer, isBinary: boolean): void;
  /** Called once, by whomever it was closed; nothing follows. */
  closed(): void;
}

/** What a GET route does with a WebSocket handshake (RFC 6455). */
export interface SocketDeclaration<Caller, Services> {
  /** Selected if the client offers it. */
  subprotocol: string;
  /** A longer message ends the connection. */
  messageBytesMax: number;
  /** Messages, pings and pongs; who sends more of them is thrown out. */
  framesPerSecondMax: number;
  /** What is sent while so much waits is lost. */
  bufferedBytesMax: number;
  /** Pings included; uWS takes 8 to 960. */
  silenceSecondsMax: number;
  /** Called in the turn of the upgrade. @throws Problem: the handshake is refused with it */
  accept(input: { caller: Caller; services: Services; exchange: Exchange }): SocketHandlers;
}

/** What a handler is given. `caller` and `services` are the application's own types. */
export interface RouteInput<Q, P, B, Caller, Services> {
  query: Q;
  params: P;
  body: B;
  files: Record<string, UploadedFile>;
  caller: Caller;
  services: Services;
  exchange: Exchange;
}

export interface RouteDeclaration<
  Access,
  Caller,
  Services,
  Q extends Schema | undefined,
  P extends Schema | undefined,
  B extends Schema | undefined,
> {
  method: Method;
  /** OpenAPI form: `/v1/generations/{request_id}`. */
  path: string;
  /** Further paths with the same behaviour, left out of the rate of new names: not duplicated. */
  aliases?: string[];
  operationId: string;
  summary: string;
  description?: string;
  tag: string;
  /** Which OpenAPI documents list it: the account document, the model document, or both. */
  documents: ('account' | 'model')[];
  access: Access;
  /** `public`: any origin, no credentials. `web`: only the web origin, with credentials. */
  cors: 'public' | 'web' | 'none';
  query?: Q;
  /** A repeated parameter of the query is a 400; otherwise it is a list. */
  repeatedQuery?: 'refused';
  params?: P;
  body?: B extends Schema ? RequestBody<B> : never;
  headers?: Record<string, { description: string; required?: boolean }>;
  socket?: SocketDeclaration<Caller, Services>;
  replies: Record<number, ReplyDeclaration>;
  /** Refusals are pages, for whoever does not ask for JSON. */
  refusals?: 'page';
  /** Codes beyond those that access, validation and the kernel add by themselves. */
  problems: ProblemCode[];
  /** What refusals with one of `problems` may carry beside the headers of their code. */
  problemHeaders?: Record<string, string>;
  handle(
    input: RouteInput<OutputOf<Q>, OutputOf<P>, OutputOf<B>, Caller, Services>,
  ): Reply | Promise<Reply>;
}

/** A route with its type parameters erased, as it stands in the table. */
export interface Route<Access, Caller, Services>
  extends Omit<
    RouteDeclaration<Access, Caller, Services, undefined, undefined, undefined>,
    'query' | 'params' | 'body' | 'socket' | 'handle'
  > {
  query?: Schema;
  params?: Schema;
  body?: RequestBody<Schema>;
  socket?: SocketDeclaration<never, Services>;
  handle(input: RouteInput<never, never, never, Caller, Services>): Reply | Promise<Reply>;
}
