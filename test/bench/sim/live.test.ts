// The Gemini Live family of the simulator against the vendor's own client and published types.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  ActivityHandling,
  GoogleGenAI,
  type LiveConnectConfig,
  type LiveServerMessage,
  Modality,
  type Session,
  Type,
} from '@google/genai';
import WebSocket from 'ws';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { encoded, post } from './probe.ts';
import { readPublished } from './published.ts';
import { framesOf, Gathered, pitchOf, silence, spoken, tone } from './voice-probe.ts';

const rateHz = 16_000;
const model = 'sim-live-2026-native-audio';
const path = 'ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
const declarations = fileURLToPath(import.meta.resolve('@google/genai'));
const published = readPublished(declarations.replace(/node\/index\.\w+$/, 'genai.d.ts'));
const weather = { name: 'weather', parameters: { type: Type.OBJECT, properties: {} } };
const tools = [{ functionDeclarations: [weather] }];
let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
});
after(() => sim.close());

class Call {
  readonly messages = new Gathered<LiveServerMessage>();
  readonly closed: Promise<{ code: number; reason: string }>;
  session: Session | null = null;
  #onClose: (close: { code: number; reason: string }) => void = () => undefined;

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#onClose = resolve;
    });
  }

  async connect(config: LiveConnectConfig): Promise<this> {
    const httpOptions = { baseUrl: `http://127.0.0.1:${sim.port}` };
    const client = new GoogleGenAI({ apiKey: 'right', httpOptions });
    this.session = await client.live.connect({
      model,
      config,
      callbacks: {
        onmessage: (message) => this.messages.push(message),
        onclose: ({ code, reason }) => this.#onClose({ code, reason }),
      },
    });
    return this;
  }

  get wire(): Session {
    assert.ok(this.session !== null);
    return this.session;
  }

  say(pcm: Buffer): void {
    for (const frame of framesOf(pcm, rateHz)) {
      const audio = { data: frame.toString('base64'), mimeType: 'audio/pcm;rate=16000' };
      this.wire.sendRealtimeInput({ audio });
    }
  }

  /** The messages of a turn, from `from` to the end of the first turn that ends after it. */
  async turn(from = 0): Promise<LiveServerMessage[]> {
    const last = await this.messages.until(isComplete, from);
    return this.messages.all.slice(from, this.messages.all.indexOf(last) + 1);
  }

  get count(): number {
    return this.messages.all.length;
  }
}

/** Complete when it was sent, unless a test is about that. */
async function begin(instructions = 'be kind', more: LiveConnectConfig = {}): Promise<Call> {
  return new Call().connect({
    responseModalities: [Modality.AUDIO],
    inputAudioTranscription: {},
    outputAudioTranscription: {},
    systemInstruction: instructions,
    ...more,
  });
}

const quick = '[[sim playback=0]]';

async function asked(directive: string, more: LiveConnectConfig = {}): Promise<Call> {
  const call = await begin(`[[sim ${directive}]]`, more);
  call.say(spoken(440, 400, rateHz));
  return call;
}

function isComplete({ serverContent }: LiveServerMessage): boolean {
  return serverContent?.turnComplete === true;
}

function audioOf(messages: readonly LiveServerMessage[]): Buffer {
  const parts = messages.flatMap(({ serverContent }) => serverContent?.modelTurn?.parts ?? []);
  const datas = parts.map(({ inlineData }) => Buffer.from(inlineData?.data ?? '', 'base64'));
  return Buffer.concat(datas);
}

function textOf(messages: readonly LiveServerMessage[], side: 'input' | 'output'): string {
  const member = `${side}Transcription` as const;
  return messages.map(({ serverContent }) => serverContent?.[member]?.text ?? '').join('');
}

test('a spoken turn is answered with half the pitch, and complete when it was played', async () => {
  const call = await begin();
  call.say(spoken(440, 1000, rateHz));
  await call.messages.until(({ serverContent }) => serverContent?.generationComplete === true);
  const generatedMs = performance.now();
  const turn = await call.turn();
  assert.ok(performance.now() - generatedMs > 500, 'generated faster than it is played');
  assert.equal(audioOf(turn).length, 2 * 24_000 * 2);
  assert.equal(pitchOf(audioOf(turn), 24_000), 220);
  assert.equal(textOf(turn, 'input'), ' heard 440');
  assert.equal(textOf(turn, 'output'), ' heard 440');
  // Two words of instructions, 1 s of tone and 0.6 s of silence.
  assert.deepEqual(turn.at(-1)?.usageMetadata, {
    promptTokenCount: 18,
    responseTokenCount: 20,
    totalTokenCount: 38,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 2 },
      { modality: 'AUDIO', tokenCount: 16 },
    ],
    responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 20 }],
  });
  for (const message of call.messages.all) {
    assert.deepEqual(published.findings({ ...message }, 'LiveServerMessage'), []);
  }
  call.wire.close();
});

