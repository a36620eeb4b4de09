// How the four generation formats are asked and read, as far as the chaos needs it: text, receipt,
// error and whether the end was told.
import type { SvcUsage } from '../../media/model/dialects/contract.ts';

export const formats = ['chat', 'responses', 'messages', 'legacy'] as const;
export type Format = (typeof formats)[number];

export interface Asked {
  model: string;
  text: string;
  stream: boolean;
  maxTokens: number | null;
  /** More members of the body, as its format has them. */
  members: Record<string, unknown>;
}

/** What was read of an answer. */
export interface Read {
  text: string;
  usage: SvcUsage | null;
  code: string | null;
  complete: boolean;
}

interface Failure {
  code?: string;
  type?: string;
}

interface Reply {
  type?: string;
  ok?: boolean;
  text?: string;
  svc_usage?: SvcUsage;
  error?: Failure | null;
  choices?: { delta?: { content?: string }; message?: { content?: string } }[];
  delta?: string | { text?: string };
  content?: { text?: string }[];
  output?: { content?: { text?: string }[] }[];
  response?: { svc_usage?: SvcUsage; error?: Failure | null };
}

const paths: Record<Format, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  legacy: '/api/v1/llm/responses',
};

export function pathOf(format: Format): string {
  return paths[format];
}

export function bodyOf(format: Format, asked: Asked): Record<string, unknown> {
  const { model, text, stream, maxTokens, members } = asked;
  const messages = [{ role: 'user', content: text }];
  if (format === 'messages') {
    return { model, stream, messages, max_tokens: maxTokens ?? 1_024, ...members };
  }
  if (format === 'chat') {
    const ceiling = maxTokens === null ? {} : { max_completion_tokens: maxTokens };
    return { model, stream, messages, ...ceiling, ...members };
  }
  const ceiling = maxTokens === null ? {} : { max_output_tokens: maxTokens };
  return { model, stream, input: text, ...ceiling, ...members };
}

const responsesEnds = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/** Takes the data of one event of a stream. */
export function readEvent(format: Format, data: string, read: Read): void {
  if (data === '[DONE]') {
    read.complete = true;
    return;
  }
  const reply = JSON.parse(data) as Reply;
  readEnds(reply, read);
  if (format === 'chat') read.text += reply.choices?.[0]?.delta?.content ?? '';
  if (format === 'responses') {
    if (reply.type === 'response.output_text.delta') read.text += String(reply.delta ?? '');
    if (responsesEnds.has(reply.type ?? '')) read.complete = true;
  }
  if (format === 'messages') {
    const { delta, type } = reply;
    if (type === 'content_block_delta' && typeof delta === 'object') read.text += delta.text ?? '';
    if (type === 'message_stop' || type === 'error') read.complete = true;
  }
  if (format === 'legacy') {
    // `done` and `error` say whether all is well; `done` repeats the text.
    if (reply.ok === undefined) read.text += reply.text ?? '';
    else read.complete = true;
  }
}

/** Takes a whole body, good or not. */
export function readWhole(format: Format, body: string, read: Read): void {
  const reply = JSON.parse(body) as Reply;
  readEnds(reply, read);
  read.complete = true;
  if (format === 'chat') read.text = reply.choices?.[0]?.message?.content ?? '';
  else if (format === 'legacy') read.text = reply.text ?? '';
  else {
    const parts = format === 'messages' ? reply.content : reply.output?.flatMap(contentOf);
    read.text = (parts ?? []).map((part) => part.text ?? '').join('');
  }
}

function contentOf(item: { content?: { text?: string }[] }): { text?: string }[] {
  return item.content ?? [];
}

/** Receipt and error, which stand in the same places in a body and in an event. */
function readEnds(reply: Reply, read: Read): void {
  const usage = reply.svc_usage ?? reply.response?.svc_usage;
  if (usage !== undefined) read.usage = usage;
  const error = reply.error ?? reply.response?.error ?? null;
  if (error !== null) read.code = error.code ?? error.type ?? 'without code';
}
