// Logprobs of Gemini for clients of OpenAI's formats. Models that are known to tell them are asked.
// Each token has its bytes, which Responses requires.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import type { ClientFormat } from '../../../../../media/providers/generation/contract.ts';
import { requireFamily } from '../../../../../media/providers/generation/families.ts';
import { upstreamTarget } from '../../../../harness/request.ts';
import { asked, hi, type Members, sent } from '../fitting/asked.ts';

const gemini = requireFamily('gemini');

/** As the API tells them: what is 0 is left out. */
const events = [
  {
    content: { parts: [{ text: 'é!' }] },
    logprobsResult: {
      chosenCandidates: [
        { token: 'é', tokenId: 1, logProbability: -0.5 },
        { token: '!', tokenId: 2 },
      ],
      topCandidates: [{ candidates: [{ token: 'y', logProbability: -3 }] }, {}],
      logProbabilitySum: -0.5,
    },
  },
  { content: { parts: [{ text: ' b' }] }, finishReason: 'STOP', avgLogprobs: -0.2 },
];
const entries = [
  {
    token: 'é',
    logprob: -0.5,
    bytes: [0xc3, 0xa9],
    top_logprobs: [{ token: 'y', logprob: -3, bytes: [0x79] }],
  },
  { token: '!', logprob: 0, bytes: [0x21], top_logprobs: [] },
];

function read(client: ClientFormat, body: string): ModelEvent[] {
  const reader = gemini.createReader(client);
  return [...reader.push(Buffer.from(body)), ...reader.end()];
}

const bodies = {
  streamed: events.map((one) => `data: ${JSON.stringify({ candidates: [one] })}\n\n`).join(''),
  whole: JSON.stringify(events.map((one) => ({ candidates: [one] }))),
};

for (const [way, body] of Object.entries(bodies)) {
  test(`${way}: a client of Chat is told them in the choice, behind their text`, () => {
    const [, first, scores, second] = read('chat', body);
    assert.equal(first?.type === 'text' && first.text, 'é!');
    assert.deepEqual(scores, {
      type: 'extra',
      format: 'chat',
      delta: {},
      choice: { logprobs: { content: entries, refusal: null } },
    });
    assert.equal(second?.type, 'text');
  });

  test(`${way}: a client of Responses is told them with their text, no other is`, () => {
    const scoresOf = (client: ClientFormat) =>
      read(client, body).flatMap((event): unknown[] =>
        event.type === 'text' ? [event.logprobs] : event.type === 'extra' ? ['extra'] : [],
      );
    assert.deepEqual(scoresOf('responses'), [entries, undefined]);
    assert.deepEqual(scoresOf('messages'), [undefined, undefined]);
  });
}

test('nonsense in their place is no score, and the words stay', () => {
  for (const logprobsResult of [7, {}, { chosenCandidates: 'a' }, { chosenCandidates: [null] }]) {
    const one = { content: { parts: [{ text: 'a' }] }, logprobsResult, finishReason: 'STOP' };
    const told = read('responses', JSON.stringify({ candidates: [one] }));
    assert.deepEqual(told[1], { type: 'text', text: 'a', plain: true });
  }
});

const wish = { messages: hi, logprobs: true, top_logprobs: 3 };

function settingsOf(request: Members, upstreamModel: string, baseUrl?: string): Members {
  const target = { upstreamModel, ...(baseUrl === undefined ? {} : { baseUrl }) };
  return sent('gemini', asked('chat', request), target).body.generationConfig as Members;
}

test('models that are known to tell them are asked, others refuse by the path as before', () => {
  const cloud = 'https://aiplatform.googleapis.com/v1/publishers/google';
  const places = [
    ['gemini-2.0-flash', undefined],
    ['models/gemini-2.0-flash-lite', undefined],
    ['gemini-2.5-flash', cloud],
  ] as const;
  for (const [model, baseUrl] of places) {
    const { responseLogprobs, logprobs } = settingsOf(wish, model, baseUrl);
    assert.deepEqual([responseLogprobs, logprobs], [true, 3], model);
  }
  const { responseLogprobs, logprobs } = settingsOf({ ...wish, top_logprobs: 0 }, places[0][0]);
  assert.deepEqual([responseLogprobs, logprobs], [true, undefined]);
  for (const upstreamModel of ['gemini-2.5-flash', 'gemini-3-pro', 'of-tomorrow']) {
    const target = { ...upstreamTarget('gemini'), upstreamModel };
    assert.equal(gemini.lacks(asked('chat', wish), false, target), 'logprobs', upstreamModel);
  }
  assert.equal(gemini.lacks(asked('chat', wish)), 'logprobs');
});
