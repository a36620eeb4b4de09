// Tools in items of the input: what other families are told of them, and where this one's stay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireFamily } from '../../../../../media/providers/generation/families.ts';
import { asked, type Members, sent } from '../../../providers/generation/fitting/asked.ts';

const schema = { type: 'object', properties: {} };
const look = { type: 'function', name: 'look', description: 'One.', parameters: schema };
const inside = { type: 'namespace', name: 'files', description: '', tools: [look] };
const late = (...tools: unknown[]) => ({ type: 'additional_tools', role: 'developer', tools });
const user = { role: 'user', content: 'hi' };
const said = { role: 'assistant', content: 'yes' };
const others = ['openai-chat', 'anthropic-messages', 'gemini'] as const;

function refusalOf(family: string, item: Members): string | null {
  return requireFamily(family).lacks(asked('responses', { input: [user, item] }));
}

test('all that the client runs is declared, and what is merely offered is left out', () => {
  const offered = ['web_search', 'image_generation', 'tool_search'].map((type) => ({ type }));
  const item = late({ type: 'custom', name: 'run' }, look, inside, ...offered);
  const { tools } = asked('responses', { input: [item, user] });
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['run', 'look', 'files__look'],
  );
  for (const family of others) assert.equal(refusalOf(family, item), null);
});

test('what nobody else can run is refused by the place of its item', () => {
  const odd = [{ type: 'local_shell' }, { type: 'mystery', name: 'm' }, { type: 'function' }, 7];
  for (const family of others) {
    for (const tool of odd) assert.equal(refusalOf(family, late(look, tool)), 'input[1]');
    assert.equal(refusalOf(family, { type: 'additional_tools', tools: {} }), 'input[1]');
    const hosted = { ...inside, tools: [look, { type: 'web_search' }] };
    assert.equal(refusalOf(family, late(hosted)), 'input[1]');
  }
  assert.equal(refusalOf('openai-responses', late({ type: 'local_shell' })), null);
});

test('the last declaration of a name holds, also before one of the request', () => {
  const again = { ...look, description: 'Two.' };
  const other = { ...look, name: 'other' };
  const request = asked('responses', {
    tools: [look, other],
    input: [late(look), user, late(again)],
  });
  assert.deepEqual(
    request.tools.map(({ name, description }) => [name, description]),
    [
      ['other', 'One.'],
      ['look', 'Two.'],
    ],
  );
});

test('their own family gets the item as it came, also when messages were changed', () => {
  const item = { id: 'at_1', ...late(inside) };
  const request = asked('responses', { input: [user, said, item, user] });
  const rewritten = { ...request, source: { ...request.source, rewritten: true } };
  for (const each of [request, rewritten]) {
    const { input, tools } = sent('openai-responses', each).body as { input: Members[] } & Members;
    assert.deepEqual([input[2], tools], [item, undefined]);
  }
});

test('nothing stands where the item stood, wherever instructions have to go', () => {
  const request = asked('responses', { input: [late(look), user, said, late(inside), user] });
  for (const systemMessages of ['in_place', 'first', 'as_user'] as const) {
    const { messages } = sent('openai-chat', request, { quirks: { systemMessages } }).body;
    assert.deepEqual(messages, [user, said, user], systemMessages);
  }
  const { system, messages } = sent('anthropic-messages', request).body as Members;
  assert.equal(system, undefined);
  assert.equal((messages as Members[]).length, 3);
  const { systemInstruction, contents } = sent('gemini', request).body as Members;
  assert.equal(systemInstruction, undefined);
  assert.equal((contents as Members[]).length, 3);
});
