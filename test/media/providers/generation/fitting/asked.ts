// Requests as clients write them, and what a family makes of them before it encodes them: shared by
// the tables of the families.
import assert from 'node:assert/strict';
import { chatDialect } from '../../../../../media/model/dialects/chat/dialect.ts';
import { messagesDialect } from '../../../../../media/model/dialects/messages/dialect.ts';
import { responsesDialect } from '../../../../../media/model/dialects/responses/dialect.ts';
import type { GenerationRequest } from '../../../../../media/model/request.ts';
import type { Fitted, UpstreamTarget } from '../../../../../media/providers/generation/contract.ts';
import { requireFamily } from '../../../../../media/providers/generation/families.ts';
import { upstreamTarget } from '../../../../harness/request.ts';

export type Members = Record<string, unknown>;

export const oddPattern = '^(?!__.*__$)[^\\p{Cc}\\p{Cf}"]{1,200}$';
const stem = 'a_tool_with_a_name_that_says_all_of_what_it_does_and_of_where_it_i';
/** They have 70 characters, and differ at the end alone. */
export const longNames = [`${stem}s_on`, `${stem}s_it`] as const;
export const pngBase64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUB';
export const pdfBase64 = Buffer.from('%PDF-1.7\n1 0 obj\n').toString('base64');

/** The request of a client's body in one of the formats. */
export function asked(format: 'chat' | 'messages' | 'responses', body: Members): GenerationRequest {
  switch (format) {
    case 'chat':
      return chatDialect.readRequest({ model: 'alias', ...body } as never, {});
    case 'messages':
      return messagesDialect.readRequest({ model: 'alias', max_tokens: 9, ...body } as never, {});
    case 'responses':
      return responsesDialect.readRequest({ model: 'alias', ...body } as never, {});
  }
}

export interface Sent {
  fitted: Fitted;
  /** The body that leaves. */
  body: Members;
}

/** What leaves for a provider of the family. */
export function sent(
  family: string,
  request: GenerationRequest,
  target: Partial<UpstreamTarget> = {},
): Sent {
  const { fit, encodeRequest } = requireFamily(family);
  const to = { ...upstreamTarget(family), ...target };
  const options = { outputTokensMax: 100, nativeSearch: false, reasons: true };
  const before = JSON.stringify(request);
  const fitted = fit(request, to, options);
  assert.ok('request' in fitted, JSON.stringify(fitted));
  assert.equal(JSON.stringify(request), before, 'the request itself is not changed');
  const { body } = encodeRequest(fitted.request, to, options);
  return { fitted, body: JSON.parse(JSON.stringify(body)) as Members };
}

/** A tool of each format. */
export function tool(
  format: 'chat' | 'messages' | 'responses',
  name: string,
  schema: Members = { type: 'object', properties: {} },
): Members {
  if (format === 'messages') return { name, input_schema: schema };
  const declared = { name, parameters: schema };
  return format === 'chat'
    ? { type: 'function', function: declared }
    : { type: 'function', ...declared };
}

/** A conversation in which a tool was called, as clients of Messages tell it. */
export function called(name: string, id: string): Members[] {
  return [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
  ];
}

/** The same of Chat. */
export function calledInChat(name: string, id: string): Members[] {
  return [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'ok' },
  ];
}

export const hi = [{ role: 'user', content: 'hi' }];
