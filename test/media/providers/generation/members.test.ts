// What becomes of the members of a request. Every member that a vendor publishes is decided of: a
// new one in their packages fails here until somebody has decided.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestSource, WireFormat } from '../../../../media/model/request.ts';
import { requireFamily } from '../../../../media/providers/generation/families.ts';
import {
  droppedMembers,
  type Fate,
  fateOf,
  forwardFault,
} from '../../../../media/providers/generation/members.ts';
import { declarations, memberNames } from '../../../harness/published-types.ts';
import { neutralRequest } from '../../../harness/request.ts';

const published: Record<WireFormat, () => string[]> = {
  chat: () =>
    memberNames(
      declarations('openai', 'resources/chat/completions/completions.d.ts'),
      'ChatCompletionCreateParamsBase',
    ),
  responses: () =>
    memberNames(
      declarations('openai', 'resources/responses/responses.d.ts'),
      'ResponseCreateParamsBase',
    ),
  // The one that is left out is a header.
  messages: () =>
    memberNames(
      declarations('@anthropic-ai/sdk', 'resources/beta/messages/messages.d.ts'),
      'MessageCreateParamsBase',
    ).filter((name) => name !== 'betas'),
};

const families: Record<WireFormat, string> = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
};
const vendors: Record<WireFormat, string> = {
  chat: 'https://api.openai.com/v1',
  responses: 'https://eu.api.openai.com/v1',
  messages: 'https://api.anthropic.com/v1',
};
const formats = ['chat', 'responses', 'messages'] as const;

/** What the issue and its like are about: each of them chooses what is run, or makes it dearer. */
const dangerous = [
  'models',
  'provider',
  'route',
  'plugins',
  'extra_body',
  'chat_template',
  'chat_template_kwargs',
  'min_tokens',
  'ignore_eos',
  'best_of',
  'preset',
  'transforms',
];

function told(format: WireFormat, body: Record<string, unknown>, target: object = {}) {
  const whole = { model: 'alias', messages: [{ role: 'user', content: 'x' }], ...body };
  const source: RequestSource = { format, body: whole, headers: {}, rewritten: false };
  const request = neutralRequest({ source });
  const at = {
    routeId: 'r',
    family: families[format],
    baseUrl: 'http://localhost:1/v1',
    apiKey: null,
    upstreamModel: 'm',
    ...target,
  };
  const options = { outputTokensMax: 9, nativeSearch: false };
  return {
    sent: requireFamily(families[format]).encodeRequest(request, at, options).body,
    dropped: droppedMembers(request, requireFamily(families[format]), at),
  };
}

for (const format of formats) {
  test(`${format}: every published member is decided of`, () => {
    const undecided = published[format]().filter((name) => fateOf(format, name) === undefined);
    assert.deepEqual(undecided, []);
  });

  test(`${format}: what is decided is what is sent`, () => {
    for (const name of published[format]()) {
      const fate = fateOf(format, name);
      if (fate === 'ours' || fate === 'written') continue;
      const value = name === 'reasoning' ? { effort: 'low' } : ['x'];
      const other = told(format, { [name]: value });
      const vendor = told(format, { [name]: value }, { baseUrl: vendors[format] });
      const passes: Fate[] = ['neutral', 'passes'];
      assert.equal(name in other.sent, passes.includes(fate as Fate), `${name} elsewhere`);
      assert.equal(name in vendor.sent, fate !== 'dropped', `${name} at the vendor`);
      assert.equal(other.dropped.includes(name), !(name in other.sent), `${name} is told of`);
    }
  });

  test(`${format}: nothing chooses another model, route, template or plugin`, () => {
    for (const name of dangerous) {
      const { sent, dropped } = told(format, { [name]: ['x'] });
      assert.ok(!(name in sent), name);
      assert.deepEqual(dropped, [name]);
    }
  });

  test(`${format}: unknown members reach the vendor, and a server that is allowed them`, () => {
    const body = { brand_new: { a: 1 }, other: 1 };
    assert.deepEqual(told(format, body).dropped, ['brand_new', 'other']);
    const vendor = told(format, body, { baseUrl: vendors[format] });
    assert.deepEqual(vendor.sent.brand_new, { a: 1 });
    assert.deepEqual(vendor.dropped, []);
    const widened = told(format, body, { forwardMembers: ['other'] });
    assert.equal(widened.sent.other, 1);
    assert.deepEqual(widened.dropped, ['brand_new']);
    for (const baseUrl of [
      'https://api.openai.com.evil.example/v1',
      'https://evil.example/https://api.openai.com/v1',
      'http://api.openai.com/v1',
      'https://notapi.openai.com/v1',
    ]) {
      assert.deepEqual(told(format, body, { baseUrl }).dropped, ['brand_new', 'other'], baseUrl);
    }
  });

  test(`${format}: an administrator cannot let pass what chooses, nor what is known`, () => {
    for (const name of ['models', 'plugins', 'provider', 'route', 'chat_template', 'extra_body']) {
      assert.notEqual(forwardFault(format, name), null, name);
    }
    for (const name of ['model', 'temperature', 'service_tier']) {
      assert.notEqual(forwardFault(format, name), null, name);
    }
    assert.equal(forwardFault(format, 'guided_json'), null);
  });
}

test('members that nobody translates are dropped, what says nothing is not', () => {
  const source = (body: Record<string, unknown>): RequestSource => ({
    format: 'chat',
    body: { model: 'a', messages: [], ...body },
    headers: {},
    rewritten: false,
  });
  const family = requireFamily('anthropic-messages');
  const baseUrl = 'https://api.anthropic.com/v1';
  const at = { routeId: 'r', family: family.name, baseUrl, apiKey: null, upstreamModel: 'm' };
  const dropped = (body: Record<string, unknown>) =>
    droppedMembers(neutralRequest({ source: source(body) }), family, at);
  assert.deepEqual(dropped({ logit_bias: { 1: 2 }, brand_new: 1, temperature: 1 }), [
    'logit_bias',
    'brand_new',
  ]);
  const usual = { service_tier: 'auto', store: false, user: '', logit_bias: {}, verbosity: null };
  assert.deepEqual(dropped(usual), []);
});
