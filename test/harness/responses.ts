// The smallest client of Responses that shows bytes: what a stream said, event by event.
import assert from 'node:assert/strict';
import type { SvcUsage } from '../../media/model/dialects/contract.ts';

export interface Caller {
  baseUrl: string;
  apiKey: string;
}

export interface ResponseBody {
  id: string;
  status: string;
  output: { type: string; id?: string; call_id?: string; content?: { text?: string }[] }[];
  svc_usage?: SvcUsage;
  error: { code: string; message: string; param: string | null } | null;
}

export interface Reply {
  status: number;
  headers: Headers;
  body: ResponseBody;
}

export interface CallOptions {
  key?: string;
  signal?: AbortSignal;
}

export function responseBody(
  text: string,
  members: Record<string, unknown> = {},
): Record<string, unknown> {
  return { model: 'svc-sim-chat', input: text, ...members };
}

/** Calls `/v1/responses` or a path below it; a body makes it a POST unless a method is given. */
export function callResponses(
  caller: Caller,
  path: string,
  body?: Record<string, unknown>,
  { key, signal, method }: CallOptions & { method?: string } = {},
): Promise<Response> {
  return fetch(`${caller.baseUrl}/v1/responses${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${caller.apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A reply read whole, good or not. */
export async function askResponses(
  caller: Caller,
  path: string,
  body?: Record<string, unknown>,
  options: CallOptions & { method?: string } = {},
): Promise<Reply> {
  const response = await callResponses(caller, path, body, options);
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as ResponseBody };
}

/** A background response that is on its way. */
export async function startBackground(
  caller: Caller,
  text: string,
  members: Record<string, unknown> = {},
): Promise<ResponseBody> {
  const asked = responseBody(text, { background: true, ...members });
  const { status, body } = await askResponses(caller, '', asked);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.status, 'queued');
  return body;
}

/** Polls until the response has ended. */
export async function endOf(caller: Caller, id: string, timeoutMs = 30_000): Promise<ResponseBody> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { status, body } = await askResponses(caller, `/${id}`);
    assert.equal(status, 200, JSON.stringify(body));
    if (body.status !== 'in_progress') return body;
    assert.ok(performance.now() < deadline, 'the response ends in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The text of a stream from its beginning, or behind an event of this number, to its end. */
export async function streamOf(caller: Caller, id: string, after?: number): Promise<string> {
  const query = after === undefined ? '' : `&starting_after=${after}`;
  const response = await callResponses(caller, `/${id}?stream=true${query}`);
  assert.equal(response.status, 200);
  return withoutComments(await response.text());
}

/** Keep-alives are no events, and stand wherever a stream was idle. */
export function withoutComments(text: string): string {
  return text.replace(/^:.*\n/gm, '');
}

/** The events of a stream as they stood on the wire. */
export function eventsOf(text: string): string[] {
  return text.split(/(?<=\n\n)/).filter((event) => event !== '');
}

/** Reads a stream until this many events have come, and leaves. It may also end before. */
export async function firstEvents(
  response: Response,
  count: number,
  { mayEnd = false } = {},
): Promise<string[]> {
  assert.ok(response.body !== null);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const events = eventsOf(withoutComments(text)).filter((event) => event.endsWith('\n\n'));
    if (events.length >= count) {
      await reader.cancel();
      return events.slice(0, count);
    }
    const { done, value } = await reader.read();
    if (done && mayEnd) return events;
    assert.ok(!done, `the stream ended after ${events.length} events`);
    text += decoder.decode(value, { stream: true });
  }
}

/** The data of one event. */
export function dataOf(event: string | undefined): Record<string, unknown> {
  return JSON.parse((event ?? '').split('\ndata: ')[1] ?? '{}') as Record<string, unknown>;
}