test('the next turn counts the first again, part of it cached', async () => {
  const call = await begin(quick);
  call.say(spoken(440, 1000, rateHz));
  await call.turn();
  const from = call.count;
  call.say(spoken(600, 400, rateHz));
  const usage = (await call.turn(from)).at(-1)?.usageMetadata;
  // The directive is two words; 40 ms before, which is all there is, 400 of tone, 600 of silence.
  assert.equal(usage?.promptTokenCount, 2 + 16 + 20 + 11);
  assert.equal(usage?.cachedContentTokenCount, 18);
  assert.equal(usage?.responseTokenCount, 20);
  call.wire.close();
});

test('speaking interrupts what is played: interrupted, then complete, no more audio', async () => {
  const call = await begin();
  call.say(spoken(440, 400, rateHz));
  await call.messages.until(({ serverContent }) => serverContent?.generationComplete === true);
  const from = call.count;
  call.say(tone(600, 250, rateHz));
  const turn = await call.turn(from);
  assert.equal(turn[0]?.serverContent?.interrupted, true);
  assert.equal(audioOf(turn).length, 0);
  assert.equal(turn.at(-1)?.usageMetadata?.responseTokenCount, 20);
  const paced = await asked('gap_ms=20');
  await paced.messages.until(({ serverContent }) => serverContent?.modelTurn !== undefined);
  paced.say(tone(600, 250, rateHz));
  const cut = await paced.turn();
  assert.ok(cut.every(({ serverContent }) => serverContent?.generationComplete !== true));
  const sent = audioOf(cut).length / 4800;
  assert.ok(sent >= 1 && sent < 20);
  assert.equal(cut.at(-1)?.usageMetadata?.responseTokenCount, sent);
  for (const each of [call, paced]) each.wire.close();
});

test('without interruption a turn waits for the end of the answer', async () => {
  const call = await begin('[[sim gap_ms=10 playback=0]]', {
    realtimeInputConfig: { activityHandling: ActivityHandling.NO_INTERRUPTION },
  });
  call.say(spoken(440, 400, rateHz));
  await call.messages.until(({ serverContent }) => serverContent?.modelTurn !== undefined);
  call.say(spoken(600, 400, rateHz));
  const first = await call.turn();
  assert.equal(audioOf(first).length, 2000 * 48);
  const second = await call.turn(first.length);
  assert.equal(pitchOf(audioOf(second), 24_000), 300);
  call.wire.close();
});

test('arguments that a directive garbles are none, and the simulator goes on', async () => {
  for (const text of ['{bad', '[1]', '7']) {
    const call = await begin(`[[sim call=weather:${encoded(text)} playback=0]]`, { tools });
    call.say(spoken(440, 400, rateHz));
    const { toolCall } = await call.messages.until((message) => message.toolCall !== undefined);
    assert.deepEqual(toolCall?.functionCalls?.[0]?.args, {}, text);
    call.wire.close();
    await call.closed;
  }
});

test('tools: a call, its result, the answer; an interrupted call is cancelled', async () => {
  const call = await begin('[[sim tool=weather tool=weather playback=0]]', { tools });
  call.say(spoken(440, 400, rateHz));
  const called = ({ toolCall }: LiveServerMessage) => toolCall !== undefined;
  const { toolCall, usageMetadata } = await call.messages.until(called);
  const [first] = toolCall?.functionCalls ?? [];
  assert.deepEqual([first?.name, first?.args], ['weather', {}]);
  assert.equal(usageMetadata?.responseTokenCount, 2);
  const answerTo = (id: string | undefined) => {
    const response = { output: 'it rains' };
    const part = id === undefined ? {} : { id };
    call.wire.sendToolResponse({ functionResponses: { ...part, name: 'weather', response } });
  };
  let from = call.count;
  answerTo(first?.id);
  const second = (await call.messages.until(called, from)).toolCall?.functionCalls?.[0];
  from = call.count;
  call.say(spoken(600, 400, rateHz));
  const turn = await call.turn(from);
  assert.deepEqual(turn[0]?.toolCallCancellation?.ids, [second?.id]);
  assert.equal(pitchOf(audioOf(turn), 24_000), 300);
  answerTo(second?.id);
  call.say(spoken(440, 400, rateHz));
  await call.turn(call.count);
  answerTo('function-call-none');
  assert.equal((await call.closed).code, 1007);
});

