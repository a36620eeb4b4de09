// What a server says of its turn comes back to it, whichever format its client speaks. Official
// clients do a task in two turns at every server of the table, which refuses what it did not want.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { ResponseInput } from 'openai/resources/responses/responses';
import type { TestAccount } from '../../harness/account.ts';
import { sampled } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { anthropic } from '../anthropic-client.ts';
import { openAi } from '../client.ts';
import { simulatedPrices } from '../pairs/play.ts';
import type { Said, ServerRow } from './row.ts';
import { type PlayedServer, startServer } from './server.ts';
import { servers } from './table.ts';

// slow: It plays each server to each client, streamed and whole, in two turns.

type Members = Record<string, unknown>;

let bed: Testbed;
let account: TestAccount;
let other: TestAccount;
let played: PlayedServer[];
before(async () => {
  played = await Promise.all(servers.map(startServer));
  const model = (alias: string, provider: string, upstream_model = 'thinker') => ({
    alias,
    routes: [{ provider, upstream_model }],
    price: simulatedPrices,
    capabilities: ['chat', 'tools', 'reasoning'],
  });
  const provider = (name: string, base_url: string, row: ServerRow | undefined) => ({
    name,
    family: 'openai-chat',
    base_url,
    simulated: true,
    quirks: row?.quirks ?? {},
  });
  bed = await openTestbed({
    catalog: {
      providers: played.flatMap(({ url }, index) => [
        provider(`server-${index}`, url, servers[index]),
        ...saidBy(index).map((_, number) =>
          provider(`says-${index}-${number}`, `${url}/says-${number}`, servers[index]),
        ),
      ]),
      models: [
        ...servers.flatMap((row, index) => [
          model(`server-${index}`, `server-${index}`, row.model),
          ...saidBy(index).map((_, number) =>
            model(`says-${index}-${number}`, `says-${index}-${number}`, row.model),
          ),
        ]),
        model('another-model', 'server-0', 'other'),
      ],
    },
  });
  account = await bed.account();
  other = await bed.account();
});
after(async () => {
  await bed?.close();
  for (const server of played ?? []) server.close();
});

function saidBy(index: number): readonly Said[] {
  return servers[index]?.says ?? [];
}

interface Rival {
  /** The alias of the second turn. */
  model: string;
  by: TestAccount;
}

/** One client's way to do the task; what its last turn says, and what it saw of the thoughts. */
type Way = (model: string, last?: Rival) => Promise<{ text: string; shown: string }>;

const question = { role: 'user' as const, content: 'Look around.' };
const parameters = { type: 'object' as const, properties: { at: { type: 'string' } } };
const seen = 'a boat';

const messagesWay =
  (stream: boolean): Way =>
  async (model, last = { model, by: account }) => {
    const tools = [{ name: 'look', input_schema: parameters }];
    const ask = async (alias: string, by: TestAccount, messages: Anthropic.MessageParam[]) => {
      const body = { model: alias, max_tokens: 2_000, messages, tools };
      const { messages: route } = anthropic(by);
      return stream ? await route.stream(body).finalMessage() : await route.create(body);
    };
    const { content } = await ask(model, account, [question]);
    const results = content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: seen }]
        : [],
    );
    const turn = { role: 'assistant' as const, content };
    const end = await ask(last.model, last.by, [
      question,
      turn,
      { role: 'user', content: results },
    ]);
    return {
      text: end.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      shown: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    };
  };

const responsesWay =
  (stream: boolean, kept: 'by the client' | 'by nobody' | 'by name' | 'here'): Way =>
  async (model, last = { model, by: account }) => {
    const tools = [{ type: 'function' as const, name: 'look', parameters, strict: false }];
    // Without a seal its reasoning is known by the id alone.
    const sealed = {
      ...(kept === 'by the client' ? { include: ['reasoning.encrypted_content' as const] } : {}),
      ...(kept === 'by the client' || kept === 'by nobody' ? { store: false } : {}),
    };
    const ask = async (
      alias: string,
      by: TestAccount,
      input: ResponseInput,
      beside: { previous_response_id?: string } = {},
    ) => {
      const body = { model: alias, input, tools, ...sealed, ...beside };
      const { responses } = openAi(by);
      return stream ? await responses.stream(body).finalResponse() : await responses.create(body);
    };
    const first = await ask(model, account, [question]);
    const results = first.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: seen }]
        : [],
    );
    const said = [question, ...(first.output as ResponseInput), ...results];
    const end =
      kept === 'here'
        ? await ask(last.model, last.by, results, { previous_response_id: first.id })
        : await ask(last.model, last.by, said);
    const thoughts = first.output.flatMap((item) =>
      item.type === 'reasoning' ? item.summary : [],
    );
    return { text: end.output_text, shown: thoughts.map(({ text }) => text).join('') };
  };

/** A client of the server's own format returns the message as it came. */
const chatWay: Way = async (model) => {
  const { chat } = openAi(account);
  const tools = [{ type: 'function' as const, function: { name: 'look', parameters } }];
  const first = await chat.completions.create({ model, messages: [question], tools });
  const message = first.choices[0]?.message;
  assert.ok(message !== undefined);
  const results = (message.tool_calls ?? []).map(({ id }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: seen,
  }));
  const messages: OpenAI.ChatCompletionMessageParam[] = [question, message, ...results];
  const end = await chat.completions.create({ model, messages, tools });
  const { reasoning_content: shown = '' } = message as { reasoning_content?: string };
  return { text: end.choices[0]?.message.content ?? '', shown };
};

