// One long conversation as a request body of each format: about 200,000 tokens of a coding session,
// which the context optimizer finds something to do in.
import type { Message } from '../media/model/request.ts';
import type { Format } from './formats.ts';
import { conversationOf } from './optimizer/sessions.ts';

export const PROMPT_BYTES = 1_000_000;

/** A session of at least so many bytes of text. */
export function longConversation(bytesMin: number = PROMPT_BYTES): Message[] {
  for (let turns = 40; ; turns = Math.ceil(turns * 1.1)) {
    const { messages } = conversationOf('coding', 'fr', 11, turns);
    const bytes = messages.reduce((sum, message) => sum + Buffer.byteLength(textOf(message)), 0);
    if (bytes >= bytesMin) return messages;
  }
}

/** The body of a streamed request; `orders` go to the simulator in a last user turn. */
export function longBody(
  format: Format,
  model: string,
  messages: readonly Message[],
  orders: string,
): string {
  const last: Message = {
    role: 'user',
    parts: [{ type: 'text', text: `[[sim ${orders}]] What was the first file about — and why?` }],
    toolCalls: [],
    toolCallId: null,
  };
  const all = [...messages, last];
  switch (format) {
    case 'chat':
      return JSON.stringify({ model, stream: true, messages: all.map(chatMessage) });
    case 'responses': {
      const input = all.flatMap(responsesItems);
      return JSON.stringify({ model, stream: true, store: false, input });
    }
    case 'messages': {
      const [system, ...turns] = all;
      return JSON.stringify({
        model,
        stream: true,
        max_tokens: 1_024,
        system: system === undefined ? '' : textOf(system),
        messages: turns.map(messagesTurn),
      });
    }
  }
}

function textOf(message: Message): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function chatMessage(message: Message): object {
  const { role, toolCalls, toolCallId } = message;
  if (role === 'tool') return { role, content: textOf(message), tool_call_id: toolCallId };
  if (toolCalls.length === 0) return { role, content: textOf(message) };
  const tool_calls = toolCalls.map(({ id, name, arguments: text }) => {
    return { id, type: 'function', function: { name, arguments: text } };
  });
  return { role, content: null, tool_calls };
}

function responsesItems(message: Message): object[] {
  const { role, toolCalls, toolCallId } = message;
  if (role === 'tool') {
    return [{ type: 'function_call_output', call_id: toolCallId, output: textOf(message) }];
  }
  const text = textOf(message);
  return [
    ...(text === '' ? [] : [{ role, content: text }]),
    ...toolCalls.map(({ id, name, arguments: written }) => {
      return { type: 'function_call', call_id: id, name, arguments: written };
    }),
  ];
}

function messagesTurn(message: Message): object {
  const { role, toolCalls, toolCallId } = message;
  if (role === 'tool') {
    const block = { type: 'tool_result', tool_use_id: toolCallId, content: textOf(message) };
    return { role: 'user', content: [block] };
  }
  if (toolCalls.length === 0) return { role, content: textOf(message) };
  const content = toolCalls.map(({ id, name, arguments: text }) => {
    return { type: 'tool_use', id, name, input: JSON.parse(text) as object };
  });
  return { role, content };
}
