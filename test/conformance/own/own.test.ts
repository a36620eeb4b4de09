// What a client of Responses gets of a Responses provider is what that sent: event by event and
// item by item, with the official client, however the answer is asked for.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { TestAccount } from '../../harness/account.ts';
import type { Testbed } from '../../harness/testbed.ts';
import { openAi } from '../client.ts';
import { openOwnBed } from './bed.ts';
import { fixtures } from './fixtures.ts';
import { type OwnUpstream, startOwnUpstream } from './upstream.ts';

let bed: Testbed;
let upstream: OwnUpstream;
let account: TestAccount;
let client: OpenAI;
before(async () => {
  upstream = await startOwnUpstream();
  bed = await openOwnBed('openai-responses', upstream.url);
  account = await bed.account();
  client = openAi(account);
});
after(async () => {
  await bed?.close();
  await upstream?.close();
});

const model = 'own-model';
const include = ['reasoning.encrypted_content' as const, 'message.output_text.logprobs' as const];

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

type Members = Record<string, unknown>;

/** Without what is ours to say: ids, and what seals reasoning. */
function plainItem(item: object): Members {
  const { id: _id, ...plain } = { ...item } as Members;
  if (plain.type === 'reasoning') plain.encrypted_content = typeof plain.encrypted_content;
  return plain;
}

function plainEvent(event: object): Members {
  const { sequence_number: _number, obfuscation: _padding, ...plain } = { ...event } as Members;
  if ('item_id' in plain) plain.item_id = `item ${String(plain.output_index)}`;
  if (typeof plain.item === 'object' && plain.item !== null) plain.item = plainItem(plain.item);
  return plain;
}

/** What a provider that stores nothing is sent of an item. */
function inputItem(item: Members, shownId: unknown): Members {
  const { id, type, encrypted_content, summary } = item;
  if (type === 'reasoning') return { id, type, encrypted_content, summary };
  const isNamed = !['message', 'custom_tool_call', 'function_call'].includes(String(type));
  const { id: _id, ...kept } = item;
  return isNamed ? { id: shownId, ...kept } : kept;
}

/** An item as it begins says of its seal as little as one that has none. */
function unsealed(event: Members): Members {
  const { item } = event as { item?: Members };
  if (item?.type !== 'reasoning' || event.type !== 'response.output_item.added') return event;
  const { encrypted_content: _sealed, ...plain } = item;
  return { ...event, item: plain };
}

function assertSame(response: Response, name: string, output: readonly object[]): void {
  assert.equal(response.status, 'completed', name);
  const wanted = JSON.parse(JSON.stringify(output)) as object[];
  assert.deepEqual(response.output.map(plainItem), wanted.map(plainItem), name);
}

/** All but the first two and the last event. */
function inside(events: readonly object[]): Members[] {
  return events.slice(2, -1).map((event) => unsealed(plainEvent(event)));
}

function lastResponse(events: readonly ResponseStreamEvent[]): Response {
  const last = events.at(-1);
  assert.ok(last?.type === 'response.completed', last?.type);
  return last.response;
}

for (const { name, output, events } of fixtures) {
  const wanted = (JSON.parse(JSON.stringify(events)) as object[]).map((event) =>
    unsealed(plainEvent(event)),
  );

  test(`${name}: whole, stored, and continued`, async () => {
    const whole = await client.responses.create({ model, input: name, include });
    assertSame(whole, 'whole', output);
    assert.deepEqual(await client.responses.retrieve(whole.id), whole);
    const next = { model, input: 'and?', previous_response_id: whole.id, include };
    assertSame(await client.responses.create(next), 'continued', output);
    const sent = upstream.lastBody().input as Members[];
    const said = (JSON.parse(JSON.stringify(output)) as Members[]).map((item, index) =>
      inputItem(item, whole.output[index]?.id),
    );
    assert.deepEqual(sent.slice(1, -1), said, 'the turn goes back as it came');
  });

  test(`${name}: streamed, and replayed by its key`, async () => {
    const body = { model, input: name, include };
    const options = { headers: { 'idempotency-key': `own-${name.replace(/[^a-z]/g, '')}` } };
    const live = await collect(await client.responses.create({ ...body, stream: true }, options));
    assert.deepEqual(inside(live), wanted);
    assertSame(lastResponse(live), 'streamed', output);
    const again = await collect(await client.responses.create({ ...body, stream: true }, options));
    assertSame(lastResponse(again), 'replayed as a stream', output);
    // The helper builds it from the events, and throws where they do not fit one another.
    const helped = await client.responses.stream(body, options).finalResponse();
    assert.equal(helped.output.length, output.length);
    assertSame(await client.responses.create(body, options), 'replayed whole', output);
  });

  test(`${name}: in the background, from any event on`, async () => {
    const body = { model, input: name, include, background: true as const };
    const live = await collect(await client.responses.create({ ...body, stream: true }));
    assert.deepEqual(inside(live), wanted);
    const { id } = lastResponse(live);
    for (let number = 0; number < live.length - 1; number += 1) {
      const query = { stream: true as const, starting_after: number };
      const rest = await collect(await client.responses.retrieve(id, query));
      assert.deepEqual(rest.slice(0, -1), live.slice(number + 1, -1), `after ${number}`);
      assertSame(lastResponse(rest), `after ${number}`, output);
    }
  });
}
