// When an upstream is paused, with calls and a ledger of the test's own: what the hold does not
// cover waits at the provider, not here.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import { createGenerationKind } from '../../../actors/generation/generation.ts';
import type { GenerationDeps, GenerationSpec } from '../../../actors/generation/spec.ts';
import { Desk } from '../../../actors/subscriber/desk.ts';
import { subscriberKind } from '../../../actors/subscriber/subscriber.ts';
import type { ModelEvent } from '../../../media/model/events.ts';
import { satisfiesOutputFormat } from '../../../media/model/structured.ts';
import type { UpstreamListener } from '../../../media/providers/contract.ts';
import { requireFamily } from '../../../media/providers/families.ts';
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
const wallet = new FakeWallet();
const calls = new FakeCalls<UpstreamListener>();
const given = fakeRequestDeps(wallet);
const { limits } = given;
const deps: GenerationDeps = {
  ...given,
  limits: { ...limits, generation: { ...limits.generation, sliceTokens } },
  upstream: calls,
  family: requireFamily,
  search: { search: async () => null },
  countTokens: async () => null,
  checkAnswer: async (format, text) => satisfiesOutputFormat(format, text),
  running: new TransientMap(),
};
const kind = createGenerationKind(deps);
const log = { info: () => {}, warn: () => {}, error: () => {} };
const system = createActorSystem({ node: 1, kinds: [kind, subscriberKind], log });
after(() => system.stop(0));

/** Asks for a JSON object of a model that is not known to keep to it: the answer is withheld. */
async function generate(): Promise<void> {
  assert.ok(model !== undefined && target !== undefined);
  const id = newId('req', 1);
  const subscriber = system.spawn(subscriberKind, id, {
    desk: new Desk(null),
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
    releasePlace: () => {},
    request: neutralRequest({
      messages: [userMessage('hello')],
      outputFormat: { type: 'json_object' },
    }),
    alias: 'say',
    candidates: [{ model, target }],
    routing: null,
    search: null,
    inputTokensEstimate: 10,
    outputTokensCeiling: 4_096,
    keepsAnswer: false,
    background: false,
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
  await generate();
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
