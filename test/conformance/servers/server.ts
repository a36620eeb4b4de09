// Plays a row of the table: its first turn, then the end of the task, or a refusal of what it got
// back. It streams as it is asked to, or answers whole as servers do that know no streams.
import type { ServerResponse } from 'node:http';
import { mergeExtra } from '../../../media/model/extra.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import type { ServerRow } from './table.ts';

type Members = Record<string, unknown>;

export interface PlayedServer extends ScriptedServer<'stream' | 'whole'> {
  /** The bodies that it got, in order. */
  bodies: Members[];
}

const head = { id: 'x', created: 1, model: 'scripted' };
const usage = { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 };

export async function startServer(row: ServerRow): Promise<PlayedServer> {
  const bodies: Members[] = [];
  const server = await startScriptedServer<'stream' | 'whole'>('stream', (way, exchange) => {
    const body = JSON.parse(exchange.body.toString()) as Members;
    bodies.push(body);
    const messages = body.messages as Members[];
    const turns = messages.filter(({ role }) => role === 'assistant');
    const refusals = [row.refuses?.(body) ?? null, ...turns.map((turn) => row.wants(turn))];
    const refusal = refusals.find((one) => one !== null);
    if (refusal !== undefined && refusal !== null) refuse(exchange.response, row, refusal);
    else if (messages.at(-1)?.role !== 'tool') answer(exchange.response, way, row.deltas, true);
    else answer(exchange.response, way, [{ role: 'assistant', content: 'done' }], false);
  });
  return Object.assign(server, { bodies });
}

function refuse(response: ServerResponse, row: ServerRow, message: string): void {
  const usual = { error: { message, type: 'invalid_request_error', param: null, code: null } };
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify(row.error?.(message) ?? usual));
}

function answer(
  response: ServerResponse,
  way: 'stream' | 'whole',
  deltas: readonly Members[],
  calls: boolean,
): void {
  const finish_reason = calls ? 'tool_calls' : 'stop';
  if (way === 'whole') {
    const choices = [{ index: 0, message: joined(deltas), finish_reason }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
    return;
  }
  const chunk = (choice: Members, beside: Members = {}) => {
    const choices = [{ index: 0, finish_reason: null, ...choice }];
    const members = { ...head, object: 'chat.completion.chunk', choices, ...beside };
    return `data: ${JSON.stringify(members)}\n\n`;
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const told = deltas.map((delta) => chunk({ delta }));
  const end = chunk({ delta: {}, finish_reason }, { usage });
  response.end(`${told.join('')}${end}data: [DONE]\n\n`);
}

/** All deltas as the one message that they are parts of. */
function joined(deltas: readonly Members[]): Members {
  const message: Members = {};
  for (const delta of deltas) {
    for (const [name, value] of Object.entries(delta)) {
      const before = message[name];
      if (name === 'tool_calls') addCalls(message, value as Members[]);
      else if (typeof before === 'string' && typeof value === 'string') {
        message[name] = before + value;
      } else if (value !== null) mergeExtra(message, { [name]: value });
    }
  }
  return message;
}

function addCalls(message: Members, fragments: readonly Members[]): void {
  message.tool_calls ??= [];
  const calls = message.tool_calls as Members[];
  for (const { index, ...call } of fragments) {
    const known = calls[Number(index)];
    if (known === undefined) {
      calls.push(structuredClone(call));
      continue;
    }
    const { arguments: text } = call.function as { arguments: string };
    (known.function as { arguments: string }).arguments += text;
  }
}
