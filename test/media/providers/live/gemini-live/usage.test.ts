// What reports of a live session add up to: running counts of one model call, sums over calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveUsage } from '../../../../../media/providers/live/contract.ts';
import { type Message, pcm } from '../streams.ts';
import { audio, content, heard, turnComplete, usageOf } from './fixtures.ts';
import { read, readyCodec } from './session.ts';

function totals(messages: readonly Message[]): number[] {
  const codec = readyCodec();
  const { events } = read(codec, messages);
  const sum = [0, 0, 0, 0];
  for (const event of events) {
    const { type, usage }: { type: string; usage: LiveUsage } = Object(event);
    if (type !== 'usage') continue;
    Object.values(usage).forEach((tokens, index) => {
      sum[index] = (sum[index] ?? 0) + tokens;
    });
  }
  return sum;
}

const report = (prompt: number, response: number): Message => ({
  usageMetadata: usageOf(prompt, response),
});

test('one report a turn: they are summed, with the earlier turns in each prompt', () => {
  const three = [1, 2, 3].flatMap((turn) => [
    heard('a'),
    audio(pcm(turn)),
    turnComplete(20 * turn, 25),
  ]);
  assert.deepEqual(totals(three), [10 + 30 + 50, 30, 75, 0]);
});

test('several reports of one call are running counts', () => {
  const turn = [audio(pcm(1)), report(30, 5), audio(pcm(2)), report(30, 25), turnComplete(30, 40)];
  assert.deepEqual(totals(turn), [20, 10, 40, 0]);
  assert.deepEqual(totals([...turn, report(30, 40), report(30, 41)]), [20, 10, 41, 0], 'late ones');
});

test('a report that is lower than the one before takes nothing back', () => {
  assert.deepEqual(totals([audio(pcm(1)), report(30, 40), report(30, 20)]), [20, 10, 40, 0]);
});

test('a report after its turn counts, and before the first content of the next as well', () => {
  const first = [audio(pcm(1)), content({ turnComplete: true }), report(30, 40)];
  assert.deepEqual(totals(first), [20, 10, 40, 0]);
  assert.deepEqual(
    totals([...first, report(80, 0), audio(pcm(2)), report(80, 9)]),
    [90, 20, 49, 0],
  );
});

test('a call without a report is told when the next one begins, but not before', () => {
  const types = (messages: readonly Message[]) =>
    read(readyCodec(), messages)
      .events.map((event) => String(Object(event).type))
      .filter((type) => /^(usage|unreported)$/.test(type));
  const end = content({ turnComplete: true });
  assert.deepEqual(types([audio(pcm(1)), end]), [], 'it may come late');
  assert.deepEqual(types([audio(pcm(1)), end, audio(pcm(2)), turnComplete(30, 40)]), [
    'unreported',
    'usage',
  ]);
  assert.deepEqual(types([audio(pcm(1)), end, report(0, 0), audio(pcm(2))]), ['usage'], 'zeros');
});

test('a turn with tool calls is two calls of the model', () => {
  const codec = readyCodec();
  const toolCall = { functionCalls: [{ id: 'f1', name: 'clock' }] };
  const first = read(codec, [{ toolCall, ...report(30, 8) }]);
  codec.toolResult('f1', 'clock', '{}');
  const second = read(codec, [audio(pcm(1)), turnComplete(60, 40)]);
  const all = [...first.events, ...second.events];
  const speech = all.flatMap((event) => {
    const { type, usage } = Object(event);
    return type === 'usage' ? [[usage.inputSpeechTokens, usage.outputSpeechTokens]] : [];
  });
  assert.deepEqual(speech, [
    [20, 8],
    [50, 40],
  ]);
});

test('an explicit zero is a report, a missing one is none; thoughts and tools are text', () => {
  const zero = read(readyCodec(), [{ usageMetadata: { promptTokenCount: 0, totalTokenCount: 0 } }]);
  assert.deepEqual(zero.events.length, 1);
  assert.deepEqual(read(readyCodec(), [{ usageMetadata: {} }]).events, []);
  const total = read(readyCodec(), [{ usageMetadata: { totalTokenCount: 90 } }]);
  assert.deepEqual(total.events, [], 'a total alone is no report');
  const usageMetadata = {
    promptTokenCount: 40,
    responseTokenCount: 50,
    thoughtsTokenCount: 6,
    toolUsePromptTokenCount: 7,
  };
  assert.deepEqual(totals([{ usageMetadata }]), [40, 7, 50, 6], 'no details: speech');
  const promptTokensDetails = [
    { modality: 'AUDIO', tokenCount: 20 },
    { modality: 'AUDIO', tokenCount: 5 },
    { modality: 'IMAGE', tokenCount: 3 },
    { modality: 'TEXT', tokenCount: 12 },
  ];
  const detailed = { ...usageMetadata, promptTokensDetails, responseTokensDetails: [null, 7] };
  assert.deepEqual(totals([{ usageMetadata: detailed }]), [25, 15 + 7, 50, 6]);
});

test('Vertex AI names the response otherwise', () => {
  const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 5 };
  assert.deepEqual(totals([{ usageMetadata }]), [4, 0, 5, 0]);
});

test('counts that no model call can have are none', () => {
  const absurd = Number.MAX_SAFE_INTEGER;
  assert.deepEqual(totals([heard('a'), audio(pcm(1)), report(absurd, absurd)]), [0, 0, 0, 0]);
  const promptTokensDetails = Array.from({ length: 20 }, () => {
    return { modality: 'AUDIO', tokenCount: 9_000_000 };
  });
  const usageMetadata = { promptTokenCount: 40, responseTokenCount: 7, promptTokensDetails };
  assert.deepEqual(totals([heard('a'), audio(pcm(1)), { usageMetadata }]), [40, 0, 7, 0]);
});

test('a report with one total that no call can have is none at all', () => {
  const good = { ...usageOf(30, 40), thoughtsTokenCount: 2, toolUsePromptTokenCount: 3 };
  const names = Object.keys(good).filter((name) => name.endsWith('Count'));
  assert.equal(names.length, 5);
  const turn = [heard('a'), audio(pcm(1))];
  for (const name of [...names, 'candidatesTokenCount']) {
    for (const odd of [-1, 1.5, 2 ** 53 + 2, 1e300, '30', 'NaN', {}]) {
      const codec = readyCodec();
      const usageMetadata = { ...good, [name]: odd };
      const { events } = read(codec, [...turn, content({ turnComplete: true }, { usageMetadata })]);
      const told = events.filter((event) => Object(event).type === 'usage');
      assert.deepEqual(told, [], `${name} ${odd}`);
      assert.ok(codec.owesUsage, 'what was heard is estimated');
      const next = read(codec, [audio(pcm(2)), turnComplete(30, 50)]).events;
      const types = next.map((event) => Object(event).type);
      assert.deepEqual([types[0], types.includes('usage')], ['unreported', true]);
    }
  }
  assert.deepEqual(
    totals([...turn, { usageMetadata: { ...good, totalTokenCount: null } }]),
    [20, 13, 40, 2],
  );
});
