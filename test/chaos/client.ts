// A client of the generation routes that keeps count of everything it is told: statuses, deltas,
// the receipt, how the stream ended. Each call has its own connection unless an agent is given.
import { Agent, request } from 'undici';
import type { Gateway } from '../harness/gateway.ts';
import { bodyOf, type Format, pathOf, type Read, readEvent, readWhole } from './formats.ts';

const ANSWER_MS = 60_000;

export interface Call {
  text: string;
  /** Default: Chat Completions. */
  format?: Format;
  model?: string;
  /** More members of the body. */
  members?: Record<string, unknown>;
  stream?: boolean;
  key?: string;
  apiKey?: string;
  maxTokens?: number;
  signal?: AbortSignal;
  dispatcher?: Agent;
  onDelta?: (told: Told) => void;
}

export interface Told extends Read {
  /** 0: the connection was lost before a status. */
  status: number;
  headers: Record<string, string | string[] | undefined>;
  requestId: string | null;
  durationMs: number;
}

/** A pool with room for as many connections as calls. */
export function openAgent(connections = 4_096): Agent {
  return new Agent({
    connections,
    pipelining: 1,
    connect: { timeout: 60_000 },
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
  });
}

/** Nothing was told yet. */
export function nothingTold(): Told {
  return {
    status: 0,
    headers: {},
    requestId: null,
    text: '',
    usage: null,
    code: null,
    complete: false,
    durationMs: 0,
  };
}

/**
 * One generation. Never rejects: a lost connection is something that clients are told, too.
 */
export async function chat(gateway: Gateway, call: Call): Promise<Told> {
  const begun = performance.now();
  const { format = 'chat', stream = false, maxTokens = null, members = {} } = call;
  const told = nothingTold();
  const agent = call.dispatcher ?? openAgent(1);
  try {
    const asked = { model: call.model ?? 'svc-sim-chat', text: call.text, stream, maxTokens };
    const reply = await request(gateway.url + pathOf(format), {
      method: 'POST',
      dispatcher: agent,
      headers: {
        authorization: `Bearer ${call.apiKey ?? gateway.dev.api_key}`,
        'content-type': 'application/json',
        ...(call.key === undefined ? {} : { 'idempotency-key': call.key }),
      },
      body: JSON.stringify(bodyOf(format, { ...asked, members })),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    });
    told.status = reply.statusCode;
    told.headers = reply.headers;
    told.requestId = String(reply.headers['x-svc-request-id'] ?? '') || null;
    const isStream = String(reply.headers['content-type']).startsWith('text/event-stream');
    if (isStream) await readStream(format, reply.body, told, call.onDelta);
    else readWhole(format, await reply.body.text(), told);
  } catch {
    // What was read until then stands in `told`.
  } finally {
    if (call.dispatcher === undefined) void agent.destroy();
  }
  told.durationMs = performance.now() - begun;
  return told;
}

async function readStream(
  format: Format,
  body: AsyncIterable<Buffer>,
  told: Told,
  onDelta: ((told: Told) => void) | undefined,
): Promise<void> {
  let rest = '';
  for await (const chunk of body) {
    rest += chunk.toString('utf8');
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: ')) readEvent(format, line.slice(6), told);
    }
    onDelta?.(told);
  }
}
