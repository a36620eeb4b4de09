// A server that is as strict as the strictest of each family: it refuses what they are known to
// refuse, and notes it. What it takes it answers with one word.
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';

export type Members = Record<string, unknown>;
export type Family = 'chat' | 'responses' | 'messages' | 'gemini';

/** Models of the vendors: their names say what they refuse. */
export const upstreamModels: Readonly<Record<Family, string>> = {
  chat: 'gpt-5',
  responses: 'gpt-5',
  messages: 'claude-opus-4-7',
  gemini: 'gemini-2.5-pro',
};

export interface StrictServer extends ScriptedServer<null> {
  /** What it took last. */
  lastBody: Members;
}

export async function startStrictServer(): Promise<StrictServer> {
  const server = await startScriptedServer(null, (_behaviour, { request, body, response }) => {
    const family = familyOf(request.url ?? '');
    const told = JSON.parse(body.toString()) as Members;
    const faults = rules[family](told);
    if (faults.length > 0) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: faults.join('; ') } }));
      // The client is not told the provider's words: the test is.
      strict.lastBody = { faults };
      return;
    }
    strict.lastBody = told;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(answers[family]());
  });
  const strict: StrictServer = Object.assign(server, { lastBody: {} });
  return strict;
}

function familyOf(url: string): Family {
  if (url.includes('/chat/completions')) return 'chat';
  if (url.includes('/responses')) return 'responses';
  return url.includes('/messages') ? 'messages' : 'gemini';
}

const rules: Readonly<Record<Family, (body: Members) => string[]>> = {
  chat: (body) => [
    ...chatTurnFaults(listOf(body.messages)),
    ...namesOf(listOf(body.tools), ({ function: declared }) => declared).flatMap(openaiFaults),
    ...refusedMembers(body, ['max_tokens', 'temperature', 'top_p', 'presence_penalty', 'top_k']),
    ...(body.max_completion_tokens === 100 ? [] : ['the ceiling is missing']),
    ...mediaFaults(body),
  ],
  responses: (body) => [
    ...responsesTurnFaults(listOf(body.input)),
    ...namesOf(listOf(body.tools), (tool) => tool).flatMap(openaiFaults),
    ...refusedMembers(body, ['max_tokens', 'temperature', 'top_p', 'presence_penalty', 'top_k']),
    ...(body.max_output_tokens === 100 ? [] : ['the ceiling is missing']),
    ...mediaFaults(body),
  ],
  messages: (body) => [
    ...messagesTurnFaults(listOf(body.messages)),
    ...namesOf(listOf(body.tools), (tool) => tool).flatMap((tool) => [
      ...faultsIf(!/^[a-zA-Z0-9_-]{1,128}$/.test(String(tool.name)), 'the name of a tool'),
      ...rootFaults(tool.input_schema),
      ...faultsIf(
        !Object.keys(Object(Object(tool.input_schema).properties)).every((name) =>
          /^[a-zA-Z0-9_.-]{1,64}$/.test(name),
        ),
        'the name of an argument',
      ),
    ]),
    ...refusedMembers(body, ['temperature', 'top_p', 'presence_penalty', 'top_k']),
    ...(body.max_tokens === 100 ? [] : ['the ceiling is missing']),
    ...mediaFaults(body),
  ],
  gemini: (body) => {
    const settings: Members = Object(body.generationConfig);
    const declared = listOf(body.tools).flatMap(({ functionDeclarations }) =>
      listOf(functionDeclarations),
    );
    const roles = listOf(body.contents).map(({ role }) => role);
    return [
      ...faultsIf(!roles.every((role) => role === 'user' || role === 'model'), 'a role'),
      ...declared.flatMap((tool) => [
        ...faultsIf(!/^[A-Za-z_][\w.:-]{0,63}$/.test(String(tool.name)), 'the name of a tool'),
        ...faultsIf(/"(\$ref|\$defs|const|allOf|exclusiveMinimum)":/.test(text(tool)), 'a keyword'),
        ...schemaFaults(tool.parametersJsonSchema ?? tool.parameters),
      ]),
      ...refusedMembers(settings, ['presencePenalty', 'frequencyPenalty']),
      ...faultsIf(settings.maxOutputTokens !== 100, 'the ceiling is missing'),
      ...mediaFaults(body),
    ];
  },
};

