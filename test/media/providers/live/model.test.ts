// Both codecs under streams in any order and any of our own messages between: what a session may
// rely on holds whatever an upstream does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveCodec, LiveEvent } from '../../../../media/providers/live/contract.ts';
import { fc } from '../../../harness/properties.ts';
import { testSeed } from '../../../harness/seed.ts';
import * as gemini from './gemini-live/fixtures.ts';
import { readyCodec as readyGemini } from './gemini-live/session.ts';
import * as openai from './openai-realtime/fixtures.ts';
import { readyCodec as readyOpenai } from './openai-realtime/session.ts';
import { asText, type Message, parsed, pcm } from './streams.ts';

const seed = testSeed;

type Step =
  | { upstream: Message }
  | { barge: number | null }
  | { truncate: number }
  | { result: string };

const responses = fc.constantFrom('resp_1', 'resp_2', 'resp_3', 'resp_4');
const items = fc.constantFrom('item_1', 'item_2', 'item_3');
const numbers = fc.nat(9);

const openaiMessages: fc.Arbitrary<Message> = fc.oneof(
  responses.map((id) => openai.created(id)),
  fc.tuple(items, responses).map(([item, id]) => openai.itemAdded(item, id)),
  fc.tuple(items, numbers, responses).map(([item, n, id]) => openai.delta(item, pcm(n), id)),
  fc.tuple(items, numbers, responses).map(([item, n, id]) => openai.delta(item, pcm(n), id)),
  fc.constantFrom('completed', 'cancelled', 'failed').chain((status) => {
    return responses.map((id) => openai.done(status, {}, id));
  }),
  fc.constant(0).map(() => openai.speechStarted()),
  fc.constant(0).map(() => openai.speechStopped()),
  fc.tuple(fc.constantFrom('c1', 'c2'), responses).map(([call, id]) => {
    return openai.functionCall(call, 'clock', '{}', id)[1] ?? {};
  }),
);

const geminiMessages: fc.Arbitrary<Message> = fc.oneof(
  numbers.map((n) => gemini.audio(pcm(n))),
  numbers.map((n) => gemini.audio(pcm(n))),
  fc.constantFrom(
    gemini.heard('a'),
    gemini.said('b'),
    gemini.interrupted,
    gemini.generationComplete,
    { toolCallCancellation: { ids: ['c1'] } },
  ),
  fc.tuple(fc.nat(3), numbers).map(([prompt, n]) => gemini.turnComplete(10 + prompt, n)),
  fc.constantFrom('c1', 'c2').map((id) => ({
    toolCall: { functionCalls: [{ id, name: 'clock', args: {} }] },
  })),
);

function steps(messages: fc.Arbitrary<Message>): fc.Arbitrary<Step[]> {
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 10, arbitrary: messages.map((upstream) => ({ upstream })) },
    { weight: 1, arbitrary: fc.option(fc.nat(40)).map((barge) => ({ barge })) },
    { weight: 1, arbitrary: fc.nat(40).map((truncate) => ({ truncate })) },
    { weight: 1, arbitrary: fc.constantFrom('c1', 'c2', 'c3').map((result) => ({ result })) },
  );
  return fc.array(step, { maxLength: 60 });
}

/** What a session knows: items that it was told of, those that are void, audio of each. */
class Session {
  readonly started = new Set<string>();
  readonly silenced = new Set<string>();
  readonly bytes = new Map<string, number>();
  readonly cuts = new Map<string, number>();
  readonly openCalls = new Set<string>();
  newest: string | null = null;

  take(events: readonly LiveEvent[]): void {
    for (const event of events) this.#take(event);
  }

