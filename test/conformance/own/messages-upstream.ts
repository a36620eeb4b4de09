// A Messages provider that answers with the fixture that is named in the request, whole or streamed
// as its vendor would stream it, over a real socket.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messagesFixtures } from './messages-fixtures.ts';
import type { Message, MessagesFixture } from './messages-pieces.ts';
import type { OwnUpstream } from './upstream.ts';

type Members = Record<string, unknown>;

export interface MessagesUpstream extends OwnUpstream {
  /** One more event of the answer that comes event by event. */
  goOn(): void;
}

/** In a request: its answer comes event by event, each when it is told to. */
export const slowly = 'event by event';

export async function startMessagesUpstream(): Promise<MessagesUpstream> {
  let last = '{}';
  let waiting = () => {};
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      // Whoever only looks whether it is there sends nothing.
      if (pieces.length === 0) {
        response.writeHead(404).end();
        return;
      }
      last = Buffer.concat(pieces).toString();
      const named = messagesFixtures.filter(({ name }) => last.includes(JSON.stringify(name)));
      const wanted = named.at(-1);
      const streamed = (JSON.parse(last) as Members).stream === true;
      const type = streamed ? 'text/event-stream' : 'application/json';
      response.writeHead(wanted === undefined ? 404 : 200, { 'content-type': type });
      if (wanted === undefined) response.end('');
      else if (!streamed) response.end(JSON.stringify(wanted.message));
      else if (!last.includes(slowly)) response.end(messageStreamOf(wanted));
      else waiting = pace(messageStreamOf(wanted), response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    goOn: () => waiting(),
    lastBody: () => JSON.parse(last) as Members,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

function pace(stream: string, response: ServerResponse): () => void {
  const events = stream.split(/(?<=\n\n)/);
  const next = () => {
    response.write(events.shift() ?? '');
    if (events.length === 0) response.end();
  };
  // The message begins at once.
  next();
  return next;
}

/** The events of one answer. */
export function messageEventsOf({ message }: Pick<MessagesFixture, 'message'>): Members[] {
  const { stop_reason, stop_sequence, stop_details, container, usage } = message;
  const begun = {
    ...message,
    content: [],
    container: null,
    context_management: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: {
      ...usage,
      output_tokens: 1,
      output_tokens_details: null,
      server_tool_use: null,
      iterations: null,
    },
  };
  const { cache_creation: _known, inference_geo: _geo, service_tier: _tier, ...told } = usage;
  const { speed: _speed, ...end } = told;
  return [
    { type: 'message_start', message: begun },
    { type: 'ping' },
    ...message.content.flatMap((block, index) => blockEvents(block, index)),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, stop_details, container },
      usage: end,
      context_management: message.context_management,
    },
    { type: 'message_stop' },
  ];
}

/** The whole body of one answer. */
export function messageStreamOf(fixture: Pick<MessagesFixture, 'message'>): string {
  return messageEventsOf(fixture)
    .map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

function blockEvents(block: Message['content'][number], index: number): Members[] {
  const { start, deltas } = streamed(block);
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** A block as it begins, and its deltas: strings come in two. */
function streamed(block: Message['content'][number]): { start: Members; deltas: Members[] } {
  switch (block.type) {
    case 'text': {
      const cited = (block.citations ?? []).map((citation) => ({
        type: 'citations_delta',
        citation,
      }));
      const words = halves(block.text).map((text) => ({ type: 'text_delta', text }));
      return { start: { ...block, text: '', ...cut(block) }, deltas: [...cited, ...words] };
    }
    case 'thinking': {
      const { thinking, signature } = block;
      const words = halves(thinking).map((half) => ({ type: 'thinking_delta', thinking: half }));
      const start = { ...block, thinking: '', signature: '' };
      return { start, deltas: [...words, { type: 'signature_delta', signature }] };
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const input = JSON.stringify(block.input);
      const pieces = input === '{}' ? [''] : ['', ...halves(input)];
      const deltas = pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
      return { start: { ...block, input: {} }, deltas };
    }
    case 'compaction': {
      const { content, encrypted_content } = block;
      const start = { ...block, content: null, encrypted_content: null };
      return { start, deltas: [{ type: 'compaction_delta', content, encrypted_content }] };
    }
    default:
      return { start: { ...block }, deltas: [] };
  }
}

function cut({ citations }: { citations?: unknown[] | null }): Members {
  return citations === undefined ? {} : { citations: [] };
}

function halves(text: string): string[] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)].filter((part) => part !== '');
}
