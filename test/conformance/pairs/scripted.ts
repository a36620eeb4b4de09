// An upstream that writes two tool calls in turns, fragment by fragment, as the simulator never
// does: some words, then the calls, in the two formats in which that can happen.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Members } from './ask.ts';

export const scriptedText = 'I look. ';
export const scriptedCalls = [
  { name: 'find', arguments: '{"city":"Zürich","list":[1,{"x":null}]}' },
  { name: 'list', arguments: '{"all":true}' },
] as const;

export interface ScriptedUpstream {
  url: string;
  close(): Promise<void>;
}

/** Serves /chat/completions and /responses below its URL. */
export async function startScripted(): Promise<ScriptedUpstream> {
  const server: Server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(request.url?.endsWith('/responses') === true ? responsesBody() : chatBody());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** Fragments of five characters, one call after the other in turns. */
function fragments(): { index: number; text: string }[] {
  const pieces = scriptedCalls.map((call) => call.arguments.match(/.{1,5}/gsu) ?? []);
  const count = Math.max(...pieces.map((list) => list.length));
  return Array.from({ length: count }).flatMap((_, at) =>
    pieces.flatMap((list, index) => (list[at] === undefined ? [] : { index, text: list[at] })),
  );
}

function chatBody(): string {
  const chunk = (delta: Members, finish: string | null = null, more: Members = {}) => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const head = { id: 'x', object: 'chat.completion.chunk' };
    return `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`;
  };
  const called = (index: number, members: Members) =>
    chunk({ tool_calls: [{ index, ...members }] });
  return [
    chunk({ role: 'assistant', content: scriptedText }),
    ...scriptedCalls.map(({ name }, index) =>
      called(index, { id: `call_${index}`, type: 'function', function: { name, arguments: '' } }),
    ),
    ...fragments().map(({ index, text }) => called(index, { function: { arguments: text } })),
    chunk({}, 'tool_calls', { usage: { prompt_tokens: 7, completion_tokens: 9 } }),
    'data: [DONE]\n\n',
  ].join('');
}

function responsesBody(): string {
  let sequence = 0;
  const event = (type: string, members: Members) => {
    const data = JSON.stringify({ type, sequence_number: sequence, ...members });
    sequence += 1;
    return `event: ${type}\ndata: ${data}\n\n`;
  };
  const content = [{ type: 'output_text', text: scriptedText, annotations: [] }];
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  const calls = scriptedCalls.map((call, index) => ({
    type: 'function_call',
    id: `fc_${index}`,
    call_id: `call_${index}`,
    status: 'completed',
    ...call,
  }));
  const response = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] };
  const usage = { input_tokens: 7, output_tokens: 9, total_tokens: 16 };
  const output = [message, ...calls];
  const done = { ...response, status: 'completed', output, usage };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  return [
    event('response.created', { response }),
    event('response.output_item.added', { output_index: 0, item: { ...message, content: [] } }),
    event('response.content_part.added', { ...place, part: { ...content[0], text: '' } }),
    event('response.output_text.delta', { ...place, delta: scriptedText }),
    event('response.output_text.done', { ...place, text: scriptedText }),
    event('response.content_part.done', { ...place, part: content[0] }),
    event('response.output_item.done', { output_index: 0, item: message }),
    ...calls.map((item, index) =>
      event('response.output_item.added', {
        output_index: index + 1,
        item: { ...item, status: 'in_progress', arguments: '' },
      }),
    ),
    ...fragments().map(({ index, text }) =>
      event('response.function_call_arguments.delta', {
        item_id: `fc_${index}`,
        output_index: index + 1,
        delta: text,
      }),
    ),
    ...calls.flatMap((item, index) => [
      event('response.function_call_arguments.done', {
        item_id: item.id,
        output_index: index + 1,
        arguments: item.arguments,
      }),
      event('response.output_item.done', { output_index: index + 1, item }),
    ]),
    event('response.completed', { response: done }),
  ].join('');
}
