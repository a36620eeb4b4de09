// Conversations some times as long as bodies may be (`longValuesMax`), written for every family:
// what it takes grows with them and not with their square, and no list is too long for the stack.
// Within the bound the square was up to 6 s of the shard's own thread.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatDialect } from '../../../../media/model/dialects/chat/dialect.ts';
import { messagesDialect } from '../../../../media/model/dialects/messages/dialect.ts';
import { responsesDialect } from '../../../../media/model/dialects/responses/dialect.ts';
import { sealReasoning } from '../../../../media/model/dialects/responses/reasoning.ts';
import type { GenerationRequest } from '../../../../media/model/request.ts';
import { familyNames, requireFamily } from '../../../../media/providers/generation/families.ts';
import { accountSeals } from '../../../harness/request.ts';
import { cpuMsOf } from '../../../harness/stopwatch.ts';

type Members = Record<string, unknown>;

/** Each of these takes a second or less for all families, and took several times this for some. */
const cpuMsMax = 6_000;

function list<T>(length: number, each: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => each(index));
}

function chat(messages: Members[]): GenerationRequest {
  return chatDialect.readRequest({ model: 'm', messages } as never, {});
}

function messages(content: Members[], answer: Members[]): GenerationRequest {
  const body = {
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content },
      { role: 'user', content: answer },
    ],
  };
  return messagesDialect.readRequest(body as never, {}, accountSeals());
}

/** Written by every family from the neutral messages; the bodies by the family's name. */
function written(request: GenerationRequest): Record<string, Members> {
  const rewritten = { ...request, source: { ...request.source, rewritten: true } };
  const bodies = familyNames.map((family) => {
    const target = { routeId: 'r', family, baseUrl: 'http://x', apiKey: null, upstreamModel: 'm' };
    const options = { outputTokensMax: 9, nativeSearch: false };
    return [family, requireFamily(family).encodeRequest(rewritten, target, options).body];
  });
  return Object.fromEntries(bodies) as Record<string, Members>;
}

async function writtenSoon(read: () => GenerationRequest): Promise<Record<string, Members>> {
  let bodies: Record<string, Members> = {};
  const cpuMs = await cpuMsOf(() => {
    bodies = written(read());
  });
  assert.ok(cpuMs < cpuMsMax, `${Math.round(cpuMs)} ms of CPU`);
  return bodies;
}

function listIn(body: Members | undefined, name: string): Members[] {
  return body?.[name] as Members[];
}

test('what the model said behind its calls, in thousands of messages, is one turn', async () => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const content = list(80_000, () => ({ type: 'text', text: 'a' }));
  const bodies = await writtenSoon(() =>
    chat([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content, tool_calls: [call] },
      ...list(9_000, () => ({ role: 'assistant', content: 'b' })),
      { role: 'user', content: 'go on' },
    ]),
  );
  const said = listIn(bodies['anthropic-messages'], 'messages')[1]?.content as Members[];
  assert.equal(said.length, 89_001);
  assert.equal(said[89_000]?.type, 'tool_use');
});

test('tens of thousands of calls in one turn find their results', async () => {
  const count = 15_000;
  for (const idOf of [(at: number) => `t${at}`, () => 't']) {
    const calls = list(count, (at) => ({ type: 'tool_use', id: idOf(at), name: 'f', input: {} }));
    const results = list(count, (at) => {
      return { type: 'tool_result', tool_use_id: idOf(count - 1 - at), content: `r${at}` };
    });
    const bodies = await writtenSoon(() => messages(calls, results));
    const answered = listIn(bodies['anthropic-messages'], 'messages')[2]?.content as Members[];
    const ids = new Set(answered.map((block) => block.tool_use_id));
    assert.equal(ids.size, count);
    assert.ok(answered.every((block) => block.is_error === undefined));
    const parts = listIn(bodies.gemini, 'contents')[2]?.parts as Members[] | undefined;
    const first = parts?.[0]?.functionResponse as Members | undefined;
    const output = idOf(0) === 't' ? 'r0' : `r${count - 1}`;
    assert.deepEqual(first?.response, { output });
  }
});

test('reasoning that nothing follows is left out, however much there is of it', async () => {
  const value = { encrypted_content: 'x' };
  const signature = sealReasoning({ format: 'responses', value }, accountSeals()) ?? '';
  const thoughts = list(60_000, () => ({ type: 'thinking', thinking: '', signature }));
  const bodies = await writtenSoon(() => messages(thoughts, [{ type: 'text', text: 'so' }]));
  assert.equal(listIn(bodies['openai-responses'], 'input').length, 2);
});

test('a list of allowed tools and what is declared may both be long', async () => {
  const functions = list(150, (at) => ({ type: 'function', name: `f${at}`, parameters: {} }));
  const tools = list(500, (at) => ({ type: 'namespace', name: `n${at}`, tools: functions }));
  const allowed = list(20_000, (at) => ({ type: 'function', namespace: `n${at}`, name: 'f1' }));
  const body = {
    model: 'm',
    input: 'hi',
    tools,
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: allowed },
  };
  let names: string[] = [];
  const cpuMs = await cpuMsOf(() => {
    const request = responsesDialect.readRequest(body as never, {});
    names = request.tools.map(({ name }) => name);
  });
  assert.equal(names.length, 500);
  assert.equal(names[499], 'n499__f1');
  assert.ok(cpuMs < cpuMsMax, `${Math.round(cpuMs)} ms of CPU`);
});

test('a message of 150,000 parts overflows no stack, wherever it stands', () => {
  const parts = list(150_000, () => ({ type: 'text', text: 'a' }));
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const said = { role: 'user', content: 'hi' };
  written(chat([{ role: 'system', content: parts }, said]));
  written(chat([said, { role: 'assistant', content: parts }, said]));
  written(chat([said, { role: 'assistant', content: 'a' }, { role: 'assistant', content: parts }]));
  const result = { role: 'tool', tool_call_id: 'a' };
  written(chat([said, { role: 'assistant', tool_calls: [call] }, { ...result, content: parts }]));
  written(chat([said, { ...result, content: parts }]));
  const output = { role: 'assistant', content: parts };
  const body = { model: 'm', input: [said, output, said] };
  written(responsesDialect.readRequest(body as never, {}));
});
