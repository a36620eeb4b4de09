// The smallest client of Chat Completions: whole replies, streams read to their end, and streams
// that are read event by event and left whenever the test wants.
import assert from 'node:assert/strict';
import type { SvcUsage } from '../../media/model/dialects/contract.ts';

export interface Caller {
  baseUrl: string;
  apiKey: string;
}

export interface ErrorObject {
  message: string;
  type: string;
  code: string;
  param: string | null;
}

export interface ToolCallDelta {
  index: number;
  id?: string;
  function?: { name?: string; arguments?: string };
}

export interface Chunk {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: {
    index: number;
    delta: { role?: string; content?: string | null; tool_calls?: ToolCallDelta[] };
    finish_reason: string | null;
  }[];
  usage?: Record<string, unknown> | null;
  svc_usage?: SvcUsage;
  error?: ErrorObject;
}

export interface Completion {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: {
    index: number;
    message: { role: string; content: string | null; refusal: string | null };
    finish_reason: string;
  }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  svc_usage: SvcUsage;
  error?: ErrorObject;
}

export interface ChatOptions {
  /** The idempotency key. */
  key?: string;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  path?: string;
}

/** Body members beside model and messages; the text is the user's message. */
export type ChatMembers = Record<string, unknown>;

export function chatBody(text: string, members: ChatMembers = {}): Record<string, unknown> {
  return { model: 'svc-sim-chat', messages: [{ role: 'user', content: text }], ...members };
}

/** Sends one request; the reply is not read yet. */
export function postChat(
  caller: Caller,
  body: Record<string, unknown>,
  options: ChatOptions = {},
): Promise<Response> {
  const { key, signal, headers, path } = options;
  return fetch(caller.baseUrl + (path ?? '/v1/chat/completions'), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${caller.apiKey}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...headers,
    },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

export interface WholeReply {
  status: number;
  headers: Headers;
  body: Completion;
}

/** A whole reply, good or not. */
export async function askChat(
  caller: Caller,
  text: string,
  members: ChatMembers = {},
  options: ChatOptions = {},
): Promise<WholeReply> {
  const response = await postChat(caller, chatBody(text, members), options);
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as Completion };
}

/** A stream as it was read so far. */
export class ChatStream {
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: Chunk[] = [];
  /** Comment lines, such as keep-alives. */
  readonly comments: string[] = [];
  raw = '';
  done = false;
  /** The body of a refusal, which is no stream. */
  refusal: { error: ErrorObject } | null = null;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #rest = '';

  constructor(response: Response) {
    this.status = response.status;
    this.headers = response.headers;
    this.#reader = response.body?.getReader() ?? null;
  }

  get text(): string {
    return this.chunks.map((chunk) => chunk.choices?.[0]?.delta.content ?? '').join('');
  }

  get finishReason(): string | null {
    const reasons = this.chunks.map((chunk) => chunk.choices?.[0]?.finish_reason ?? null);
    return reasons.findLast((reason) => reason !== null) ?? null;
  }

  get svcUsage(): SvcUsage | null {
    return this.chunks.at(-1)?.svc_usage ?? null;
  }

  get error(): ErrorObject | null {
    return this.refusal?.error ?? this.chunks.findLast((chunk) => chunk.error)?.error ?? null;
  }

  /** Reads until there are `count` chunks, or to the end. */
  async read(count = Number.POSITIVE_INFINITY): Promise<this> {
    while (this.chunks.length < count && !this.done) {
      const part = await this.#reader?.read();
      if (part === undefined || part.done) {
        this.done = true;
        if (this.status !== 200) this.refusal = JSON.parse(this.raw) as { error: ErrorObject };
        break;
      }
      this.#take(this.#decoder.decode(part.value, { stream: true }));
    }
    return this;
  }

  #take(text: string): void {
    this.raw += text;
    if (this.status !== 200) return;
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith(':')) this.comments.push(line);
      else if (line.startsWith('data: ') && line !== 'data: [DONE]') {
        this.chunks.push(JSON.parse(line.slice(6)) as Chunk);
      } else assert.ok(line === '' || line === 'data: [DONE]', `unexpected line: ${line}`);
    }
  }
}

/** Opens a stream; nothing of it is read yet. */
export async function openChat(
  caller: Caller,
  text: string,
  members: ChatMembers = {},
  options: ChatOptions = {},
): Promise<ChatStream> {
  const body = chatBody(text, { stream: true, ...members });
  return new ChatStream(await postChat(caller, body, options));
}

/** A stream, read to its end. */
export async function streamChat(
  caller: Caller,
  text: string,
  members: ChatMembers = {},
  options: ChatOptions = {},
): Promise<ChatStream> {
  return (await openChat(caller, text, members, options)).read();
}
