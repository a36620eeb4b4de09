// Settings of clients at providers of other formats. A provider is told those that it has the like
// of. Others are left out and named, or refused where they change what the answer is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireFamily } from '../../../../media/providers/generation/families.ts';
import { droppedMembers } from '../../../../media/providers/generation/members.ts';
import { randomFormats } from '../../../conformance/forwarding/formats.ts';

type Members = Record<string, unknown>;

/** The providers: families at servers of their own, and the vendors' hosts of two. */
const providers = {
  chat: ['openai-chat', 'http://localhost:1/v1', 'm'],
  openai: ['openai-chat', 'https://api.openai.com/v1', 'm'],
  responses: ['openai-responses', 'http://localhost:1/v1', 'm'],
  'openai responses': ['openai-responses', 'https://api.openai.com/v1', 'm'],
  messages: ['anthropic-messages', 'http://localhost:1/v1', 'claude-sonnet-4-5'],
  'newest messages': ['anthropic-messages', 'http://localhost:1/v1', 'claude-opus-4-8'],
  gemini: ['gemini', 'http://localhost:1/v1beta', 'gemini-2.0-flash'],
  'newest gemini': ['gemini', 'http://localhost:1/v1beta', 'gemini-3-pro'],
} as const;
type Provider = keyof typeof providers;
const every = Object.keys(providers) as Provider[];

const inputs: Record<string, Members> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x' },
  messages: { messages: [{ role: 'user', content: 'x' }], max_tokens: 9 },
};
const names: Record<string, string> = {
  'Chat Completions': 'chat',
  Responses: 'responses',
  Messages: 'messages',
};
const formats = new Map(randomFormats.map((format) => [names[format.name], format]));

function told(format: string, members: Members, provider: Provider, thinksUpTo?: number) {
  const [name, baseUrl, upstreamModel] = providers[provider];
  const request = formats.get(format)?.read({ model: 'a', ...inputs[format], ...members });
  assert.ok(request !== undefined);
  const family = requireFamily(name);
  const target = { routeId: 'r', family: name, baseUrl, apiKey: null, upstreamModel };
  const reasons = thinksUpTo !== undefined;
  const options = { outputTokensMax: thinksUpTo ?? 9, nativeSearch: false, reasons };
  const fitted = family.fit(request, target, options);
  const isRefused = 'refused' in fitted;
  const lacks = family.lacks(request, reasons, target);
  assert.equal(isRefused ? fitted.refused : null, lacks);
  const call = family.encodeRequest(isRefused ? request : fitted.request, target, options);
  const left = isRefused ? [] : fitted.dropped;
  return {
    body: JSON.parse(JSON.stringify(call.body)) as Members,
    dropped: [...new Set([...droppedMembers(request, family, target), ...left])],
    lacks,
  };
}

function at(body: Members, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Members)?.[name], body);
}

interface Row {
  format: string;
  asked: Members;
  /** The name of what is left out; also the path of a refusal. */
  name: string;
  /** Where it stands in the body of each provider that has the like. */
  told: Partial<Record<Provider, string>>;
  /** Left out where it has no like, unless it may not be. */
  refused?: readonly Provider[];
  /** Providers of the same format: there it goes as it is, which another table says. */
  own: readonly Provider[];
}

const ofChat = ['chat', 'openai'] as const;
const ofResponses = ['responses', 'openai responses'] as const;
const ofMessages = ['messages', 'newest messages'] as const;
const strangers = [...ofMessages, 'newest gemini'] as const;
const scored = 'generationConfig.responseLogprobs';

function penalty(name: string, camel: string): Omit<Row, 'format' | 'own'> {
  const places = { chat: name, openai: name, responses: name };
  const where = { ...places, gemini: `generationConfig.${camel}` };
  return { asked: { [name]: 0.5 }, name, told: where };
}

const penalties = [
  penalty('presence_penalty', 'presencePenalty'),
  penalty('frequency_penalty', 'frequencyPenalty'),
];
const cacheLabel = { asked: { prompt_cache_key: 'k' }, name: 'prompt_cache_key' };