  #take(event: LiveEvent): void {
    assert.notEqual(event.type, 'failed');
    if (event.type === 'answer_started') {
      assert.ok(!this.started.has(event.itemId), 'an item begins once');
      this.started.add(event.itemId);
      this.newest = event.itemId;
    }
    if (event.type === 'audio' || event.type === 'audio_done') this.#isHeard(event.itemId);
    if (event.type === 'transcript' && event.role === 'assistant') this.#isHeard(event.itemId);
    if (event.type === 'audio') {
      assert.ok(event.pcm.length > 0 && event.pcm.length % 2 === 0);
      const before = this.bytes.get(event.itemId) ?? 0;
      this.bytes.set(event.itemId, before + event.pcm.length);
    }
    if (event.type === 'interrupted') {
      assert.ok(this.started.has(event.itemId) && !this.silenced.has(event.itemId));
      this.silence();
    }
    if (event.type === 'tool_call') this.openCalls.add(event.callId);
    if (event.type === 'usage') {
      assert.ok(Object.values(event.usage).every((tokens) => tokens >= 0));
    }
  }

  #isHeard(itemId: string): void {
    assert.ok(this.started.has(itemId), 'only of an item that began');
    assert.ok(!this.silenced.has(itemId), 'never of one that was interrupted');
  }

  silence(): void {
    for (const itemId of this.started) this.silenced.add(itemId);
  }

  /** Messages of ours never ask for what the upstream must refuse. */
  said(messages: readonly string[], server: Server): void {
    for (const message of parsed(messages)) {
      if (message.type === 'response.cancel') server.cancel(String(message.response_id));
      if (message.type === 'conversation.item.truncate') this.#isCuttable(message);
      if (message.type === 'response.create') assert.ok(!server.isBusy, 'one at a time');
    }
  }

  #isCuttable({ item_id: id, audio_end_ms: endMs }: Message): void {
    const itemId = String(id);
    assert.ok(typeof endMs === 'number' && Number.isInteger(endMs) && endMs > 0);
    assert.ok(endMs <= (this.bytes.get(itemId) ?? 0) / 48, 'no more than exists');
    assert.ok(endMs < (this.cuts.get(itemId) ?? Number.POSITIVE_INFINITY), 'what is left of it');
    this.cuts.set(itemId, endMs);
  }
}

/** What runs at an OpenAI Realtime server, and what of it was given up. */
class Server {
  readonly #running = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #givenUp = new Set<string>();
  readonly #cancelled = new Set<string>();
  #newest = '';

  says({ type, response }: Message): void {
    const id = String(Object(response).id);
    const isNew = !this.#ended.has(id) && !this.#running.has(id);
    if (type === 'response.created' && isNew) {
      this.#running.add(id);
      this.#newest = id;
    }
    if (type === 'response.done') {
      this.#ended.add(id);
      this.#running.delete(id);
    }
  }

  cancel(id: string): void {
    assert.ok(this.#running.has(id), 'only what runs');
    assert.ok(!this.#cancelled.has(id), 'once');
    this.#cancelled.add(id);
    this.#givenUp.add(id);
  }

  /** The user speaks over all of them, or barged in. */
  giveUp(): void {
    for (const id of this.#running) this.#givenUp.add(id);
  }

  /** One runs that is to be heard, or the newest does. */
  get isBusy(): boolean {
    return this.#running.has(this.#newest) || this.heard.length > 0;
  }

  /** What a barge-in has to cancel. */
  get heard(): string[] {
    return [...this.#running].filter((id) => !this.#givenUp.has(id));
  }
}

function play(codec: LiveCodec, taken: readonly Step[]): void {
  const session = new Session();
  const server = new Server();
  for (const step of taken) {
    if ('upstream' in step) {
      server.says(step.upstream);
      const { events, replies } = codec.read(asText(step.upstream));
      session.take(events);
      session.said(replies, server);
      if (events.some(({ type }) => type === 'speech_started')) server.giveUp();
    } else if ('barge' in step) {
      const { newest } = session;
      const isHeard = step.barge !== null && newest !== null;
      const heard = isHeard ? { itemId: newest, heardMs: step.barge ?? 0 } : null;
      session.said(codec.bargeIn(heard), server);
      assert.deepEqual(server.heard, [], 'all that runs is given up');
      session.silence();
    } else if ('truncate' in step) {
      const itemId = session.newest ?? 'item_none';
      session.said(codec.truncate({ itemId, heardMs: step.truncate }), server);
    } else {
      const messages = codec.toolResult(step.result, 'clock', '{}');
      assert.ok(messages.length === 0 || session.openCalls.has(step.result));
      session.said(messages, server);
    }
  }
  session.said(codec.close(), server);
}

test('openai-realtime: any order of events and of our own messages', () => {
  fc.assert(
    fc.property(steps(openaiMessages), (taken) => play(readyOpenai(), taken)),
    { seed, numRuns: 3000 },
  );
});

test('gemini-live: any order of messages and of our own', () => {
  fc.assert(
    fc.property(steps(geminiMessages), (taken) => play(readyGemini(), taken)),
    { seed, numRuns: 3000 },
  );
});
