// Models for voice, speech and transcription in the catalog: what each kind needs, which providers
// can run it, and that nothing that asks for text ends at one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { documentFaults, faultLine } from '../../../actors/catalog/faults.ts';
import { buildSnapshot, publicEntries } from '../../../actors/catalog/snapshot.ts';
import { requireKind } from '../../../actors/catalog/use.ts';

const base_url = 'http://127.0.0.1:9/v1';
const providers = [
  { name: 'text', family: 'openai-chat', base_url },
  { name: 'realtime', family: 'openai-realtime', base_url },
  { name: 'live', family: 'gemini-live', base_url },
  { name: 'audio', family: 'openai-audio', base_url, simulated: true },
];

const voice = {
  alias: 'talk',
  kind: 'voice',
  routes: [{ provider: 'realtime', upstream_model: 'r' }],
  price: { audio_input: '32', text_input: '4', audio_output: '64', text_output: '16' },
  voices: { alloy: 'upstream-alloy' },
  tokens_per_second_max: { audio_input: 10, text_input: 5, audio_output: 20, text_output: 5 },
};
const speech = {
  alias: 'vendorA-mini-tts',
  kind: 'speech',
  routes: [{ provider: 'audio', upstream_model: 's' }],
  price: { per_1k_characters: '0.015' },
  voices: { alloy: 'a' },
};
const transcription = {
  alias: 'svc-transcribe',
  kind: 'transcription',
  routes: [{ provider: 'audio', upstream_model: 't' }],
  price: { per_audio_minute: '0.006' },
};
const text = {
  alias: 'chat',
  routes: [{ provider: 'text', upstream_model: 'c' }],
  price: { input_per_million: '1', output_per_million: '2' },
};

function linesOf(models: unknown[], more: Record<string, unknown> = {}): string[] {
  const document = v.parse(catalogDocumentSchema, { providers, models, ...more });
  return documentFaults(document).map(faultLine);
}

test('a model of every kind is right as it should be', () => {
  assert.deepEqual(linesOf([voice, speech, transcription, text]), []);
});

test('a model without its kind is one for generation', () => {
  const document = v.parse(catalogDocumentSchema, { providers, models: [text] });
  assert.equal(document.models[0]?.kind, 'generation');
});

test('a capability that is declared twice is shown once', () => {
  const twice = { ...text, capabilities: ['chat', 'tools', 'chat'] };
  const document = v.parse(catalogDocumentSchema, { providers, models: [twice] });
  const [entry] = publicEntries(buildSnapshot(document, () => 0));
  assert.deepEqual(entry?.capabilities, ['chat', 'tools']);
});

test('a provider must be of a family that can run the kind', () => {
  const routes = (provider: string) => ({ routes: [{ provider, upstream_model: 'x' }] });
  for (const [model, provider] of [
    [voice, 'audio'],
    [voice, 'text'],
    [speech, 'realtime'],
    [transcription, 'text'],
    [text, 'audio'],
    [text, 'live'],
  ] as const) {
    const [line = '', ...others] = linesOf([{ ...model, ...routes(provider) }]);
    assert.match(line, /^models\[0\]\.routes\[0\]\.provider: there is no provider "/);
    assert.deepEqual(others, []);
  }
  assert.deepEqual(linesOf([{ ...voice, ...routes('live') }]), []);
});

test('a price that the kind needs must be there, also on a named card', () => {
  const line = (model: Record<string, unknown>) => linesOf([model])[0];
  const { text_output: _left, ...partial } = voice.price;
  assert.equal(
    line({ ...voice, price: partial }),
    'models[0].price.text_output: audio_input, text_input, audio_output and text_output are needed',
  );
  assert.equal(
    line({ ...speech, price: { per_audio_minute: '1' } }),
    'models[0].price.per_1k_characters: per_1k_characters is needed',
  );
  assert.equal(
    line({ ...text, price: speech.price }),
    'models[0].price.input_per_million: input_per_million and output_per_million are needed',
  );
  const prices = [{ name: 'minutes', per_audio_minute: '0.006' }];
  assert.deepEqual(linesOf([{ ...transcription, price: 'minutes' }], { prices }), []);
  assert.deepEqual(linesOf([{ ...speech, price: 'minutes' }], { prices }), [
    'models[0].price: card "minutes": per_1k_characters is needed',
  ]);
  assert.equal(linesOf([], { prices: [{ name: 'empty' }] }).length, 1);
});

test('voices and rates belong to the kinds that use them', () => {
  const { voices, tokens_per_second_max } = voice;
  for (const model of [
    { ...voice, voices: undefined },
    { ...voice, tokens_per_second_max: undefined },
    { ...speech, voices: {} },
    { ...speech, tokens_per_second_max },
    { ...transcription, voices },
    { ...text, voices },
  ]) {
    assert.equal(linesOf([model]).length, 1, JSON.stringify(model));
  }
});

test('a managed route cannot choose what does not answer in text', () => {
  const routes = [{ alias: 'auto', pool: [{ model: 'chat' }, { model: 'vendorA-mini-tts' }] }];
  assert.deepEqual(linesOf([text, speech], { routes }), [
    'routes[0].pool[1].model: "vendorA-mini-tts" is a speech model: ' +
      'the pool has models for generation only',
  ]);
});

test('shards and the public get what they need of each kind', () => {
  const document = v.parse(catalogDocumentSchema, {
    providers,
    models: [voice, speech, transcription],
  });
  const snapshot = buildSnapshot(document, () => 0);
  const [talk, speak] = snapshot.models;
  assert.deepEqual(talk?.voices, { alloy: 'upstream-alloy' });
  assert.deepEqual(talk?.tokensPerSecondMax, {
    audioInput: 10,
    textInput: 5,
    audioOutput: 20,
    textOutput: 5,
  });
  assert.equal(speak?.kind, 'speech');
  assert.equal(speak?.simulated, true);
  const [first, second, third] = publicEntries(snapshot);
  assert.deepEqual(first?.capabilities, ['audio']);
  assert.equal(first?.supports_streaming, false);
  assert.equal(first?.credits_per_million_input, null);
  // 32 dollars, 100 credits a dollar, 5 % more.
  assert.equal(first?.credits_per_million_audio_input, 3_360);
  assert.equal(second?.credits_per_1k_characters, 1.575);
  assert.equal(third?.credits_per_audio_minute, 0.63);
  assert.throws(() => talk !== undefined && requireKind(talk, 'generation'), {
    code: 'model_not_found',
    message: '"talk" is a voice model: it is used with voice sessions.',
  });
});