test('the client says where a turn begins and ends, where it asked for that', async () => {
  const realtimeInputConfig = { automaticActivityDetection: { disabled: true } };
  const call = await begin(quick, { realtimeInputConfig });
  call.wire.sendRealtimeInput({ activityStart: {} });
  call.say(tone(500, 300, rateHz));
  call.wire.sendRealtimeInput({ activityEnd: {} });
  const turn = await call.turn();
  assert.equal(textOf(turn, 'input'), ' heard 500');
  call.wire.close();
  const automatic = await begin();
  automatic.wire.sendRealtimeInput({ activityStart: {} });
  const { code, reason } = await automatic.closed;
  assert.equal(code, 1007);
  assert.match(reason, /Explicit activity control/);
});

test('the end of the stream ends a turn; written turns are answered', async () => {
  const call = await begin(quick);
  call.say(tone(500, 300, rateHz));
  call.wire.sendRealtimeInput({ audioStreamEnd: true });
  assert.equal(textOf(await call.turn(), 'input'), ' heard 500');
  let from = call.count;
  const turns = [
    { role: 'user', parts: [{ text: 'three words here' }] },
    { role: 'model', parts: [{ text: '[[sim text=as_you_wish playback=0]]' }] },
  ];
  call.wire.sendClientContent({ turns, turnComplete: true });
  assert.equal(textOf(await call.turn(from), 'output'), 'as you wish');
  from = call.count;
  call.wire.sendRealtimeInput({ text: 'and again' });
  assert.equal(textOf(await call.turn(from), 'output'), 'as you wish');
  call.wire.close();
});

test('a session is resumed by its handle, which is void while the model speaks', async () => {
  const call = await begin('[[sim gap_ms=5 playback=0]]', { sessionResumption: {} });
  call.say(spoken(440, 400, rateHz));
  await call.turn();
  const updates = await (async () => {
    const isUpdate = (message: LiveServerMessage) => message.sessionResumptionUpdate !== undefined;
    await call.messages.until(isUpdate, call.messages.all.findIndex(isComplete));
    return call.messages.all.filter(isUpdate).map((message) => message.sessionResumptionUpdate);
  })();
  assert.deepEqual(
    updates.map((update) => [update?.resumable, update?.newHandle !== undefined]),
    [
      [true, true],
      [false, false],
      [true, true],
    ],
  );
  const handle = updates.at(-1)?.newHandle ?? '';
  call.wire.close();
  const again = await begin(quick, { sessionResumption: { handle } });
  again.say(spoken(440, 400, rateHz));
  const usage = (await again.turn()).at(-1)?.usageMetadata;
  // Three words, 10 and 20 of the first session; two words and 10 of this one.
  assert.equal(usage?.promptTokenCount, 3 + 10 + 20 + 2 + 10);
  again.wire.close();
  assert.equal((await closeOf({ ...bare, sessionResumption: { handle: 'mine' } })).code, 1007);
});

const bare = { model: `models/${model}` };

/** How the connection ends after this first message. */
async function closeOf(setup: object | null, key = 'right') {
  const socket = new WebSocket(`ws://127.0.0.1:${sim.port}/${path}?key=${key}`);
  socket.on('open', () => socket.send(JSON.stringify(setup === null ? {} : { setup })));
  return new Promise<{ code: number; reason: string }>((resolve, reject) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    socket.on('error', reject);
  });
}

