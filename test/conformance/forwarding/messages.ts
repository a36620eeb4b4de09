// Random bodies of Messages.
import { fc } from '../../harness/properties.ts';
import {
  type Conversation,
  callIds,
  conversation,
  type Exchange,
  jsonSchemaFormat,
  type Members,
  some,
  toolNames,
  unknownMembers,
} from './bodies.ts';

const settings = some({
  temperature: fc.constantFrom(0, 0.7),
  top_p: fc.constant(0.9),
  top_k: fc.constant(5),
  stop_sequences: fc.constantFrom([' t3'], [' t2', 'x']),
  metadata: fc.constant({ user_id: 'u' }),
  web_search: fc.constant(false),
  output_config: fc.constantFrom(
    { effort: 'low' },
    { format: { type: 'json_schema', schema: jsonSchemaFormat.schema } },
  ),
  thinking: fc.constant({ type: 'disabled' }),
});

const tools = fc.subarray([...toolNames]).map((names) =>
  names.map((name, index) => ({
    name,
    description: 'does it',
    input_schema: { type: 'object' },
    ...(index === 0 ? { cache_control: { type: 'ephemeral' } } : {}),
  })),
);

const choice = fc.constantFrom('auto', 'none', 'any', null);
const ceiling = fc.constantFrom(4, 100, 2_000);

export const messagesBody: fc.Arbitrary<Members> = fc
  .tuple(conversation, settings, tools, choice, unknownMembers, ceiling)
  .map(([talk, given, declared, chosen, unknown, max]) => {
    const { system } = talk;
    const messages = messagesOf(talk);
    const body: Members = { model: 'alias', max_tokens: max, messages, ...given, ...unknown };
    if (system.length > 0) body.system = system.length === 1 ? system[0] : blocksOf(system);
    if (declared.length > 0) {
      body.tools = declared;
      if (chosen !== null) body.tool_choice = { type: chosen };
    }
    return body;
  });

interface Message {
  role: 'user' | 'assistant';
  content: Members[];
}

function messagesOf({ before, last, continues }: Conversation): Message[] {
  const newId = callIds();
  const all = [
    ...before.flatMap((exchange) => exchangeOf(exchange, newId, true)),
    ...exchangeOf(last, newId, continues),
  ];
  const joined: Message[] = [];
  for (const message of all) {
    const previous = joined.at(-1);
    if (previous?.role === message.role) previous.content.push(...message.content);
    else joined.push(message);
  }
  return joined;
}

function exchangeOf(exchange: Exchange, newId: () => string, answered: boolean): Message[] {
  const { user, image, said, calls } = exchange;
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
  const picture = image ? [{ type: 'image', source }] : [];
  const asked: Message = { role: 'user', content: [...blocksOf(user), ...picture] };
  // What the assistant says last would be gone on with: here it is answered, or not said.
  if (!answered || calls.length === 0) return [asked];
  const called = calls.map(({ name, args }) => ({
    type: 'tool_use',
    id: newId(),
    name,
    input: JSON.parse(args) as unknown,
  }));
  const spoken = said === null ? [] : blocksOf([said]);
  const results = calls.map(({ result, failed }, index) => ({
    type: 'tool_result',
    tool_use_id: called[index]?.id,
    content: result.length === 1 ? result[0] : blocksOf(result),
    ...(failed ? { is_error: true } : {}),
  }));
  return [
    asked,
    { role: 'assistant', content: [...spoken, ...called] },
    { role: 'user', content: results },
  ];
}

function blocksOf(texts: readonly string[]): Members[] {
  return texts.map((text, index) => ({
    type: 'text',
    text,
    ...(index === 1 ? { cache_control: { type: 'ephemeral' } } : {}),
  }));
}