function chatTurnFaults(turns: readonly Members[]): string[] {
  const calls = turns.flatMap((turn) => listOf(turn.tool_calls)).map(({ id }) => id);
  const results = turns.filter(({ role }) => role === 'tool').map((turn) => turn.tool_call_id);
  return [
    ...faultsIf(
      !turns.every(({ role }) => /^(system|user|assistant|tool)$/.test(String(role))),
      'a role',
    ),
    ...faultsIf(
      turns.slice(1).some(({ role }) => role === 'system'),
      'a system message between',
    ),
    ...idFaults(calls, results, /^.{1,40}$/),
  ];
}

function responsesTurnFaults(items: readonly Members[]): string[] {
  const of = (type: string) => items.filter((item) => item.type === type);
  const instructs = ({ role }: Members) => role === 'system' || role === 'developer';
  return [
    ...faultsIf(items.slice(1).some(instructs), 'a system message between'),
    ...idFaults(
      of('function_call').map((item) => item.call_id),
      of('function_call_output').map((item) => item.call_id),
      /^.{1,64}$/,
    ),
  ];
}

function messagesTurnFaults(turns: readonly Members[]): string[] {
  const blocks = turns.flatMap(({ content }) => listOf(content));
  return [
    ...faultsIf(!turns.every(({ role }) => /^(user|assistant)$/.test(String(role))), 'a role'),
    ...idFaults(
      blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id),
      blocks.filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id),
      /^[a-zA-Z0-9_-]{1,64}$/,
    ),
  ];
}

function idFaults(calls: readonly unknown[], results: readonly unknown[], taken: RegExp): string[] {
  return [
    ...faultsIf(calls.length === 0, 'no call'),
    ...faultsIf(!calls.every((id) => taken.test(String(id))), 'the id of a call'),
    ...faultsIf(text(calls) !== text(results), 'a result without its call'),
  ];
}

function openaiFaults(tool: Members): string[] {
  return [
    ...faultsIf(!/^[a-zA-Z0-9_-]{1,64}$/.test(String(tool.name)), 'the name of a tool'),
    ...rootFaults(tool.parameters),
    ...schemaFaults(tool.parameters),
  ];
}

function rootFaults(schema: unknown): string[] {
  const root: Members = Object(schema);
  const combined = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'not'].filter(
    (name) => name in root,
  );
  return [...faultsIf(root.type !== 'object', 'no object'), ...combined];
}

/** A look ahead compiles nowhere but in JavaScript and Python; the servers here have neither. */
function schemaFaults(schema: unknown): string[] {
  const written = text(schema ?? null);
  return [
    ...faultsIf(/"pattern":"[^"]*\(\?!/.test(written), 'a pattern'),
    ...faultsIf(/\{"type":"array"\}/.test(written), 'a list of nothing'),
  ];
}

/** The picture is one of PNG, whatever the client calls it. */
function mediaFaults(body: Members): string[] {
  const written = text(body);
  return [
    ...faultsIf(!written.includes('image/png'), 'no picture'),
    ...faultsIf(written.includes('image/jpeg'), 'the type of a picture'),
    ...faultsIf(!written.includes('Be brief.'), 'what was said between turns'),
  ];
}

function refusedMembers(body: Members, names: readonly string[]): string[] {
  return names.filter((name) => (body[name] ?? null) !== null);
}

function namesOf(tools: readonly Members[], inner: (tool: Members) => unknown): Members[] {
  return tools.map((tool) => Object(inner(tool)) as Members);
}

function faultsIf(isFault: boolean, what: string): string[] {
  return isFault ? [what] : [];
}

function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? (value as Members[]) : [];
}

function text(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

const answers: Readonly<Record<Family, () => string>> = {
  chat: () => {
    const choice = { index: 0, delta: { role: 'assistant', content: 'done' } };
    const end = { index: 0, delta: {}, finish_reason: 'stop' };
    const usage = { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 };
    const chunks = [{ id: 'x', choices: [choice] }, { id: 'x', choices: [end], usage }, '[DONE]'];
    return chunks.map(data).join('');
  },
  responses: () => {
    const content = [{ type: 'output_text', text: 'done', annotations: [] }];
    const message = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content,
    };
    const usage = { input_tokens: 7, output_tokens: 1, total_tokens: 8 };
    const response = { id: 'r', object: 'response', status: 'completed', output: [message], usage };
    return data({ type: 'response.completed', response });
  },
  messages: () =>
    [
      { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 7 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'done' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]
      .map(data)
      .join(''),
  gemini: () => {
    const content = { role: 'model', parts: [{ text: 'done' }] };
    const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 1, totalTokenCount: 8 };
    return data({ candidates: [{ content, finishReason: 'STOP' }], usageMetadata });
  },
};

function data(event: unknown): string {
  return `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
}
