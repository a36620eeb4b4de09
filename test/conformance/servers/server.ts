// Plays a row of the table: its first turn, then the end of the task, or a refusal of what it got
// back. It streams as it is asked to, or answers whole as servers do that know no streams.
import type { ServerResponse } from 'node:http';
import { mergeExtra } from '../../../media/model/extra.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import type { Members, Said, ServerRow } from './row.ts';

export interface PlayedServer extends ScriptedServer<'stream' | 'whole'> {
  /** The bodies that it got, in order. */
  bodies: Members[];
}

const head = { id: 'x', created: 1, model: 'scripted' };
const usage = { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 };

export async function startServer(row: ServerRow): Promise<PlayedServer> {
  const bodies: Members[] = [];
  const server = await startScriptedServer<'stream' | 'whole'>('stream', (way, exchange) => {
    const said = saidAt(row, exchange.request.url ?? '');
    if (said !== null) {
      say(exchange.response, said);
      return;
    }
    const body = JSON.parse(exchange.body.toString()) as Members;
    bodies.push(body);
    const messages = body.messages as Members[];
    const turns = messages.filter(({ role }) => role === 'assistant');
    const refusals = [row.refuses?.(body) ?? null, ...turns.map((turn) => row.wants(turn))];
    const refusal = refusals.find((one) => one !== null);
    if (refusal !== undefined && refusal !== null) refuse(exchange.response, row, refusal);
    else answer(exchange.response, way, row, body);
  });
  return Object.assign(server, { bodies });
}

/** What it says at this address, where that is none of its task's. */
function saidAt({ says = [] }: ServerRow, url: string): Said | null {
  const number = /^\/v1\/says-(\d+)\//.exec(url)?.[1];
  return number === undefined ? null : (says[Number(number)] ?? null);
}

function say(response: ServerResponse, { status, body }: Said): void {
  const isStream = typeof body === 'string';
  const type = isStream ? 'text/event-stream' : 'application/json';
  response.writeHead(status, { 'content-type': type });
  response.end(isStream ? body : JSON.stringify(body));
}

function refuse(response: ServerResponse, row: ServerRow, message: string): void {
  const usual = { error: { message, type: 'invalid_request_error', param: null, code: null } };
  response.writeHead(row.status ?? 400, { 'content-type': 'application/json' });
  response.end(JSON.stringify(row.error?.(message) ?? usual));
}

function answer(
  response: ServerResponse,
  way: 'stream' | 'whole',
  { deltas: first, end = {}, isUsageAsked }: ServerRow,
  { messages, stream_options: asked }: Members,
): void {
  const isOver = (messages as Members[]).at(-1)?.role === 'tool';
  const deltas = isOver ? [{ role: 'assistant', content: 'done' }] : first;
  const finish_reason = isOver ? 'stop' : 'tool_calls';
  const beside = { usage, ...end.chunk };
  if (way === 'whole') {
    const choices = [{ index: 0, message: joined(deltas), finish_reason, ...end.choice }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, ...beside }));
    return;
  }
  const chunk = (choice: Members, beside: Members = {}) => {
    const choices = [{ index: 0, finish_reason: null, ...choice }];
    const members = { ...head, object: 'chat.completion.chunk', choices, ...beside };
    return `data: ${JSON.stringify(members)}\n\n`;
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const told = deltas.map((delta) => chunk({ delta }));
  const last = { delta: {}, finish_reason, ...end.choice };
  const isAsked = (asked as Members | undefined)?.include_usage === true;
  const ends =
    isUsageAsked === true
      ? [chunk(last), ...(isAsked ? [chunk({}, { choices: [], ...beside })] : [])]
      : [chunk(last, beside)];
  response.end(`${[...told, ...ends].join('')}data: [DONE]\n\n`);
}

/** All deltas as the one message that they are parts of. */
function joined(deltas: readonly Members[]): Members {
  const message: Members = {};
  for (const delta of deltas) {
    for (const [name, value] of Object.entries(delta)) {
      const before = message[name];
      if (name === 'tool_calls') addCalls(message, (value ?? []) as Members[]);
      else if (name === 'content' && [before, value].some(Array.isArray)) {
        message.content = [...partsOf(before), ...partsOf(value)];
      } else if (typeof before === 'string' && typeof value === 'string') {
        message[name] = before + value;
      } else if (value !== null) mergeExtra(message, { [name]: value });
    }
  }
  return message;
}

/** Content as a list of parts; nothing is none. */
function partsOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content;
  return (content ?? '') === '' ? [] : [{ type: 'text', text: content }];
}

function addCalls(message: Members, fragments: readonly Members[]): void {
  message.tool_calls ??= [];
  const calls = message.tool_calls as Members[];
  for (const { index, ...call } of fragments) {
    const known = calls[Number(index)];
    const isOther = (call.id ?? known?.id) !== known?.id;
    if (known === undefined || isOther) {
      calls.push(structuredClone(call));
      continue;
    }
    const { arguments: text } = call.function as { arguments: string };
    (known.function as { arguments: string }).arguments += text;
  }
}
