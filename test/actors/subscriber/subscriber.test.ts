// A subscriber: when the headers of its stream leave, and how it asks a generation on another node
// for a sign of life: what the generation has said comes before what its silence means.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { GenerationProtocol } from '../../../actors/generation/protocol.ts';
import type { GenerationEnd } from '../../../actors/subscriber/protocol.ts';
import { ReplySink } from '../../../actors/subscriber/reply-sink.ts';
import { subscriberKind } from '../../../actors/subscriber/subscriber.ts';
import { emptyAnswer } from '../../../media/model/answer.ts';
import type { ActorRef, Answer } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { newId } from '../../../runtime/ids.ts';
import { turns } from '../../harness/request-deps.ts';

type Pong = Answer<{ status: 'attached' | 'detached' }>;

const log = { info: () => {}, warn: () => {}, error: () => {} };
const system = createActorSystem({ node: 1, kinds: [subscriberKind], log });
// Actors' timers keep no process running, and from Node 22 on its test runner does not either.
const running = setInterval(() => {}, 60_000);
after(() => {
  clearInterval(running);
  return system.stop(0);
});

const told: GenerationEnd = {
  status: 'failed',
  problem: { code: 'upstream_error', message: '', param: null, details: null, headers: {} },
  answer: emptyAnswer(),
  svcUsage: null,
  svcRouting: null,
};

/** One that has asked its generation; the answer is the test's. */
async function probing() {
  let answer: (pong: Pong) => void = () => assert.fail('nothing was asked');
  let asked = 0;
  const ask = () => {
    asked += 1;
    return new Promise<Pong>((resolve) => {
      answer = resolve;
    });
  };
  const address = { node: 2, kind: 'generation', id: 'far' };
  const generation = { kind: 'generation', id: 'far', tell: () => true, ask };
  const sink = new ReplySink(null);
  const subscriber = system.spawn(subscriberKind, newId('req', 1), {
    sink,
    holdBackMs: 60_000,
    generationAt: () => generation as unknown as ActorRef<GenerationProtocol>,
  });
  assert.ok(subscriber !== null);
  subscriber.tell('watch', address);
  subscriber.tell('probe', null);
  await turns();
  assert.equal(asked, 1);
  const ending = async () => {
    const opening = await sink.opening;
    assert.ok(opening.kind === 'end' && opening.end.status === 'failed');
    return opening.end.problem.code;
  };
  return { sink, subscriber, ending, answer: (pong: Pong) => answer(pong), asked: () => asked };
}

/** One that streams, with an encoder that writes what it is told of. */
function streaming(holdBackMs: number) {
  const encoder = {
    events: () => 'events ',
    progress: () => 'progress ',
    finish: () => 'finish ',
    failure: () => 'failure ',
  };
  const sink = new ReplySink(encoder);
  const generationAt = () => assert.fail('nobody is asked');
  const args = { sink, holdBackMs, generationAt };
  const subscriber = system.spawn(subscriberKind, newId('req', 1), args);
  assert.ok(subscriber !== null);
  return { sink, subscriber };
}

test('headers that were held back for long enough leave with nothing behind them', async () => {
  const { sink, subscriber } = streaming(1);
  assert.deepEqual(await sink.opening, { kind: 'stream' });
  subscriber.tell('end', told);
});

test('headers leave with the first progress and with the first event, not before', async () => {
  for (const first of ['progress', 'events'] as const) {
    const { sink, subscriber } = streaming(60_000);
    await turns();
    assert.equal(sink.opened, false, first);
    if (first === 'events') subscriber.tell('events', []);
    else subscriber.tell('progress', { stage: 'routing', state: 'completed', detail: '' });
    assert.deepEqual(await sink.opening, { kind: 'stream' });
    subscriber.tell('end', told);
  }
});

test('a failure before the headers is an end of its own, for a status', async () => {
  const { sink, subscriber } = streaming(60_000);
  subscriber.tell('end', told);
  assert.deepEqual(await sink.opening, { kind: 'end', end: told });
});

test('the end of a generation that has stopped since it was asked is told', async () => {
  const { subscriber, ending, answer } = await probing();
  subscriber.tell('end', told);
  answer({ ok: false, reason: 'stopped' });
  assert.equal(await ending(), 'upstream_error');
});

test('the end comes at once, however long the answer takes', async () => {
  const { subscriber, ending } = await probing();
  subscriber.tell('end', told);
  assert.equal(await ending(), 'upstream_error');
});

test('a generation that is gone without an end is told as an error', async () => {
  for (const reason of ['stopped', 'actor_crashed', 'unreachable'] as const) {
    const { ending, answer } = await probing();
    answer({ ok: false, reason });
    assert.equal(await ending(), 'internal');
  }
});

test('a generation that has no time to answer is asked again, one question at a time', async () => {
  for (const reason of ['timeout', 'overloaded'] as const) {
    const { sink, subscriber, answer, asked } = await probing();
    subscriber.tell('probe', null);
    await turns();
    assert.equal(asked(), 1);
    answer({ ok: false, reason });
    await turns();
    assert.equal(sink.opened, false);
    subscriber.tell('probe', null);
    await turns();
    assert.equal(asked(), 2);
    subscriber.tell('clientGone', null);
  }
});
