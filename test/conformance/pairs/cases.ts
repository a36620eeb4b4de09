// The table: what is asked for in every pair of a client's format and an upstream family, and what
// must come of it. The simulator does what the last user text says.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type Ask, ask, type Outcome, type Turn } from './ask.ts';
import { type Pair, type Play, wordsOf } from './play.ts';

export interface Case {
  name: string;
  /** Left out: every pair. */
  fits?(pair: Pair): boolean;
  run(play: Play): Promise<void>;
}

/** Whether the format's own search tool is one of the family's. */
function declaresSearchOf({ format, family }: Pair): boolean {
  const native = format.name === 'legacy' ? 'responses' : format.name;
  return native !== 'chat' && native === family.name;
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => ` t${index}`).join('');
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The next request of a conversation: what was said, and results for all calls. */
function continued(before: Ask, outcome: Outcome, results: readonly string[]): Ask {
  const { text, calls, carried } = outcome;
  const said: Turn = { role: 'assistant', text, calls, carried };
  const answers = calls.map(({ id }, index): Turn => {
    return { role: 'tool', callId: id, text: results[index] ?? '' };
  });
  return { ...before, turns: [...before.turns, said, ...answers] };
}

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR4' +
  '2mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';

const texts: Case[] = [
  {
    name: 'text, instructions, a longer conversation, tokens from a cache',
    async run(play) {
      const request = ask('', {
        system: 'be kind to me',
        turns: [
          { role: 'user', text: 'one two' },
          { role: 'assistant', text: 'three', calls: [] },
          { role: 'user', text: 'four [[sim tokens=12 cached=2]]' },
        ],
      });
      const usage = { input: wordsOf(request) - 2, cached: 2, output: 12 };
      const outcome = await play.answer(request, usage);
      assert.equal(outcome.text, numbered(12));
      assert.equal(outcome.finish, 'stop');
    },
  },
  {
    name: 'tokens written to a cache',
    fits: ({ family }) => family.name !== 'gemini',
    async run(play) {
      const request = ask('one two three [[sim tokens=2 cached=1 cache_write=3]]');
      const usage = { input: wordsOf(request) - 4, cached: 1, cacheWrite: 3, output: 2 };
      await play.answer(request, usage);
    },
  },
  {
    name: 'the end at a word of the client’s',
    fits: ({ format, family }) =>
      /^(chat|messages)$/.test(format.name) && family.name !== 'responses',
    async run(play) {
      const request = ask('[[sim tokens=9]]', { stop: [' t3', 'never'] });
      const outcome = await play.answer(request, { input: wordsOf(request), output: 3 });
      assert.equal(outcome.text, numbered(3));
      assert.equal(outcome.finish, 'stop');
    },
  },
  {
    name: 'an empty answer',
    async run(play) {
      const request = ask('hello [[sim tokens=0]]');
      const outcome = await play.answer(request, { input: wordsOf(request), output: 0 });
      assert.equal(outcome.text, '');
      assert.equal(outcome.finish, 'stop');
    },
  },
  {
    name: 'characters cut in the middle',
    async run(play) {
      const request = ask('[[sim text=Grüße_漢字_🙂_"so"\\n_end fault=split_utf8]]');
      const outcome = await play.answer(request, { input: wordsOf(request), output: 5 });
      assert.equal(outcome.text, 'Grüße 漢字 🙂 "so"\\n end');
    },
  },
  {
    name: 'unknown events and members',
    async run(play) {
      const request = ask('[[sim tokens=5 unknown=1]]');
      const outcome = await play.answer(request, { input: wordsOf(request), output: 5 });
      assert.equal(outcome.text, numbered(5));
    },
  },
  {
    name: 'the end at the ceiling',
    async run(play) {
      const request = ask('[[sim tokens=40]]', { outputTokensMax: 16 });
      const outcome = await play.answer(request, { input: wordsOf(request), output: 16 });
      assert.equal(outcome.text, numbered(16));
      assert.equal(outcome.finish, 'length');
    },
  },
  {
    name: 'the end at a ceiling that not every format takes',
    async run(play) {
      const request = ask('[[sim tokens=40]]', { outputTokensMax: 5 });
      const outcome = await play.answer(request, { input: wordsOf(request), output: 5 });
      assert.equal(outcome.text, numbered(5));
      assert.equal(outcome.finish, 'length');
    },
  },
  {
    name: 'an image beside the text',
    async run(play) {
      const text = 'what is this [[sim tokens=4]]';
      const request = ask('', { turns: [{ role: 'user', text, imageUrl: pixel }] });
      const outcome = await play.answer(request, { input: wordsOf(request), output: 4 });
      assert.equal(outcome.text, numbered(4));
    },
  },
  {
    name: 'an answer to a schema',
    async run(play) {
      const schema = {
        type: 'object',
        properties: { city: { type: 'string' }, size: { type: 'integer' } },
        required: ['city', 'size'],
        additionalProperties: false,
      };
      const request = ask('[[sim json=good]]', { schema });
      const [outcome] = await Promise.all([play.send(request, false)]);
      const answer = JSON.parse(outcome.text) as Record<string, unknown>;
      assert.deepEqual(Object.keys(answer).sort(), ['city', 'size']);
      assert.ok(Number.isInteger(answer.size));
      const streamed = await play.send(request, true);
      assert.equal(streamed.text, outcome.text);
      assert.equal(streamed.svcUsage?.output_tokens, outcome.svcUsage?.output_tokens);
    },
  },
];

