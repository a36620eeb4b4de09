// Random bodies of Responses.
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
  max_output_tokens: fc.constantFrom(16, 100),
  parallel_tool_calls: fc.boolean(),
  reasoning: fc.constantFrom(
    { effort: 'low' },
    { effort: 'high', summary: 'auto' },
    { summary: null },
  ),
  include: fc.constantFrom([], ['reasoning.encrypted_content']),
  user: fc.constant('u'),
  web_search: fc.constant(false),
  metadata: fc.constant({ mine: 'x' }),
  text: fc.constantFrom({ verbosity: 'low' }, { format: jsonSchemaFormat }),
  response_format: fc.constant({ type: 'json_object' }),
  store: fc.boolean(),
  truncation: fc.constant('auto'),
});

const tools = fc.subarray([...toolNames]).map((names) =>
  names.map((name) => ({
    type: 'function',
    name,
    description: 'does it',
    parameters: { type: 'object' },
    strict: false,
  })),
);

const choice = fc.constantFrom('auto', 'none', 'required', null);

export const responsesBody: fc.Arbitrary<Members> = fc
  .tuple(conversation, settings, tools, choice, unknownMembers)
  .map(([talk, given, declared, chosen, unknown]) => {
    const body: Members = { model: 'alias', input: itemsOf(talk), ...given, ...unknown };
    const [instructions] = talk.system;
    if (instructions !== undefined) body.instructions = instructions;
    if (declared.length > 0) {
      body.tools = declared;
      if (chosen !== null) body.tool_choice = chosen;
    }
    return body;
  });

function itemsOf({ system, before, last, continues }: Conversation): Members[] {
  const newId = callIds();
  const developer = system.slice(1).map((content) => ({ role: 'developer', content }));
  return [
    ...developer,
    ...before.flatMap((exchange) => exchangeOf(exchange, newId, true)),
    ...exchangeOf(last, newId, continues),
  ];
}

function exchangeOf(exchange: Exchange, newId: () => string, answered: boolean): Members[] {
  const { user, image, said, calls } = exchange;
  const asked = { type: 'message', role: 'user', content: contentOf(user, image) };
  if (!answered) return [asked];
  const called = calls.map(({ name, args }) => ({
    type: 'function_call',
    id: `fc_${name}`,
    call_id: newId(),
    name,
    arguments: args,
    status: 'completed',
  }));
  const results = calls.map(({ result }, index) => ({
    type: 'function_call_output',
    call_id: called[index]?.call_id,
    output: contentOf(result, false),
  }));
  const spoken = said === null ? [] : [{ type: 'message', role: 'assistant', content: said }];
  return [asked, ...spoken, ...called, ...results];
}

function contentOf(texts: string[], image: boolean): unknown {
  const [first] = texts;
  if (texts.length === 1 && !image) return first;
  const parts: Members[] = texts.map((text) => ({ type: 'input_text', text }));
  return image ? [...parts, { type: 'input_image', image_url: pixel, detail: 'auto' }] : parts;
}
