// One question in any of the four formats, and what came back in one shape: for tests of what has
// to be the same in all of them. A stream is read by rules of the format, not by its encoder.
import assert from 'node:assert/strict';
import type { SvcRouting, SvcUsage } from '../../media/model/dialects/contract.ts';
import type { Progress } from '../../media/model/events.ts';

export const formats = ['chat', 'responses', 'messages', 'legacy'] as const;
export type Format = (typeof formats)[number];

export interface Caller {
  baseUrl: string;
  apiKey: string;
}

export interface Question {
  model: string;
  text: string;
  /** Members of the body that all formats share. */
  members?: Record<string, unknown>;
  /** Turns before the text. */
  history?: { role: 'user' | 'assistant'; content: string }[];
  stream?: boolean;
  key?: string;
  signal?: AbortSignal;
}

/** One event of a stream, as it was sent. */
export interface Sent {
  name: string | null;
  data: Record<string, unknown>;
}

export interface Told {
  status: number;
  headers: Headers;
  text: string;
  progress: Progress[];
  /** Whether progress came before the first text. */
  progressFirst: boolean;
  svcUsage: SvcUsage | null;
  svcRouting: SvcRouting | null;
  error: { code?: string; type?: string; message: string; param?: string | null } | null;
  citations: { url: string; title: string }[];
  events: Sent[];
  /** The whole reply, or the last JSON event. */
  body: Record<string, unknown>;
  raw: string;
}

const paths: Record<Format, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  legacy: '/api/v1/llm/responses',
};

export function bodyOf(format: Format, question: Question): Record<string, unknown> {
  const { model, text, members, history = [], stream = false } = question;
  const messages = [...history, { role: 'user', content: text }];
  const said =
    format === 'responses' ? { input: history.length === 0 ? text : messages } : { messages };
  const ceiling = format === 'messages' ? { max_tokens: 4_096 } : {};
  return { model, ...said, ...ceiling, stream, ...members };
}

export function post(format: Format, caller: Caller, question: Question): Promise<Response> {
  const { key, signal } = question;
  return fetch(caller.baseUrl + paths[format], {
    method: 'POST',
    headers: {
      authorization: `Bearer ${caller.apiKey}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify(bodyOf(format, question)),
    ...(signal === undefined ? {} : { signal }),
  });
}

export async function ask(format: Format, caller: Caller, question: Question): Promise<Told> {
  const response = await post(format, caller, question);
  const raw = await response.text();
  const { status, headers } = response;
  const isStream = (headers.get('content-type') ?? '').startsWith('text/event-stream');
  const events = isStream ? eventsOf(raw) : [];
  const body = isStream ? (events.at(-1)?.data ?? {}) : (JSON.parse(raw) as Sent['data']);
  const last = format === 'responses' && isStream ? asMembers(body.response ?? {}) : body;
  const shown = isStream ? events.map((event) => [event, textOf(format, event)] as const) : [];
  const firstText = shown.findIndex(([, text]) => text !== '');
  const progress = events.flatMap(({ data, name }): Progress[] =>
    name === 'progress'
      ? [data as unknown as Progress]
      : data.svc_progress === undefined
        ? []
        : [data.svc_progress as Progress],
  );
  const lastProgress = events.findLastIndex(
    ({ name, data }) => name === 'progress' || data.svc_progress !== undefined,
  );
  return {
    status,
    headers,
    text: isStream ? shown.map(([, text]) => text).join('') : wholeText(format, body),
    progress,
    progressFirst: firstText < 0 || lastProgress < firstText,
    svcUsage: (last.svc_usage ?? null) as SvcUsage | null,
    svcRouting: (last.svc_routing ?? null) as SvcRouting | null,
    error: (last.error ?? null) as Told['error'],
    citations: citationsOf(isStream ? events.map(({ data }) => data) : [body]),
    events,
    body,
    raw,
  };
}

/** The events of an SSE stream; comments and `[DONE]` are left out. */
export function eventsOf(raw: string): Sent[] {
  const blocks = raw.replace(/^:.*\n/gm, '').split('\n\n');
  return blocks.flatMap((block): Sent[] => {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (data === undefined || data === '[DONE]') return [];
    const name = /^event: (.*)$/m.exec(block)?.[1] ?? null;
    return [{ name, data: JSON.parse(data) as Sent['data'] }];
  });
}

function textOf(format: Format, { name, data }: Sent): string {
  if (format === 'chat') {
    const choices = (data.choices ?? []) as { delta?: { content?: string | null } }[];
    return choices[0]?.delta?.content ?? '';
  }
  if (format === 'legacy') return name === 'delta' ? String(data.text) : '';
  if (format === 'responses') {
    return data.type === 'response.output_text.delta' ? String(data.delta) : '';
  }
  const delta = asMembers(data.delta ?? {});
  return delta.type === 'text_delta' ? String(delta.text) : '';
}

function wholeText(format: Format, body: Sent['data']): string {
  if (format === 'chat') {
    const choices = (body.choices ?? []) as { message: { content: string | null } }[];
    return choices[0]?.message.content ?? '';
  }
  if (format === 'legacy') return String(body.text ?? '');
  const items = (format === 'responses' ? body.output : body.content) ?? [];
  assert.ok(Array.isArray(items));
  const parts = (format === 'messages' ? items : items.flatMap(contentOf)) as Sent['data'][];
  return parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');
}

function contentOf(item: Sent['data']): unknown[] {
  return Array.isArray(item.content) ? item.content : [];
}

/** Every object with an address and a title, wherever a format has it. */
function citationsOf(values: unknown[]): Told['citations'] {
  const found = new Map<string, string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { url, title } = value as Sent['data'];
    if (typeof url === 'string' && typeof title === 'string') found.set(url, title);
    for (const member of Object.values(value)) walk(member);
  };
  for (const value of values) walk(value);
  return [...found].map(([url, title]) => ({ url, title }));
}

function asMembers(value: unknown): Sent['data'] {
  return value as Sent['data'];
}
