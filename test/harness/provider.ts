// A provider of the Chat Completions format that fails as a test wants, and says when. The
// simulator does what the request asks for; here it is the provider that differs.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Behaviour =
  | { kind: 'answer'; text: string }
  | { kind: 'status'; status: number; retryAfter?: string }
  | { kind: 'garbage' | 'hangUp' | 'cutBeforeDelta' | 'cutAfterDelta' | 'stall' | 'stallInStream' };

export interface ScriptedProvider {
  /** With the version prefix. */
  url: string;
  behaviour: Behaviour;
  /** For the next requests, before `behaviour`. */
  first: Behaviour[];
  /** `performance.now()` of each request's arrival, and of the moment it was failed. */
  arrivedAt: number[];
  failedAt: number[];
  bodies: Record<string, unknown>[];
  close(): void;
}

export async function startProvider(behaviour: Behaviour): Promise<ScriptedProvider> {
  const server = createServer((request, response) => {
    // Health probes ask for the model: they are no calls.
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      provider.arrivedAt.push(performance.now());
      provider.bodies.push(JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>);
      respond(provider, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const provider: ScriptedProvider = {
    url: `http://127.0.0.1:${port}/v1`,
    behaviour,
    first: [],
    arrivedAt: [],
    failedAt: [],
    bodies: [],
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return provider;
}

const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'scripted' };

function chunk(delta: Record<string, unknown>, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...head, choices })}\n\n`;
}

const begin = chunk({ role: 'assistant', content: '' });
const sse = { 'content-type': 'text/event-stream' };

function respond(provider: ScriptedProvider, response: ServerResponse): void {
  const behaviour = provider.first.shift() ?? provider.behaviour;
  const failed = () => void provider.failedAt.push(performance.now());
  switch (behaviour.kind) {
    case 'answer': {
      const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };
      const last = `data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`;
      response.writeHead(200, sse);
      response.end(
        `${begin}${chunk({ content: behaviour.text })}${chunk({}, 'stop')}${last}data: [DONE]\n\n`,
      );
      return;
    }
    case 'status': {
      const { status, retryAfter } = behaviour;
      const headers = { 'content-type': 'application/json' };
      response.writeHead(
        status,
        retryAfter === undefined ? headers : { ...headers, 'retry-after': retryAfter },
      );
      response.end(JSON.stringify({ error: { message: 'secret words of the provider' } }), failed);
      return;
    }
    case 'garbage':
      response.writeHead(200, sse);
      response.end('data: <html>not json</html>\n\n', failed);
      return;
    case 'hangUp':
      failed();
      response.destroy();
      return;
    case 'cutBeforeDelta':
    case 'cutAfterDelta':
      response.writeHead(200, sse);
      response.write(behaviour.kind === 'cutAfterDelta' ? begin + chunk({ content: 'a' }) : begin);
      setTimeout(() => {
        failed();
        response.destroy();
      }, 20);
      return;
    case 'stallInStream':
      response.writeHead(200, sse);
      response.write(begin);
      return;
    case 'stall':
  }
}