const stem = 'a_tool_with_a_name_that_says_all_of_what_it_does_and_of_where_it_i';
/** They have 70 characters, and differ at the end alone. */
const longNames = [`${stem}s_on`, `${stem}s_it`];
/** What is refused of it by one family or another: pattern, combination, reference. */
const oddParameters = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    field: { type: 'string', pattern: '^(?!__.*__$)[^\\p{Cc}\\p{Cf}"]{1,200}$' },
    same: { $ref: '#/$defs/text', description: 'the same again' },
    list: { type: 'array' },
    $odd: { type: 'string' },
  },
  anyOf: [{ required: ['field'] }, { required: ['same'] }],
  $defs: { text: { type: 'string' } },
};

/** As families are told it that take no more than 64 characters. */
function shortName(name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, 55)}_${hash}`;
}

const tools: Case[] = [
  {
    name: 'tools, calls and pictures that the family refuses as the client says them',
    fits: ({ format, family }) => format.name !== family.name,
    async run(play) {
      const [first = '', second = ''] = longNames;
      const text = `do [[sim call=${second},${shortName(second)} tokens=2]]`;
      const turns: Turn[] = [
        { role: 'user', text, imageUrl: pixel.replace('image/png', 'image/jpeg') },
      ];
      const request = ask('', { turns, tools: [first, second], parameters: oddParameters });
      const outcome = await play.answer(request, { input: wordsOf(request), output: 1 });
      const [call] = outcome.calls;
      assert.equal(outcome.calls.length, 1);
      assert.equal(call?.name, second);
      const calls = outcome.calls.map((each) => ({ ...each, id: `call_${'x'.repeat(70)}` }));
      const next = continued(request, { ...outcome, calls }, ['done']);
      const final = await play.answer(next, { input: wordsOf(next), output: 2 });
      assert.equal(final.text, numbered(2));
    },
  },
  {
    name: 'two tools at once, and a second turn with their results',
    async run(play) {
      const city = { city: 'Zürich "X"', list: [1, { deep: null }] };
      const text = `look [[sim call=find:${encoded(city)},list tokens=5]]`;
      const request = ask(text, { system: 'use tools', tools: ['list', 'find'] });
      const outcome = await play.answer(request, { input: wordsOf(request), output: 2 });
      assert.equal(outcome.finish, 'tool_calls');
      assert.deepEqual(
        outcome.calls.map((call) => [call.name, JSON.parse(call.arguments)]),
        [
          ['find', city],
          ['list', {}],
        ],
      );
      assert.equal(new Set(outcome.calls.map(({ id }) => id)).size, 2);
      const next = continued(request, outcome, ['sunny and warm', 'a b']);
      const final = await play.answer(next, { input: wordsOf(next), output: 5 });
      assert.equal(final.text, numbered(5));
      assert.equal(final.finish, 'stop');
    },
  },
  {
    name: 'three steps of one tool each',
    async run(play) {
      let request = ask('[[sim call=one call=two call=three tokens=3]]', {
        tools: ['one', 'two', 'three'],
      });
      for (const name of ['one', 'two', 'three']) {
        const outcome = await play.answer(request, { input: wordsOf(request), output: 1 });
        assert.deepEqual(
          outcome.calls.map((call) => call.name),
          [name],
        );
        request = continued(request, outcome, [`result of ${name}`]);
      }
      const outcome = await play.answer(request, { input: wordsOf(request), output: 3 });
      assert.equal(outcome.text, numbered(3));
    },
  },
  {
    name: 'thinking before a tool, carried back with its result',
    async run(play) {
      const request = ask('[[sim reasoning=4 call=find tokens=3]]', {
        tools: ['find'],
        thinks: true,
      });
      const usage = { input: wordsOf(request), output: 1, reasoning: 4 };
      const outcome = await play.answer(request, usage);
      assert.equal(outcome.finish, 'tool_calls');
      const next = continued(request, outcome, ['found']);
      const words = wordsOf(next);
      const final = await play.answer(next, { input: words, output: 3, reasoning: 4 });
      assert.equal(final.text, numbered(3));
    },
  },
  {
    name: 'the provider’s own search, declared in its own format',
    fits: declaresSearchOf,
    async run(play) {
      const request = ask('news [[sim search=1 tokens=4]]', { ownSearch: true });
      const usage = { input: wordsOf(request), output: 4, searches: 1 };
      const outcome = await play.answer(request, usage);
      assert.equal(outcome.text, numbered(4));
      const isShown = play.pair.format.name !== 'legacy';
      assert.equal(outcome.native.length > 0, isShown, 'the search is shown');
    },
  },
  {
    name: 'a search tool, which this format has none of',
    fits: ({ format }) => format.name === 'chat',
    async run(play) {
      const request = ask('news [[sim search=1 tokens=4]]', { ownSearch: true });
      const invalid = { chat: 'invalid_request', messages: 'invalid_request_error' };
      await play.refusal(request, 400, invalid);
    },
  },
  {
    name: 'the search tool of another format, for which our own search stands in',
    fits: (pair) => pair.format.name !== 'chat' && !declaresSearchOf(pair),
    async run(play) {
      const request = ask('the news of today [[sim search=1 tokens=4]]', { ownSearch: true });
      const outcome = await play.answer(request, { input: null, output: 4, searches: 1 });
      assert.equal(outcome.text, numbered(4));
    },
  },
  {
    name: 'a search that is asked for, by whoever can do it',
    async run(play) {
      const request = ask('the news of today [[sim search=1 tokens=4]]', { searches: true });
      const usage = { input: null, output: 4, searches: 1 };
      const outcome = await play.answer(request, usage);
      assert.equal(outcome.text, numbered(4));
      assert.equal(outcome.finish, 'stop');
      // The simulated model cites nothing of what another one searched for it.
      const { format, family } = play.pair;
      const isCited = family.name !== 'chat' && format.name !== 'legacy';
      assert.equal(outcome.sources.length > 0, isCited, 'sources');
      for (const url of outcome.sources) assert.match(url, /^https:/);
    },
  },
  {
    name: 'a search beside tools',
    async run(play) {
      const request = ask('the news [[sim search=1 call=find tokens=4]]', {
        searches: true,
        tools: ['find'],
      });
      const outcome = await play.send(request, true);
      assert.equal(outcome.finish, 'tool_calls', outcome.error ?? '');
      assert.deepEqual(
        outcome.calls.map(({ name }) => name),
        ['find'],
      );
    },
  },
];

const ends: Case[] = [
  {
    name: 'a refusal',
    async run(play) {
      const request = ask('please [[sim refusal=1]]');
      const { refusesInWords } = play.pair.family;
      const words = 'I cannot help with that.';
      const output = refusesInWords ? words.split(' ').length : 0;
      const outcome = await play.answer(request, { input: wordsOf(request), output });
      const said = outcome.refusal + outcome.text;
      assert.equal(said, refusesInWords ? words : '');
      if (!refusesInWords) assert.equal(outcome.finish, 'content_filter');
      else if (/^(chat|responses)$/.test(play.pair.format.name)) {
        assert.equal(outcome.refusal, words);
      }
    },
  },
  {
    name: 'thinking',
    async run(play) {
      const request = ask('[[sim reasoning=4 tokens=3]]', { thinks: true });
      const usage = { input: wordsOf(request), output: 3, reasoning: 4 };
      const outcome = await play.answer(request, usage);
      assert.equal(outcome.text, numbered(3));
      // Two formats cannot ask to see it: what a provider shows anyway is shown in one of them.
      const isAsked = /^(responses|messages)$/.test(play.pair.format.name);
      // Parts of a summary are paragraphs.
      const shown = outcome.reasoning.replaceAll('\n\n', '');
      if (isAsked || shown !== '') assert.equal(shown, ' r0 r1 r2 r3');
    },
  },
  {
    name: 'no usage: what was delivered is counted',
    async run(play) {
      const request = ask('hello you [[sim tokens=9 fault=no_usage]]');
      const outcome = await play.answer(request, { input: 0, output: 0, source: 'estimated' });
      assert.equal(outcome.text, numbered(9));
    },
  },
  {
    name: 'a usage of zero is a report',
    async run(play) {
      const request = ask('[[sim tokens=9 fault=zero_usage]]');
      const outcome = await play.answer(request, { input: 0, output: 0 });
      assert.equal(outcome.text, numbered(9));
      assert.equal(outcome.svcUsage?.charge_microcredits, 0);
    },
  },
  {
    name: 'errors before the answer',
    async run(play) {
      const failed = { chat: 'upstream_error', messages: 'api_error' };
      await play.refusal(ask('[[sim status=500]]'), 502, failed);
      await play.refusal(ask('[[sim status=401]]'), 502, failed);
      const busy = { chat: 'upstream_busy', messages: 'overloaded_error' };
      await play.refusal(ask('[[sim status=429]]'), 503, busy);
      const invalid = { chat: 'invalid_request', messages: 'invalid_request_error' };
      await play.refusal(ask('[[sim status=400]]'), 400, invalid);
    },
  },
  {
    name: 'a refused prompt',
    fits: ({ family }) => family.name === 'gemini',
    async run(play) {
      const request = ask('please [[sim refusal=prompt]]');
      const outcome = await play.answer(request, { input: wordsOf(request), output: 0 });
      assert.equal(outcome.finish, 'content_filter');
    },
  },
  ...['error', 'failed', 'garbage', 'cut'].map(
    (fault): Case => ({
      name: `an answer that fails in the middle (${fault})`,
      async run(play) {
        const request = ask(`hello [[sim tokens=30 fault=${fault} at=12]]`);
        const error = play.pair.format.name === 'messages' ? 'api_error' : 'upstream_error';
        const whole = await play.send(request, false);
        assert.equal(whole.status, 502);
        assert.equal(whole.error, error);
        const streamed = await play.send(request, true);
        assert.equal(streamed.status, 200);
        assert.equal(streamed.error, error);
        assert.match(streamed.text, /^ t0( t\d+)*$/);
        for (const { svcUsage } of [whole, streamed]) {
          assert.ok(
            svcUsage !== null && svcUsage.charge_microcredits > 0,
            'what there was is paid',
          );
          // The one family that reports the input as it begins.
          if (play.pair.family.name === 'messages') {
            assert.equal(svcUsage.input_tokens, wordsOf(request));
          }
        }
      },
    }),
  ),
];

export const cases: readonly Case[] = [...texts, ...tools, ...ends];
