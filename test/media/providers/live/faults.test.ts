// Every fault of the simulator's live voice, in both families: what a session hears of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningSim, startSim } from '../../../../bench/sim/server.ts';
import type { LiveEvent } from '../../../../media/providers/live/contract.ts';
import { begin, type Talk } from './talk.ts';

const families = ['openai-realtime', 'gemini-live'] as const;
let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 8 });
});
after(() => sim.close());

interface Fault {
  directive: string;
  /** Waited for; what comes before it is checked. */
  until: LiveEvent['type'];
  audioMs: number;
  check?(talk: Talk, family: string): void;
  only?: (typeof families)[number];
}

const noTokens = {
  inputSpeechTokens: 0,
  inputTextTokens: 0,
  outputSpeechTokens: 0,
  outputTextTokens: 0,
};

const faults: Fault[] = [
  {
    directive: 'fault=no_usage',
    until: 'answer_done',
    audioMs: 2000,
    check: ({ count }) => assert.equal(count('usage'), 0),
  },
  {
    directive: 'fault=zero_usage',
    until: 'answer_done',
    audioMs: 2000,
    check: ({ listener }) => {
      const usage = listener.told.find(({ type }) => type === 'usage');
      assert.deepEqual(usage, { type: 'usage', usage: noTokens });
    },
  },
  { directive: 'fault=late_usage late_ms=100', until: 'usage', audioMs: 2000 },
  { directive: 'fault=early_done', until: 'answer_done', audioMs: 2000 },
  { directive: 'fault=duplicate_id', until: 'answer_done', audioMs: 2000 },
  { directive: 'unknown=1', until: 'answer_done', audioMs: 2000 },
  { directive: 'fault=late_transcript', until: 'transcript', audioMs: 2000 },
  {
    directive: 'fault=transcript_failed',
    until: 'problem',
    audioMs: 2000,
    only: 'openai-realtime',
  },
  { directive: 'fault=error at=3', until: 'problem', audioMs: 2000, only: 'openai-realtime' },
  {
    directive: 'fault=failed at=3',
    until: 'answer_done',
    audioMs: 300,
    check: ({ count, listener }) => {
      assert.equal(count('problem'), 1);
      const end = listener.told.find((event) => event.type === 'answer_done');
      assert.ok(end?.outcome === 'failed' || end?.outcome === 'incomplete');
    },
  },
  {
    directive: 'fault=incomplete at=3',
    until: 'answer_done',
    audioMs: 300,
    check: ({ listener }) => {
      const end = listener.told.find((event) => event.type === 'answer_done');
      assert.equal(end?.outcome, 'incomplete');
    },
  },
  { directive: 'fault=garbage at=3', until: 'failed', audioMs: 300, check: endsAs('garbage') },
  { directive: 'fault=cut at=3', until: 'failed', audioMs: 300, check: endsAs('closed') },
  { directive: 'fault=close at=3', until: 'failed', audioMs: 300, check: endsAs('closed') },
  {
    directive: 'fault=close code=1007 at=3',
    until: 'failed',
    audioMs: 300,
    check: endsAs('refused'),
  },
  {
    directive: 'fault=goaway at=3 left_ms=300',
    until: 'failed',
    // One family says it when it is over, the other before.
    audioMs: 0,
    check: (talk, family) => {
      endsAs('closed')(talk);
      const isTold = family === 'gemini-live';
      assert.equal(talk.count('going_away'), isTold ? 1 : 0);
      assert.equal(talk.audio().length, (isTold ? 2000 : 300) * 48);
    },
  },
  {
    directive: 'fault=goaway_silence at=3 left_ms=300',
    until: 'going_away',
    audioMs: 300,
    only: 'gemini-live',
  },
  { directive: 'fault=stall at=3', until: 'audio', audioMs: 300 },
];

function endsAs(kind: string) {
  return ({ listener }: Talk) => {
    const last = listener.told.at(-1);
    assert.ok(last?.type === 'failed' && last.kind === kind, JSON.stringify(last));
  };
}

for (const { directive, until, audioMs, check, only } of faults) {
  for (const family of families) {
    if (only !== undefined && only !== family) continue;
    test(`${family}: ${directive}`, async () => {
      const talk = await begin(sim, family, { directive: `playback=0 ${directive}` });
      talk.say(440);
      await talk.listener.until(until);
      const isWhole = () => talk.audio().length >= audioMs * 48;
      await talk.listener.when(`${audioMs} ms of audio`, isWhole);
      await sleep(60);
      if (audioMs > 0) assert.equal(talk.audio().length, audioMs * 48);
      check?.(talk, family);
      const isOver = talk.listener.types.includes('failed');
      talk.call.close(200);
      if (!isOver) await talk.listener.until('ended');
      await sleep(20);
      assert.equal(talk.count('failed') + talk.count('ended'), 1, 'one last event');
    });
  }
}

test('openai-realtime: a truncate that is refused is no problem', async () => {
  const talk = await begin(sim, 'openai-realtime', { directive: 'fault=truncate_rejected' });
  talk.say(440);
  const { itemId } = await talk.listener.until('audio');
  talk.call.bargeIn({ itemId, heardMs: 50 });
  talk.call.bargeIn(null);
  await sleep(100);
  assert.equal(talk.count('problem') + talk.count('failed'), 0);
  talk.call.close(1000);
  await talk.listener.until('ended');
});
