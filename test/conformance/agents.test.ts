// Agent libraries that speak Responses: @openai/agents and @langchain/openai, unpatched, with tools
// in several steps, over a provider of the same format and over one of Chat.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { openAi } from './client.ts';

async function load<T>(name: string, importing: Promise<T>): Promise<T | null> {
  try {
    return await importing;
  } catch (error) {
    process.stdout.write(`${name} does not load on Node ${process.version}: ${String(error)}\n`);
    return null;
  }
}
const agents = await load('@openai/agents', import('@openai/agents'));
const langchain = await load('@langchain/openai', import('@langchain/openai'));
const messages = await load('@langchain/core', import('@langchain/core/messages'));
const zod = await load('zod', import('zod'));

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

/** The class's own type of it depends on what the tools are. */
interface Usage {
  usage_metadata?: { output_tokens: number };
}

const models = ['svc-sim-responses', 'svc-sim-chat'] as const;
const withAgents = agents === null ? { skip: `not on ${process.version}` } : {};
const withLangchain = langchain === null ? { skip: `not on ${process.version}` } : {};

function agentOf(name: string, called: string[]) {
  assert.ok(agents !== null && zod !== null);
  const { Agent, OpenAIProvider, Runner, tool } = agents;
  const make = (named: string) =>
    tool({
      name: named,
      description: named,
      parameters: zod.z.object({}),
      execute: async () => {
        called.push(named);
        return `${named} done`;
      },
    });
  const agent = new Agent({
    name: 'tester',
    instructions: 'Do what is asked.',
    model: name,
    tools: [make('one'), make('two')],
  });
  const modelProvider = new OpenAIProvider({ openAIClient: openAi(account), useResponses: true });
  return { agent, runner: new Runner({ modelProvider, tracingDisabled: true }) };
}

for (const name of models) {
  for (const stream of [false, true]) {
    test(`@openai/agents runs its tools, stream=${stream} (${name})`, withAgents, async () => {
      const called: string[] = [];
      const { agent, runner } = agentOf(name, called);
      const prompt = '[[sim call=one,two call=one tokens=4]]';
      if (stream) {
        const result = await runner.run(agent, prompt, { stream: true });
        let text = '';
        for await (const piece of result.toTextStream()) text += piece;
        await result.completed;
        assert.equal(text, ' t0 t1 t2 t3');
        assert.equal(result.finalOutput, ' t0 t1 t2 t3');
      } else {
        const result = await runner.run(agent, prompt);
        assert.equal(result.finalOutput, ' t0 t1 t2 t3');
        assert.equal(result.rawResponses.length, 3);
      }
      assert.deepEqual(called.sort(), ['one', 'one', 'two']);
    });
  }

  for (const stream of [false, true]) {
    const title = `@langchain/openai calls tools and goes on, stream=${stream} (${name})`;
    test(title, withLangchain, async () => {
      assert.ok(langchain !== null && messages !== null);
      const { HumanMessage, ToolMessage } = messages;
      const chat = new langchain.ChatOpenAI({
        model: name,
        apiKey: account.apiKey,
        useResponsesApi: true,
        maxRetries: 0,
        configuration: { baseURL: `${bed.url}/v1` },
      });
      const parameters = { type: 'object', properties: {} };
      const bound = chat.bindTools([
        { type: 'function', function: { name: 'look', description: 'look', parameters } },
      ]);
      const asked = new HumanMessage('[[sim tool=look tokens=3]]');
      const ask = async (turns: Parameters<typeof bound.invoke>[0]) => {
        if (!stream) return await bound.invoke(turns);
        const pieces = [];
        for await (const piece of await bound.stream(turns)) pieces.push(piece);
        return pieces.reduce((whole, piece) => whole.concat(piece) as typeof whole);
      };
      const said = await ask([asked]);
      const [call] = said.tool_calls ?? [];
      assert.equal(call?.name, 'look');
      const result = new ToolMessage({ content: 'seen', tool_call_id: call.id ?? '' });
      const answer = await ask([asked, said, result]);
      assert.equal(answer.text, ' t0 t1 t2');
      const { usage_metadata: usage } = answer as unknown as Usage;
      assert.equal(usage?.output_tokens, 3);
    });
  }
}

for (const name of [...models, 'svc-coder']) {
  test(`@langchain/openai streams calls over Chat (${name})`, withLangchain, async () => {
    assert.ok(langchain !== null);
    const chat = new langchain.ChatOpenAI({
      model: name,
      apiKey: account.apiKey,
      maxRetries: 0,
      configuration: { baseURL: `${bed.url}/v1` },
    });
    const look = { name: 'look', parameters: { type: 'object', properties: {} } };
    const bound = chat.bindTools([{ type: 'function', function: look }]);
    const pieces = [];
    for await (const piece of await bound.stream('[[sim tool=look]]')) pieces.push(piece);
    const whole = pieces.reduce((all, piece) => all.concat(piece) as typeof all);
    assert.deepEqual(
      whole.tool_calls?.map((call) => call.name),
      ['look'],
    );
  });
}
