// A numbered stream goes on from any of its events: whatever came, in whichever runs, and whether
// the second reader comes while it is written or afterwards, the bytes are the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, addToAnswer, emptyAnswer } from '../../../../../media/model/answer.ts';
import type { Receipt, StreamEncoder } from '../../../../../media/model/dialects/contract.ts';
import { responsesDialect } from '../../../../../media/model/dialects/responses/dialect.ts';
import type { ModelEvent, Progress } from '../../../../../media/model/events.ts';
import { addProgress, keepCuts, replayParts } from '../../../../../media/model/replay.ts';
import { zeroUsage } from '../../../../../media/model/usage.ts';
import { Problem } from '../../../../../runtime/problem.ts';
import { borderedRun, numberedNatives } from '../../../../harness/item-boundaries.ts';
import { fc } from '../../../../harness/properties.ts';
import { replyOptions } from '../../../../harness/request.ts';

type Told = ModelEvent | { progress: Progress };

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('', ' token', '"\\\n', '\u2028', '\ud83d'),
);
const call = fc.integer({ min: 0, max: 2 });

const single: fc.Arbitrary<Told> = fc.oneof<fc.Arbitrary<Told>[]>(
  text.map((value) => ({ type: 'text', text: value, plain: false })),
  text.map((value) => ({ type: 'text', text: value, plain: /^[ a-z]*$/.test(value) })),
  text.map((value) => ({ type: 'refusal', text: value })),
  text.map((value) => ({ type: 'reasoning', text: value })),
  fc.constant<Told>({ type: 'reasoning_end', format: 'responses', value: { id: 'rs_1' } }),
  text.map((title) => ({
    type: 'citation',
    citation: { url: 'https://a', title, start: 0, end: null },
  })),
  fc.uuid().map((id) => ({ type: 'tool_call', index: 0, id, name: 'f' })),
  fc.tuple(call, text).map(([index, value]): Told => {
    return { type: 'tool_arguments', index, text: value };
  }),
  fc.constantFrom<Told>(
    { type: 'native', format: 'responses', value: { type: 'web_search_call', id: 'ws_1' } },
    { type: 'native', format: 'messages', value: { type: 'server_tool_use' } },
    { type: 'usage', usage: { ...zeroUsage, outputTokens: 1 } },
    { type: 'start' },
  ),
  text.map((detail) => ({ progress: { stage: 'search', state: 'started', detail } })),
);

const toldArbitrary: fc.Arbitrary<Told[]> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: single.map((entry) => [entry]) },
      { weight: 1, arbitrary: borderedRun.map((run): Told[] => run) },
    ),
    { maxLength: 40 },
  )
  .map((runs) => numberedNatives<Told>(runs.flat()));

/** Calls are numbered in the order in which they come. */
function numbered(told: readonly Told[]): Told[] {
  let calls = 0;
  return told.map((entry) => {
    if ('progress' in entry || entry.type !== 'tool_call') return entry;
    calls += 1;
    return { ...entry, index: calls - 1 };
  });
}

type Runs = Told[][];

/** The same in runs of any length, as reads of a socket give them. */
const runsArbitrary = fc
  .tuple(toldArbitrary, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 40, maxLength: 40 }))
  .map(([told, lengths]): Runs => {
    const left = numbered(told);
    return lengths.map((length) => left.splice(0, length)).filter((run) => run.length > 0);
  });

type End = 'finished' | 'cut' | 'failed';

const identity = { requestId: 'req_0123456789abcdef01234567', model: 'alias', createdAt: 1 };
const receipt: Receipt = {
  usage: zeroUsage,
  svcUsage: {
    request_id: identity.requestId,
    model: 'alias',
    input_tokens: 1,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 1,
    reasoning_tokens: 0,
    search_calls: 0,
    charge_microcredits: 1,
    wallet_type: 'personal',
    source: 'reported',
    credits_exhausted: false,
    replayed: false,
    simulated: true,
  },
  svcRouting: null,
};

const encoderAfter = (startingAfter: number | null): StreamEncoder =>
  responsesDialect.encoder(identity, replyOptions({ startingAfter }));

