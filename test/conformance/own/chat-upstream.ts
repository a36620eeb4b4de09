// A Chat Completions provider that answers with the fixture that is named in the request, whole or
// streamed, over a real socket.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ChatFixture, chatFixtures, type Members } from './chat-fixtures.ts';
import type { OwnUpstream } from './upstream.ts';

export async function startChatUpstream(): Promise<OwnUpstream> {
  let last = '{}';
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
      const named = chatFixtures.filter(({ name }) => last.includes(JSON.stringify(name)));
      const wanted = named.at(-1);
      const streamed = (JSON.parse(last) as Members).stream === true;
      const type = streamed ? 'text/event-stream' : 'application/json';
      response.writeHead(wanted === undefined ? 404 : 200, { 'content-type': type });
      if (wanted === undefined) response.end('');
      else response.end(streamed ? chunksOf(wanted) : JSON.stringify(wholeOf(wanted)));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    lastBody: () => JSON.parse(last) as Members,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

const head = { id: 'chatcmpl-upstream', created: 1, model: 'own-upstream' };
const usage = { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 };

function wholeOf({ choice }: ChatFixture): Members {
  return { ...head, object: 'chat.completion', choices: [choice], usage };
}

function chunksOf({ choice, deltas, beside = [] }: ChatFixture): string {
  const chunk = (members: Members) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...members })}\n\n`;
  const choices = [
    { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
    ...deltas.map((delta, at) => ({ index: 0, delta, ...beside[at], finish_reason: null })),
    { index: 0, delta: {}, finish_reason: choice.finish_reason },
  ];
  return [
    ...choices.map((one) => chunk({ choices: [one] })),
    chunk({ choices: [], usage }),
    'data: [DONE]\n\n',
  ].join('');
}