const rows: Row[] = [
  ...penalties.map((row) => ({ ...row, format: 'chat', own: ofChat })),
  ...penalties.map((row) => ({ ...row, format: 'responses', own: ofResponses })),
  {
    format: 'responses',
    asked: { text: { verbosity: 'low' } },
    name: 'text.verbosity',
    told: { openai: 'verbosity' },
    own: ofResponses,
  },
  {
    format: 'chat',
    asked: { verbosity: 'low' },
    name: 'verbosity',
    told: { responses: 'text.verbosity', 'openai responses': 'text.verbosity' },
    own: ofChat,
  },
  {
    format: 'chat',
    asked: { seed: 7 },
    name: 'seed',
    told: { gemini: 'generationConfig.seed', 'newest gemini': 'generationConfig.seed' },
    own: ofChat,
  },
  {
    format: 'messages',
    asked: { top_k: 5 },
    name: 'top_k',
    told: { gemini: 'generationConfig.topK', 'newest gemini': 'generationConfig.topK' },
    own: ofMessages,
  },
  { format: 'responses', ...cacheLabel, told: { openai: 'prompt_cache_key' }, own: ofResponses },
  {
    format: 'chat',
    ...cacheLabel,
    told: { responses: 'prompt_cache_key', 'openai responses': 'prompt_cache_key' },
    own: ofChat,
  },
  {
    format: 'chat',
    asked: { logprobs: true, top_logprobs: 2 },
    name: 'logprobs',
    told: { responses: 'top_logprobs', 'openai responses': 'top_logprobs', gemini: scored },
    refused: strangers,
    own: ofChat,
  },
  {
    format: 'responses',
    asked: { top_logprobs: 2 },
    name: 'top_logprobs',
    told: { chat: 'logprobs', openai: 'top_logprobs', gemini: 'generationConfig.logprobs' },
    refused: strangers,
    own: ofResponses,
  },
  {
    format: 'responses',
    asked: { include: ['message.output_text.logprobs'] },
    name: 'include',
    told: { chat: 'logprobs', openai: 'logprobs', gemini: scored },
    refused: strangers,
    own: ofResponses,
  },
  {
    format: 'chat',
    asked: { parallel_tool_calls: false, tools: [{ type: 'function', function: { name: 'f' } }] },
    name: 'parallel_tool_calls',
    told: {
      responses: 'parallel_tool_calls',
      'openai responses': 'parallel_tool_calls',
      messages: 'tool_choice.disable_parallel_tool_use',
      'newest messages': 'tool_choice.disable_parallel_tool_use',
    },
    own: ofChat,
  },
  {
    format: 'responses',
    asked: { temperature: 0 },
    name: 'temperature',
    told: {
      chat: 'temperature',
      openai: 'temperature',
      messages: 'temperature',
      gemini: 'generationConfig.temperature',
      'newest gemini': 'generationConfig.temperature',
    },
    own: ofResponses,
  },
];

for (const { format, asked, name, told: places, refused = [], own } of rows) {
  test(`${name} of ${format} is told, named or refused`, () => {
    for (const provider of every.filter((each) => !own.includes(each))) {
      const { body, dropped, lacks } = told(format, asked, provider);
      const place = places[provider];
      const isRefused = refused.includes(provider);
      assert.equal(lacks, isRefused ? name : null, provider);
      if (isRefused) continue;
      assert.deepEqual(dropped, place === undefined ? [name] : [], provider);
      if (place !== undefined) assert.notEqual(at(body, place), undefined, provider);
    }
  });
}

test('a value that asks for nothing counts as absent, wherever it goes', () => {
  const nothing: Record<string, Members> = {
    chat: {
      presence_penalty: 0,
      frequency_penalty: 0,
      logprobs: false,
      parallel_tool_calls: true,
      service_tier: 'auto',
      verbosity: 'medium',
      logit_bias: {},
      top_p: 1,
    },
    responses: {
      presence_penalty: 0,
      service_tier: 'default',
      text: { verbosity: 'medium' },
      top_logprobs: 0,
      truncation: 'disabled',
      temperature: 1,
      include: [],
    },
    messages: { service_tier: 'auto', top_k: 0 },
  };
  for (const [format, members] of Object.entries(nothing)) {
    for (const provider of every) {
      const { dropped, lacks } = told(format, members, provider);
      assert.deepEqual(dropped, [], `${format} at ${provider}`);
      assert.equal(lacks, null, `${format} at ${provider}`);
    }
  }
});

test('another tier is asked of nobody', () => {
  for (const provider of every) {
    const { body, dropped } = told('responses', { service_tier: 'flex' }, provider);
    assert.deepEqual(dropped, ['service_tier'], provider);
    assert.ok(!('service_tier' in body), provider);
  }
});

test('a family is told no top_p beside a temperature where it takes one of both', () => {
  const asked = { temperature: 0.5, top_p: 0.5 };
  assert.deepEqual(told('chat', asked, 'messages').dropped, ['top_p']);
  assert.deepEqual(told('chat', asked, 'newest messages').dropped.sort(), ['temperature', 'top_p']);
  assert.deepEqual(told('chat', asked, 'gemini').dropped, []);
});

test('what cannot be chosen while a model of Messages thinks is named', () => {
  const sampling = { temperature: 0.5, top_p: 0.5 };
  const thinking = { ...sampling, reasoning_effort: 'low' };
  const dropped = (asked: Members, ceiling = 9_000) => {
    const { body, dropped: names } = told('chat', asked, 'messages', ceiling);
    const left = Object.keys(sampling).filter((name) => !(name in body));
    assert.deepEqual([...names].sort(), left, 'what is left out is named');
    return { left, thinks: body.thinking !== undefined };
  };
  assert.deepEqual(dropped(thinking), { left: ['temperature', 'top_p'], thinks: true });
  assert.deepEqual(dropped(sampling), { left: ['top_p'], thinks: false });
  // There is no room for thoughts, or a tool is forced: the model does not think.
  assert.deepEqual(dropped(thinking, 100), { left: ['top_p'], thinks: false });
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const forced = { ...thinking, tools, tool_choice: 'required' };
  assert.deepEqual(dropped(forced), { left: ['top_p'], thinks: false });
  const { dropped: usual } = told(
    'chat',
    { ...thinking, temperature: 1, top_p: 1 },
    'messages',
    9_000,
  );
  assert.deepEqual(usual, [], 'the usual value is not missed');
  const ofResponses = { reasoning: { effort: 'low' }, temperature: 0.5 };
  assert.deepEqual(told('responses', ofResponses, 'messages', 9_000).dropped, ['temperature']);
});
