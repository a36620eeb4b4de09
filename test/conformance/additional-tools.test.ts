// The official client declares tools in an item of its input, as a coding agent does with all of
// its own. A model of each family calls them, by the client's own names.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInput,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { openAi } from './client.ts';

let bed: Testbed;
let account: TestAccount;
let client: OpenAI;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
  client = openAi(account);
});
after(() => bed?.close());

const script = 'text(await tools.exec_command({ cmd: "ls" }));\n';
const exec = { type: 'custom' as const, name: 'exec', description: 'Runs a script.' };
const list = {
  type: 'function' as const,
  name: 'list',
  description: 'Lists agents.',
  strict: false,
  parameters: { type: 'object', properties: { prefix: { type: 'string' } } },
};
const declared: ResponseInputItem = {
  type: 'additional_tools',
  role: 'developer',
  tools: [
    { type: 'namespace', name: 'functions', description: '', tools: [exec] },
    { type: 'namespace', name: 'agents', description: 'Agents.', tools: [list] },
    // Offered, and left out where a model has none.
    { type: 'web_search' },
  ],
};
const told: ResponseInputItem = { role: 'developer', content: 'Work in small steps.' };
const families = ['responses', 'chat', 'messages', 'gemini'] as const;
type Family = (typeof families)[number];

/** A model is called what it was told: its own format has namespaces, and text as it is. */
function question(family: Family): ResponseInputItem {
  const isOwn = family === 'responses';
  const write = (name: string, text: string) =>
    `${name}:${Buffer.from(text).toString('base64url')}`;
  const run = isOwn
    ? write('exec', script)
    : write('functions__exec', JSON.stringify({ input: script }));
  const look = write(isOwn ? 'list' : 'agents__list', '{"prefix":"/"}');
  return { role: 'user', content: `[[sim call=${run} call=${look} text=all_done]]` };
}

function ask(family: Family): ResponseCreateParamsNonStreaming {
  return { model: `svc-sim-${family}`, input: [declared, told, question(family)] };
}

/** The first call of an answer, by its own names; null: none. */
function calledIn({ output }: Response) {
  for (const item of output) {
    if (item.type === 'custom_tool_call') return { ...item, text: item.input };
    if (item.type === 'function_call') return { ...item, text: item.arguments };
  }
  return null;
}

function namesIn(response: Response) {
  const call = calledIn(response);
  return [call?.type, call?.namespace, call?.name, call?.text];
}

const first = ['custom_tool_call', 'functions', 'exec', script];
const second = ['function_call', 'agents', 'list', '{"prefix":"/"}'];

/** The call and what came of it, as a client sends them back. */
function answered(response: Response, output: string): ResponseInput {
  const call = calledIn(response);
  assert.ok(call !== null);
  const { call_id } = call;
  const type =
    call.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output';
  return [...(response.output as ResponseInput), { type, call_id, output }];
}

for (const family of families) {
  test(`they are called by both names, streamed and whole, turn by turn (${family})`, async () => {
    const body = ask(family);
    const begun = await client.responses.create(body);
    assert.deepEqual(namesIn(begun), first);
    const stream = client.responses.stream({ ...body, stream: true });
    assert.deepEqual(namesIn(await stream.finalResponse()), first);
    assert.deepEqual(namesIn(await client.responses.retrieve(begun.id)), first, 'read again');
    const input = [...(body.input as ResponseInput), ...answered(begun, 'one.txt')];
    const next = await client.responses.create({ ...body, input });
    assert.deepEqual(namesIn(next), second);
    const last = await client.responses.create({
      ...body,
      input: [...input, ...answered(next, 'nobody')],
    });
    assert.equal(last.output_text, 'all done');
    const sent = JSON.stringify(await bed.simulator.lastBody());
    assert.match(sent, /one\.txt.*nobody/);
    if (family !== 'responses') assert.doesNotMatch(sent, /additional_tools/);
  });

  test(`they are there in a conversation that is continued (${family})`, async () => {
    const begun = await client.responses.create(ask(family));
    const next = await client.responses.create({
      model: `svc-sim-${family}`,
      input: answered(begun, 'one.txt').slice(-1),
      previous_response_id: begun.id,
    });
    assert.deepEqual(namesIn(next), second);
    assert.deepEqual(namesIn(await client.responses.retrieve(next.id)), second, 'read again');
  });
}

test('the provider is told them once, in front of nothing that is empty', async () => {
  const twice = { ...list, description: 'Lists all agents.' };
  const inside = { type: 'namespace' as const, name: 'agents', description: '', tools: [twice] };
  const more: ResponseInputItem = { type: 'additional_tools', role: 'developer', tools: [inside] };
  const input = [declared, told, more, question('chat')];
  await client.responses.create({ model: 'svc-sim-chat', input });
  const sent = await bed.simulator.lastBody();
  const functions = (sent.tools as { function: OpenAI.FunctionDefinition }[]).map(
    (tool) => tool.function,
  );
  const said = functions.map(({ name, description }) => [name, description?.split('\n')[0]]);
  assert.deepEqual(said, [
    ['functions__exec', 'Runs a script.'],
    ['agents__list', 'Lists all agents.'],
  ]);
  const roles = (sent.messages as { role: string }[]).map(({ role }) => role);
  assert.deepEqual(roles, ['system', 'user']);
});

test('a list of allowed tools holds for them', async () => {
  const choice = {
    type: 'allowed_tools' as const,
    mode: 'auto' as const,
    tools: [{ type: 'function', namespace: 'agents', name: 'list' }],
  };
  const begun = await client.responses.create({ ...ask('chat'), tool_choice: choice });
  assert.deepEqual(namesIn(begun), second);
});