function write(encoder: StreamEncoder, told: readonly Told[]): string {
  let written = '';
  for (const entry of told) {
    written += 'progress' in entry ? encoder.progress(entry.progress) : encoder.events([entry]);
  }
  return written;
}

function add(answer: Answer, told: readonly Told[]): void {
  for (const entry of told) {
    if ('progress' in entry) addProgress(answer, entry.progress);
    else addToAnswer(answer, entry);
  }
}

function catchUp(encoder: StreamEncoder, answer: Answer): string {
  return replayParts(answer)
    .map((part) =>
      'events' in part ? encoder.events(part.events) : encoder.progress(part.progress),
    )
    .join('');
}

function endOf(encoder: StreamEncoder, answer: Answer, end: End): string {
  if (end !== 'failed') return encoder.finish(receipt, answer);
  return encoder.failure(new Problem('upstream_error'), receipt.svcUsage, answer, null);
}

const eventsOf = (stream: string): string[] => stream.split(/(?<=\n\n)/).filter(Boolean);

/** The whole stream as its first reader has it, and the answer after each run. */
function play(runs: Runs, end: End): { stream: string; moments: Answer[]; answer: Answer } {
  const answer = emptyAnswer();
  keepCuts(answer);
  const encoder = encoderAfter(null);
  let stream = encoder.events([{ type: 'start' }]);
  const moments = [structuredClone(answer)];
  for (const run of runs) {
    stream += write(encoder, run);
    add(answer, run);
    moments.push(structuredClone(answer));
  }
  if (end === 'cut') answer.finishReason = 'length';
  stream += endOf(encoder, answer, end);
  return { stream, moments, answer };
}

test('any reader from any event on gets the rest, byte by byte', () => {
  const cases = fc.record({
    runs: runsArbitrary,
    end: fc.constantFrom<End>('finished', 'cut', 'failed'),
    after: fc.nat(),
    moment: fc.nat(),
  });
  fc.assert(
    fc.property(cases, ({ runs, end, after, moment }) => {
      const { stream, moments, answer } = play(runs, end);
      const events = eventsOf(stream);
      const startingAfter = after % events.length;
      const rest = events.slice(startingAfter + 1).join('');

      const late = encoderAfter(startingAfter);
      const stored = JSON.parse(JSON.stringify(answer)) as Answer;
      assert.equal(catchUp(late, stored) + endOf(late, stored, end), rest, 'afterwards');

      const at = moment % moments.length;
      const live = encoderAfter(startingAfter);
      let text = catchUp(live, moments[at] ?? answer);
      for (const run of runs.slice(at)) text += write(live, run);
      assert.equal(text + endOf(live, answer, end), rest, 'while it is written');
    }),
    { numRuns: 2_000 },
  );
});

test('the numbers count up from 0 without a gap', () => {
  fc.assert(
    fc.property(runsArbitrary, (runs) => {
      const numbers = eventsOf(play(runs, 'finished').stream).map((event) => {
        const [, data = ''] = event.split('\ndata: ');
        return (JSON.parse(data) as { sequence_number: number }).sequence_number;
      });
      assert.deepEqual(
        numbers,
        numbers.map((_, index) => index),
      );
    }),
  );
});

test('the items that a stream ends are those of its response', () => {
  const cases = fc.record({
    runs: runsArbitrary,
    end: fc.constantFrom<End>('finished', 'cut', 'failed'),
  });
  fc.assert(
    fc.property(cases, ({ runs, end }) => {
      const ended: unknown[] = [];
      let output: unknown = null;
      for (const event of eventsOf(play(runs, end).stream)) {
        const data = JSON.parse(event.split('\ndata: ')[1] ?? '') as Record<string, unknown>;
        if (data.type === 'response.output_item.done') {
          ended[Number(data.output_index)] = data.item;
        }
        output = (data.response as { output: unknown } | undefined)?.output;
      }
      assert.deepEqual(withoutStatus(output), withoutStatus(ended));
    }),
    { numRuns: 1_000 },
  );
});

/** That of a call or message that was cut follows its place, which is tested elsewhere. */
function withoutStatus(items: unknown): unknown[] {
  return (items as Record<string, unknown>[]).map((item) => ({ ...item, status: '' }));
}
