// When an upstream is paused, and when an answer ends for want of credits, with calls and a ledger
// of the test's own: what the hold does not cover waits at the provider, not here.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import { createGenerationKind } from '../../../actors/generation/generation.ts';
import type { GenerationDeps, GenerationSpec } from '../../../actors/generation/spec.ts';
import { UnreadParts } from '../../../actors/generation/unread.ts';
import { ReplySink } from '../../../actors/subscriber/reply-sink.ts';
import { subscriberKind } from '../../../actors/subscriber/subscriber.ts';
import type { ModelEvent } from '../../../media/model/events.ts';
import type { OutputFormat } from '../../../media/model/request.ts';
import { satisfiesOutputFormat } from '../../../media/model/structured.ts';
import type { UpstreamListener } from '../../../media/providers/generation/contract.ts';
import { requireFamily } from '../../../media/providers/generation/families.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { newId } from '../../../runtime/ids.ts';
import { TransientMap } from '../../../runtime/transient.ts';
import { neutralRequest, userMessage } from '../../harness/request.ts';
import { FakeCalls, FakeWallet, fakeRequestDeps, turns } from '../../harness/request-deps.ts';

const document = v.parse(catalogDocumentSchema, {
  providers: [{ name: 'one', family: 'openai-chat', base_url: 'http://a.example' }],
  models: [
    {
      alias: 'say',
      routes: [{ provider: 'one', upstream_model: 'm' }],
      price: { input_per_million: '2.50', output_per_million: '10.00' },
    },
  ],
});
const [model] = buildSnapshot(document, () => 0).models;
assert.ok(model !== undefined);
const [target] = model.targets;
assert.ok(target !== undefined);

const sliceTokens = 4;
let wallet = new FakeWallet();
const calls = new FakeCalls<UpstreamListener>();
const given = fakeRequestDeps(wallet);
const { limits } = given;
const deps: GenerationDeps = {
  ...given,
  wallet: () => wallet,
  limits: { ...limits, generation: { ...limits.generation, sliceTokens } },
  upstream: calls,
  family: requireFamily,
  search: { search: async () => null },
  unread: new UnreadParts(given),
  countTokens: async () => null,
  checkAnswer: async (_accountId, format, text) => satisfiesOutputFormat(format, text),
  running: new TransientMap(),
};
const kind = createGenerationKind(deps);
const log = { info: () => {}, warn: () => {}, error: () => {} };
const system = createActorSystem({ node: 1, kinds: [kind, subscriberKind], log });
after(() => system.stop(0));

/** A JSON object of a model that is not known to keep to it is withheld. */
async function generate(outputFormat: OutputFormat): Promise<void> {
  assert.ok(model !== undefined && target !== undefined);
  wallet = new FakeWallet();
  const id = newId('req', 1);
  const subscriber = system.spawn(subscriberKind, id, {
    sink: new ReplySink(null),
    holdBackMs: 60_000,
    generationAt: (address) => system.at(kind, address),
  });
  assert.ok(subscriber !== null);
  const spec: GenerationSpec = {
    id,
    exchangeId: 'exchange',
    accountId: 'account',
    walletId: wallet.id,
    apiKeyId: null,
    route: '/v1/chat/completions',
    idempotencyKey: null,
    fingerprint: '',
    createdAtMs: Date.now(),
    releasePermit: () => {},
    request: neutralRequest({ messages: [userMessage('hello')], outputFormat }),
    alias: 'say',
    candidates: [{ model, target }],
    routing: null,
    search: null,
    hosted: [],
    inputTokensEstimate: 10,
    outputTokensCeiling: 4_096,
    keepsAnswer: false,
    background: false,
    storeRequest: null,
    detachedSlot: null,
    subscriber,
  };
  assert.notEqual(system.spawn(kind, id, spec), null);
  await turns();
}

const words = Array.from(
  { length: 10 },
  (): ModelEvent => ({
    type: 'text',
    text: 'a',
    plain: true,
  }),
);

test('the repair of an answer that ended while it was paused is paused like it', async () => {
  await generate({ type: 'json_object' });
  await wallet.answer('hold', () => ({ status: 'held', availableMicros: 1_000_000_000n }));
  const first = calls.at(0);
  first.listener.events([...words, { type: 'finish', reason: 'stop' }]);
  await turns();
  assert.equal(first.isPaused, true, 'the hold covers less than was read');
  first.listener.ended(null);
  await turns();
  while (calls.made.length < 2) {
    await wallet.answer('extend', ({ amountMicros }) => ({
      status: 'extended',
      addedMicros: amountMicros,
    }));
  }
  const repair = calls.at(1);
  assert.equal(repair.isPaused, false);
  repair.listener.events(words);
  await turns();
  assert.equal(repair.isPaused, true);
});

const insufficient = () => ({ status: 'insufficient', availableMicros: 0n }) as const;

test('credits that come before the held ones are used up let the answer go on', async () => {
  const made = calls.made.length;
  await generate({ type: 'text' });
  await wallet.answer('hold', () => ({ status: 'held', availableMicros: 0n }));
  const call = calls.at(made);
  call.listener.events(words.slice(0, 3));
  await turns();
  await wallet.answer('extend', insufficient);
  assert.equal(call.isPaused, false, 'what is held is not used up');
  call.listener.events(words.slice(3, 9));
  await turns();
  assert.equal(call.isAborted, false, 'the wallet was asked long ago');
  assert.equal(call.isPaused, true);
  const steps: number[] = [];
  const given = async (micros: bigint) =>
    await wallet.answer('extend', ({ step }) => {
      steps.push(step);
      return { status: 'extended', addedMicros: micros };
    });
  // Two tokens and a bit: less than the slice that was asked for.
  await given(2_200n);
  assert.equal(call.isAborted, false, 'there may be more when these two are used up');
  await given(1_000_000n);
  assert.equal(call.isPaused, false);
  assert.deepEqual(steps, [2, 3], 'each is an extension of its own');
  call.listener.events([{ type: 'finish', reason: 'stop' }]);
  call.listener.ended(null);
  await turns();
  await wallet.answer('settle', ({ finish }) => {
    assert.equal(finish?.status, 'completed');
    return { status: 'settled', chargedMicros: 0n, shortfallMicros: 0n };
  });
});

test('an answer ends where the wallet has nothing when the held credits are used up', async () => {
  const made = calls.made.length;
  await generate({ type: 'text' });
  await wallet.answer('hold', () => ({ status: 'held', availableMicros: 0n }));
  const call = calls.at(made);
  call.listener.events(words);
  await turns();
  assert.equal(call.isPaused, true);
  await wallet.answer('extend', insufficient);
  assert.equal(call.isAborted, true);
  await wallet.answer('settle', ({ finish }) => {
    assert.equal(finish?.status, 'incomplete');
    return { status: 'settled', chargedMicros: 0n, shortfallMicros: 0n };
  });
});