test('refuses what the provider refuses, with a close', async () => {
  assert.equal((await closeOf(bare, 'wrong')).code, 1007);
  assert.match((await closeOf(bare, 'wrong')).reason, /API key not valid/);
  assert.equal((await closeOf({ model: 'models/none' })).code, 1008);
  assert.match((await closeOf({ ...bare, nonsense: 1 })).reason, /Unknown name "nonsense"/);
  const generationConfig = { responseModalities: ['TEXT'] };
  assert.equal((await closeOf({ ...bare, generationConfig })).code, 1007);
  assert.equal((await closeOf(null)).code, 1007);
  await post(sim, '/sim/voice', { directive: 'status=429' });
  await assert.rejects(closeOf(bare), /429/);
});

test('what it sends is JSON in binary frames', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${sim.port}/${path}?key=right`);
  socket.on('open', () => socket.send(JSON.stringify({ setup: bare })));
  const [text, isBinary] = await new Promise<[string, boolean]>((resolve) => {
    socket.on('message', (data, binary) => resolve([String(data), binary]));
  });
  assert.deepEqual([text, isBinary], ['{"setupComplete":{}}', true]);
  socket.close();
});

test('usage is missing, zero, or late', async () => {
  const none = await asked('fault=no_usage playback=0');
  assert.equal((await none.turn()).at(-1)?.usageMetadata, undefined);
  const zero = await asked('fault=zero_usage playback=0');
  assert.equal((await zero.turn()).at(-1)?.usageMetadata?.totalTokenCount, 0);
  const late = await asked('fault=late_usage late_ms=100 playback=0');
  const { length } = await late.turn();
  const report = await late.messages.until(({ usageMetadata }) => usageMetadata !== undefined);
  assert.ok(late.messages.all.indexOf(report) >= length);
  assert.equal(report.usageMetadata?.responseTokenCount, 20);
  for (const call of [none, zero, late]) call.wire.close();
});

test('goes away with a warning and a close, by itself, or in silence', async () => {
  const call = await asked('fault=goaway left_ms=100 at=2');
  const isGoAway = ({ goAway }: LiveServerMessage) => goAway !== undefined;
  assert.equal((await call.messages.until(isGoAway)).goAway?.timeLeft, '0.1s');
  assert.equal((await call.closed).code, 1011);
  const silent = await begin('[[sim fault=goaway_silence after_ms=50]]');
  assert.equal((await silent.messages.until(isGoAway)).goAway?.timeLeft, '50s');
  silent.say(spoken(440, 400, rateHz));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(isGoAway(silent.messages.all.at(-1) ?? ({} as LiveServerMessage)), true);
  silent.wire.close();
});

test('a turn is rejected, closed or cut in the middle', async () => {
  const rejected = (await (await asked('fault=failed at=2')).turn()).at(-1);
  assert.equal(rejected?.serverContent?.turnCompleteReason, 'RESPONSE_REJECTED');
  assert.equal(rejected?.usageMetadata?.responseTokenCount, 2);
  assert.equal((await (await asked('fault=close at=2')).closed).code, 1011);
  assert.equal((await (await asked('fault=cut at=2')).closed).code, 1006);
  const stalled = await asked('fault=stall at=2');
  await stalled.messages.until(() => audioOf(stalled.messages.all).length === 2 * 4800);
  stalled.wire.close();
});

test('audio after an interruption, transcripts after the turn, strangers at any time', async () => {
  const late = await asked('fault=late_deltas gap_ms=30');
  await late.messages.until(({ serverContent }) => serverContent?.modelTurn !== undefined);
  late.say(tone(600, 250, rateHz));
  const turn = await late.turn();
  const at = turn.findIndex(({ serverContent }) => serverContent?.interrupted === true);
  assert.equal(audioOf(turn.slice(at)).length, 3 * 4800);
  const told = await asked('fault=late_transcript playback=0');
  assert.equal(textOf(await told.turn(), 'input'), '');
  await told.messages.until(({ serverContent }) => serverContent?.inputTranscription !== undefined);
  const strange = await asked('unknown=1 playback=0');
  assert.equal(audioOf(await strange.turn()).length, 2000 * 48);
  assert.ok(strange.messages.all.some((message) => 'sim_unknown' in message));
  for (const call of [late, told, strange]) call.wire.close();
});

test('a minute of audio comes much sooner than it plays', async () => {
  const watch = startStopwatch();
  const call = await asked('seconds=60 playback=0');
  assert.equal(audioOf(await call.turn()).length, 60_000 * 48);
  watch.assertWithin(1_000, 'a minute of audio');
  call.say(silence(32, rateHz));
  call.wire.close();
});
