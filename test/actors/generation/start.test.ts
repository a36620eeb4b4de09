// One entry for every generation: an actor that is no route starts one under a key of its own. What
// is told, charged and refused is the same.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type GenerationServices,
  type GenerationWanted,
  startGeneration,
} from '../../../actors/generation/start.ts';
import type { GenerationEnd } from '../../../actors/subscriber/protocol.ts';
import { ReplySink } from '../../../actors/subscriber/reply-sink.ts';
import type { ActorKind } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import type { TestAccount } from '../../harness/account.ts';
import { chatSource, neutralRequest, userMessage } from '../../harness/request.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(() => stage.close());

type AskerProtocol = {
  ask: (wanted: GenerationWanted) => Promise<GenerationEnd | null>;
};

/** Asks a model on behalf of its own work, as a meeting or a search would. */
const askerKind: ActorKind<AskerProtocol, null> = {
  name: 'asker',
  parent: 'process',
  placement: 'main',
  supervision: { strategy: 'restart', crashesMax: 1, withinMs: 1_000 },
  mailboxLengthMax: 16,
  start: () => null,
  behaviour: {
    async ask(_state, wanted) {
      const sink = () => new ReplySink(null);
      const { opening } = await startGeneration(stage.services, wanted, sink, () => {});
      return opening.kind === 'end' ? opening.end : null;
    },
  },
};

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function ask(wanted: GenerationWanted): Promise<GenerationEnd | null> {
  const system = createActorSystem({ node: 0, kinds: [askerKind], log: silent });
  const answer = await system.ref(askerKind, 'own').ask('ask', wanted, 20_000);
  await system.stop(1_000);
  if (!answer.ok) throw new Error(answer.reason);
  return answer.value;
}

function wantedOf({ accountId, walletId, keyId }: TestAccount, key: string | null, model?: string) {
  const alias = model ?? stage.model.alias;
  const content = 'What is due today?';
  return {
    exchangeId: 'own-work',
    accountId,
    walletId,
    apiKeyId: keyId,
    route: '/v1/chat/completions',
    idempotencyKey: key,
    fingerprint: key === null ? '' : 'f'.repeat(64),
    background: false,
    stored: false,
    rules: null,
    storeRequest: null,
    request: neutralRequest({
      model: alias,
      messages: [userMessage(content)],
      source: chatSource({ model: alias, messages: [{ role: 'user', content }] }),
    }),
    takePermit: () => () => {},
  } satisfies GenerationWanted;
}

test('an actor starts a generation, is told its end and charged once under its key', async () => {
  const account = await stage.account();
  const { availableMicros: full } = await account.balance();
  const first = await ask(wantedOf(account, 'job-1'));
  assert.equal(first?.status, 'completed');
  const { availableMicros: left, heldMicros } = await account.quiet();
  assert.ok(left < full && heldMicros === 0n);
  const again = await ask(wantedOf(account, 'job-1'));
  assert.equal(again?.status, 'completed');
  assert.equal((await account.quiet()).availableMicros, left, 'told again, not charged again');
});

test('what is planned is refused as a route would be', async () => {
  const account = await stage.account();
  const wanted = wantedOf(account, null, 'nobody-has-it');
  await assert.rejects(
    startGeneration(
      stage.services,
      wanted,
      () => new ReplySink(null),
      () => {},
    ),
    { code: 'model_not_found', param: 'model' },
  );
  const other = { ...wantedOf(account, 'job-2'), fingerprint: 'e'.repeat(64) };
  await ask(wantedOf(account, 'job-2'));
  await assert.rejects(
    startGeneration(
      stage.services,
      other,
      () => new ReplySink(null),
      () => {},
    ),
    { code: 'idempotency_key_reused' },
  );
});

test('at the cap of detached generations nothing new begins, what was is told again', async () => {
  const account = await stage.account();
  await ask(wantedOf(account, 'job-3'));
  const limiter = { detachedRoom: () => 'process' } as unknown as GenerationServices['limiter'];
  const full: GenerationServices = { ...stage.services, limiter };
  const permits: string[] = [];
  const takePermit = () => {
    permits.push('taken');
    return () => {};
  };
  const fresh = { ...wantedOf(account, 'job-4'), takePermit };
  const sink = () => new ReplySink(null);
  await assert.rejects(
    startGeneration(full, fresh, sink, () => {}),
    { code: 'overloaded' },
  );
  assert.deepEqual(permits, [], 'refused before its permit is taken');
  const again = await startGeneration(full, wantedOf(account, 'job-3'), sink, () => {});
  assert.equal(again.replayed, true);
});
