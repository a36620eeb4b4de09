// The reader for a client of its own format: whatever the stream is cut into, and whatever a server
// leaves out of it, the answer has what its items have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, addToAnswer, emptyAnswer } from '../../../../../media/model/answer.ts';
import { outputItems } from '../../../../../media/model/dialects/responses/output.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import { ResponsesReader } from '../../../../../media/providers/generation/openai-responses/reader.ts';
import { fixtures } from '../../../../conformance/own/fixtures.ts';
import type { Fixture, Unnumbered } from '../../../../conformance/own/pieces.ts';
import { streamOf } from '../../../../conformance/own/upstream.ts';
import { accountSeals } from '../../../../harness/request.ts';

function read(pieces: readonly Uint8Array[]): ModelEvent[] {
  const reader = new ResponsesReader('responses');
  const events = pieces.flatMap((piece) => reader.push(piece));
  return [...events, ...reader.end()];
}

type Members = Record<string, unknown>;

function shownOf(events: readonly ModelEvent[]): Members[] {
  const answer: Answer = emptyAnswer();
  for (const event of events) addToAnswer(answer, event);
  const requestId = 'req_0123456789abcdef01234567';
  const seals = accountSeals();
  return outputItems(answer, { requestId, seals, unsealed: true, lastStatus: 'completed' }).map(
    plain,
  );
}

function plain(item: object): Members {
  const { id: _id, ...members } = JSON.parse(JSON.stringify(item)) as Members;
  if (members.type === 'reasoning') delete members.encrypted_content;
  return members;
}

for (const fixture of fixtures) {
  test(`${fixture.name}: cut anywhere, it means the same`, () => {
    const bytes = Buffer.from(streamOf(fixture));
    const whole = read([bytes]);
    assert.deepEqual(shownOf(whole), fixture.output.map(plain));
    for (let cut = 1; cut < bytes.length; cut += 7) {
      assert.deepEqual(read([bytes.subarray(0, cut), bytes.subarray(cut)]), whole, `at ${cut}`);
    }
  });
}

/** What servers are known to leave out. */
const omissions: [name: string, kept: (event: Unnumbered) => boolean][] = [
  ['all but the end', () => false],
  ['deltas', ({ type }) => !type.endsWith('.delta')],
  ['announcements', ({ type }) => !type.endsWith('.added')],
  [
    'ends of parts and of texts',
    (event) => !/(part|text)\.done$/.test(event.type) || isEmpty(event),
  ],
  ['all but the items', ({ type }) => type.startsWith('response.output_item')],
  ['ends of items without a neutral form', (event) => !isNativeEnd(event)],
];

/** Nothing else tells of an empty part before the next one begins. */
function isEmpty(event: Unnumbered): boolean {
  if (event.type !== 'response.content_part.done') return false;
  return event.part.type === 'output_text' && event.part.text === '';
}

function isNativeEnd(event: Unnumbered): boolean {
  if (event.type !== 'response.output_item.done') return false;
  return !['message', 'reasoning', 'function_call'].includes(event.item.type);
}

for (const [name, kept] of omissions) {
  test(`a server leaves out ${name}: no item loses anything`, () => {
    for (const { name: which, output, events } of fixtures) {
      const left: Pick<Fixture, 'output' | 'events'> = { output, events: events.filter(kept) };
      assert.deepEqual(shownOf(read([Buffer.from(streamOf(left))])), output.map(plain), which);
    }
  });
}

test('a search that the whole response leaves out is not taken for what stands there', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'in_progress' };
  const part = { type: 'output_text', text: 'hi', annotations: [], logprobs: [] };
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' };
  const said = { ...message, content: [part] };
  const events: [type: string, members: object][] = [
    ['output_item.added', { output_index: 0, item: search }],
    ['output_item.done', { output_index: 1, item: said }],
    ['completed', { response: { status: 'completed', output: [said] } }],
  ];
  const lines = events.map(([name, members]) => {
    return `data: ${JSON.stringify({ type: `response.${name}`, ...members })}\n\n`;
  });
  const shown = shownOf(read([Buffer.from(lines.join(''))]));
  assert.deepEqual(
    shown.map(({ type }) => type),
    ['web_search_call', 'message'],
  );
});

test('a phase that only the end of a message tells is that of the message', () => {
  const fixture = fixtures.find(({ name }) => name.includes('phases'));
  assert.ok(fixture);
  const events = fixture.events.map((event): Unnumbered => {
    if (event.type !== 'response.output_item.added' || event.item.type !== 'message') return event;
    const { phase: _phase, ...item } = event.item;
    return { ...event, item };
  });
  const { output } = fixture;
  assert.deepEqual(shownOf(read([Buffer.from(streamOf({ output, events }))])), output.map(plain));
});

test('for clients of other formats nothing is told that they have no place for', () => {
  const own = new Set(['part', 'part_logprobs', 'item_members', 'native_begin', 'native_event']);
  for (const fixture of fixtures) {
    const reader = new ResponsesReader();
    for (const event of reader.push(Buffer.from(streamOf(fixture)))) {
      assert.ok(!own.has(event.type), `${fixture.name}: ${event.type}`);
      assert.ok(event.type !== 'text' || event.logprobs === undefined);
      assert.ok(event.type !== 'citation' || event.citation.url !== '');
    }
  }
});
