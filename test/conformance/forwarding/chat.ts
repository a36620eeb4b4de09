// Random bodies of Chat Completions.
import { fc } from '../../harness/properties.ts';
import {
  type Conversation,
  callIds,
  conversation,
  type Exchange,
  jsonSchemaFormat,
  type Members,
  pixel,
  some,
  toolNames,
  unknownMembers,
} from './bodies.ts';

const settings = some({
  temperature: fc.constantFrom(0, 0.7),
  top_p: fc.constant(0.9),
  seed: fc.constant(7),
  presence_penalty: fc.constant(0.5),
  frequency_penalty: fc.constant(-0.5),
  stop: fc.constantFrom(' t3', [' t2', 'x']),
  max_completion_tokens: fc.constantFrom(4, 100),
  parallel_tool_calls: fc.boolean(),
  reasoning_effort: fc.constantFrom('low', 'high'),
  user: fc.constant('u'),
  web_search: fc.constant(false),
  metadata: fc.constant({ mine: 'x' }),
  response_format: fc.constantFrom(
    { type: 'json_object' },
    { type: 'json_schema', json_schema: { ...jsonSchemaFormat, type: undefined } },
  ),
});

const tools = fc.subarray([...toolNames]).map((names) =>
  names.map((name) => ({
    type: 'function',
    function: { name, description: 'does it', parameters: { type: 'object' }, strict: false },
  })),
);

const choice = fc.constantFrom('auto', 'none', 'required', null);

export const chatBody: fc.Arbitrary<Members> = fc
  .tuple(conversation, settings, tools, choice, unknownMembers)
  .map(([talk, given, declared, chosen, unknown]) => {
    const body: Members = { model: 'alias', messages: messagesOf(talk), ...given, ...unknown };
    if (declared.length > 0) {
      body.tools = declared;
      if (chosen !== null) body.tool_choice = chosen;
    }
    return body;
  });

function messagesOf({ system, before, last, continues }: Conversation): Members[] {
  const newId = callIds();
  const role = system.length > 1 ? 'developer' : 'system';
  const instructions = system.length === 0 ? [] : [{ role, content: contentOf(system, false) }];
  return [
    ...instructions,
    ...before.flatMap((exchange) => exchangeOf(exchange, newId, true)),
    ...exchangeOf(last, newId, continues),
  ];
}

function exchangeOf(exchange: Exchange, newId: () => string, answered: boolean): Members[] {
  const { user, image, said, calls } = exchange;
  const asked = { role: 'user', content: contentOf(user, image), name: 'someone' };
  if (!answered || (said === null && calls.length === 0)) return [asked];
  const called = calls.map(({ name, args }) => ({
    id: newId(),
    type: 'function',
    function: { name, arguments: args },
  }));
  const answer: Members = { role: 'assistant', content: said };
  if (called.length > 0) answer.tool_calls = called;
  const results = calls.map(({ result }, index) => ({
    role: 'tool',
    tool_call_id: called[index]?.id,
    content: contentOf(result, false),
  }));
  return [asked, answer, ...results];
}

function contentOf(texts: string[], image: boolean): unknown {
  const [first] = texts;
  if (texts.length === 1 && !image) return first;
  const parts: Members[] = texts.map((text) => ({ type: 'text', text }));
  return image ? [...parts, { type: 'image_url', image_url: { url: pixel } }] : parts;
}