const ways: Readonly<Record<string, Way>> = {
  'Messages, whole': messagesWay(false),
  'Messages, streamed': messagesWay(true),
  'Responses, whole': responsesWay(false, 'by the client'),
  'Responses, streamed': responsesWay(true, 'by the client'),
  'Responses, streamed and not stored': responsesWay(true, 'by nobody'),
  'Responses, continued': responsesWay(false, 'here'),
  'Responses, streamed and continued': responsesWay(true, 'here'),
  'Responses, by ids': responsesWay(false, 'by name'),
};

function turnOf(server: PlayedServer | undefined): Members {
  const messages = server?.bodies.at(-1)?.messages as Members[];
  const turn = messages.find(({ role }) => role === 'assistant');
  assert.ok(turn !== undefined);
  return turn;
}

function firstIdOf({ deltas }: ServerRow): unknown {
  const [first] = deltas.flatMap(({ tool_calls: calls }) => (calls ?? []) as Members[]);
  return first?.id;
}

async function check(row: ServerRow, index: number, way: Way): Promise<void> {
  const server = played[index];
  assert.ok(server !== undefined);
  for (const behaviour of ['stream', 'whole'] as const) {
    server.behaviour = behaviour;
    const { text, shown } = await way(`server-${index}`);
    assert.equal(text, 'done', behaviour);
    assert.equal(shown, row.shown, behaviour);
    const { tool_calls: calls } = turnOf(server);
    const [call] = calls as Members[];
    assert.equal(call?.id, firstIdOf(row), 'the id is its own');
  }
}

for (const [index, row] of servers.entries()) {
  for (const [name, way] of Object.entries(ways)) {
    test(`${row.name}: ${name}`, () => check(row, index, way));
  }
  test(`${row.name}: Chat`, async () => {
    const { text } = await chatWay(`server-${index}`);
    assert.equal(text, 'done');
  });
}

/** Why an answer ended, or how the client was refused it. */
async function heardOf(model: string): Promise<string> {
  const { chat } = openAi(account);
  const messages = [question];
  let ended = '';
  try {
    const stream = await chat.completions.create({ model, messages, temperature: 1, stream: true });
    for await (const { choices } of stream) ended = choices[0]?.finish_reason ?? ended;
    return ended;
  } catch (error) {
    assert.ok(error instanceof OpenAI.APIError);
    const { status, code, param } = error;
    return [status ?? statuses[`${code}`], code, param].filter(Boolean).join(' ');
  }
}

/** An error behind the beginning of a stream has no status. */
const statuses: Readonly<Record<string, number>> = { upstream_error: 502 };

for (const [index, row] of servers.entries()) {
  if (row.says === undefined) continue;
  test(`${row.name}: its own ends and errors are told as what they are`, async () => {
    for (const [number, { told }] of saidBy(index).entries()) {
      assert.equal(await heardOf(`says-${index}-${number}`), told, `reply ${number}`);
    }
  });
}

/** What of a turn only its own server may see. */
const others = ['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'];

const told = Object.entries(ways).filter(([name]) => /streamed$|by ids/.test(name));

for (const [name, way] of told) {
  test(`another server is told nothing of it: ${name}`, async () => {
    for (const index of servers.keys()) {
      // The last server wants something else of what it gets, and refuses: what it got counts.
      const rival = index === servers.length - 1 ? 0 : servers.length - 1;
      await assert.rejects(way(`server-${index}`, { model: `server-${rival}`, by: account }));
      const turn = turnOf(played[rival]);
      assert.deepEqual(
        others.filter((member) => member in turn),
        [],
        servers[index]?.name,
      );
      assert.equal(typeof (turn.content ?? ''), 'string', 'it has no parts of another');
      const [call] = turn.tool_calls as Members[];
      assert.deepEqual(Object.keys(call ?? {}).sort(), ['function', 'id', 'type']);
    }
  });

  test(`another model of the server is told nothing of it: ${name}`, async () => {
    await assert.rejects(way('server-0', { model: 'another-model', by: account }));
    const [server] = played;
    assert.ok(server !== undefined);
    assert.equal(server.bodies.at(-1)?.model, 'other');
    assert.ok(!('reasoning_content' in turnOf(server)));
  });
}

const stateless = Object.entries(ways).filter(([name]) => name.endsWith(', streamed'));

for (const [name, way] of stateless) {
  test(`what another account brings is not taken: ${name}`, async () => {
    await assert.rejects(way('server-0', { model: 'server-0', by: other }));
    const index = servers.findIndex((row) => row.name === 'gemini');
    await assert.rejects(way(`server-${index}`, { model: `server-${index}`, by: other }));
    const [call] = turnOf(played[index]).tool_calls as Members[];
    assert.equal(call?.id, 'call_1');
    assert.equal(call?.extra_content, undefined);
  });

  test(`models of other families go on with the turn: ${name}`, async () => {
    for (const [turn, family] of ['chat', 'responses', 'messages', 'gemini'].entries()) {
      for (const [index, row] of sampled([...servers.entries()], 6, testSeed + turn)) {
        const { text } = await way(`server-${index}`, { model: `svc-sim-${family}`, by: account });
        assert.ok(text.startsWith(' t0'), `${row.name}, ${family}`);
        const sent = JSON.stringify(await bed.simulator.lastBody());
        assert.doesNotMatch(sent, /svc1\.|__own|CrICAd|look \\"there/);
      }
    }
  });
}
