// Refusals for an unpaid bill as vendors word them, through the readers of all families; and what
// sounds like one and is none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamFailure } from '../../../media/model/events.ts';
import * as messages from '../../../media/providers/generation/anthropic-messages/failure.ts';
import { familyNames, requireFamily } from '../../../media/providers/generation/families.ts';
import * as gemini from '../../../media/providers/generation/gemini/failure.ts';
import * as chat from '../../../media/providers/generation/openai-chat/failure.ts';
import * as responses from '../../../media/providers/generation/openai-responses/failure.ts';
import { openaiAudio } from '../../../media/providers/speech/openai-audio/family.ts';

type Kind = UpstreamFailure['kind'];

/** The vendor, its status, the body, its headers. */
type Refusal = [string, number, object, Record<string, string>?];

const quota = 'You exceeded your current quota, please check your plan and billing details.';
const openai = (code: string | null, type = 'insufficient_quota') => ({
  error: { message: quota, type, param: null, code },
});
const anthropic = (type: string, message: string, details: object | null = null) => ({
  type: 'error',
  error: { details, type, message },
});
const google = (code: number, message: string, details?: object[]) => ({
  error: { code, message, status: 'RESOURCE_EXHAUSTED', ...(details && { details }) },
});
const depleted = 'Your prepayment credits are depleted. Please go to AI Studio.';
const tooLow = 'Your credit balance is too low to access the Anthropic API. Please go to Plans.';
const team = 'Your team 1-2 has either used all available credits or reached its monthly limit.';

const unpaid: Refusal[] = [
  ['OpenAI', 429, openai('insufficient_quota')],
  ['OpenAI, by its type alone', 429, openai(null)],
  ['OpenAI', 429, openai('credit_balance_exhausted')],
  ['OpenAI', 429, openai('project_spend_limit_exceeded')],
  ['OpenAI', 429, openai('billing_not_active', 'billing_not_active')],
  ['OpenAI images', 400, openai('billing_hard_limit_reached', 'invalid_request_error')],
  ['Anthropic', 402, anthropic('billing_error', 'There is an issue with your billing.')],
  ['Anthropic', 400, anthropic('invalid_request_error', tooLow)],
  [
    'Anthropic, a limit of one’s own',
    400,
    anthropic('invalid_request_error', 'You have reached your specified API usage limits. Until'),
  ],
  [
    'Anthropic, the limit of a tier',
    429,
    anthropic('rate_limit_error', 'x', { error_code: 'enforced_spend_limit_reached' }),
  ],
  ['Google', 402, google(402, depleted)],
  ['Google, before', 429, google(429, depleted)],
  ['Google Cloud', 403, google(403, 'Enable billing.', [{ reason: 'BILLING_DISABLED' }])],
  ['DeepSeek', 402, { error: { message: 'Insufficient Balance', type: 'unknown_error' } }],
  ['OpenRouter', 402, { error: { code: 402, message: 'Insufficient credits' } }],
  [
    'OpenRouter, a budget',
    403,
    { error: { code: 403, message: 'x', metadata: { limit_source: 'openrouter_key_limit' } } },
  ],
  ['Moonshot', 429, { error: { message: 'suspended', type: 'exceeded_current_quota_error' } }],
  ['Zhipu', 429, { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }],
  ['Alibaba', 400, { code: 'Arrearage', message: 'Access denied, please make sure' }],
  ['xAI', 429, { code: 'Some resource has been exhausted', error: team }],
  ['xAI', 403, { code: 'x', error: "Your newly created team doesn't have any credits yet." }],
  ['Groq', 400, { error: { message: 'x', code: 'blocked_api_access' } }],
  ['SiliconFlow', 403, { code: 30001, message: 'Sorry, your account balance is insufficient' }],
  ['whoever says no more than 402', 402, {}],
  ['a gateway like this one', 402, openai('insufficient_credits')],
];

const minute = [{ '@type': 'x', retryDelay: '22s' }];
const tooDear = 'This request requires more credits, or fewer max_tokens. You requested 65536.';

/** What it is instead. */
const paid: [...Refusal, Kind][] = [
  ['OpenAI, too quick', 429, openai('rate_limit_exceeded', 'requests'), {}, 'busy'],
  [
    'Google, too quick: the words are those of others’ bills',
    429,
    google(429, quota, minute),
    {},
    'busy',
  ],
  ['Anthropic, too quick', 429, anthropic('rate_limit_error', 'Number of tokens'), {}, 'busy'],
  ['OpenRouter, what runs is to be paid first', 402, {}, { 'retry-after': '3' }, 'busy'],
  ['OpenRouter, this request alone', 402, { error: { code: 402, message: tooDear } }, {}, 'failed'],
  ['a client’s words', 400, { error: { message: `Invalid name: '${tooLow}'` } }, {}, 'rejected'],
  [
    'a client’s words',
    400,
    { error: { message: 'x', param: 'insufficient_quota' } },
    {},
    'rejected',
  ],
  ['a server that fails', 500, openai('insufficient_quota'), {}, 'failed'],
  ['a wrong key', 401, openai('invalid_api_key', 'invalid_request_error'), {}, 'failed'],
];

for (const name of [...familyNames, 'openai-audio']) {
  const family = name === 'openai-audio' ? openaiAudio : requireFamily(name);
  test(`${name} knows an unpaid bill, and takes nothing else for one`, () => {
    for (const [vendor, status, body, headers = {}] of unpaid) {
      const failure = family.readFailure(status, headers, JSON.stringify(body));
      assert.equal(failure.kind, 'unpaid', `${vendor}: ${JSON.stringify(body)}`);
      assert.equal(failure.status, status);
    }
    for (const [vendor, status, body, headers, kind] of paid) {
      const failure = family.readFailure(status, headers ?? {}, JSON.stringify(body));
      assert.equal(failure.kind, kind, `${vendor}: ${JSON.stringify(body)}`);
    }
    assert.equal(family.readFailure(402, {}, 'Payment Required').kind, 'unpaid');
    assert.equal(family.readFailure(429, {}, 'Too Many Requests').kind, 'busy');
  });
}

test('so do errors inside of streams that had begun with 200', () => {
  const { error } = openai('insufficient_quota');
  assert.equal(chat.streamFailure(error).kind, 'unpaid');
  assert.equal(chat.streamFailure({ code: 402, message: 'x' }).kind, 'unpaid');
  assert.equal(chat.streamFailure({ code: 'rate_limit_exceeded' }).kind, 'busy');
  assert.equal(responses.streamFailure(error).kind, 'unpaid');
  assert.equal(responses.streamFailure({ code: 'rate_limit_exceeded' }).kind, 'busy');
  assert.equal(messages.streamFailure(anthropic('billing_error', 'x')).kind, 'unpaid');
  assert.equal(messages.streamFailure(anthropic('rate_limit_error', 'x')).kind, 'busy');
  assert.equal(gemini.streamFailure(google(429, depleted).error).kind, 'unpaid');
  assert.equal(gemini.streamFailure(google(429, quota).error).kind, 'busy');
});
