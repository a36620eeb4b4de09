// A provider of the Chat Completions format that fails as a test wants, and says when. The
// simulator does what the request asks for; here it is the provider that differs.
import type { ServerResponse } from 'node:http';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

export type Behaviour =
  | { kind: 'answer'; text: string }
  | { kind: 'status'; status: number; retryAfter?: string }
  | { kind: 'garbage' | 'hangUp' | 'cutBeforeDelta' | 'cutAfterDelta' | 'stall' | 'stallInStream' };

export interface ScriptedProvider extends ScriptedServer<Behaviour> {
  /** `performance.now()` of each request's arrival, and of the moment it was failed. */
  arrivedAt: number[];
  failedAt: number[];
  bodies: Record<string, unknown>[];
}

export async function startProvider(behaviour: Behaviour): Promise<ScriptedProvider> {
  const seen: Pick<ScriptedProvider, 'arrivedAt' | 'failedAt' | 'bodies'> = {
    arrivedAt: [],
    failedAt: [],
    bodies: [],
  };
  const scripted = await startScriptedServer(behaviour, (wanted, { body, response }) => {
    seen.arrivedAt.push(performance.now());
    seen.bodies.push(JSON.parse(body.toString()) as Record<string, unknown>);
    respond(wanted, response, () => void seen.failedAt.push(performance.now()));
  });
  return Object.assign(scripted, seen);
}

const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'scripted' };

function chunk(delta: Record<string, unknown>, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...head, choices })}\n\n`;
}

const begin = chunk({ role: 'assistant', content: '' });
const sse = { 'content-type': 'text/event-stream' };

function respond(behaviour: Behaviour, response: ServerResponse, failed: () => void): void {
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
