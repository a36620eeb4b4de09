// What the gateway adds to the first byte of speech, and what a recording of 30 s costs the thread
// that serves it: programs and hashes run elsewhere. One request at a time, on one shard.
import { Agent, FormData, request } from 'undici';
import { type Gateway, startGateway } from '../contenders/gateway.ts';
import { threadCpuMicros } from '../proc.ts';
import type { Report } from '../report.ts';
import { tonePcm } from '../sim/sound/tone.ts';
import { wavHeader } from '../sim/sound/wav.ts';
import { median, percentile } from '../statistics.ts';
import { type Bench, type BenchOptions, progress } from './bench.ts';

const SPEECHES = 500;
const TRANSCRIPTIONS = 60;
const WARM_UP = 50;
const SECONDS = 30;
const RATE_HZ = 16_000;
const agent = new Agent({ connections: 1, pipelining: 1 });

interface Figures {
  direct: number;
  gateway: number;
  addedP50: number;
  addedP99: number;
  shardMs: number;
  wholeMs: number;
}

async function run(options: BenchOptions): Promise<Report> {
  progress('starting gateway');
  const gateway = await startGateway({ shards: 1 });
  const runs: Figures[] = [];
  try {
    const shard = await shardThread(gateway);
    for (let index = 0; index < options.runs; index++) {
      const figures = { ...(await speeches(gateway)), ...(await transcriptions(gateway, shard)) };
      const { addedP50, addedP99, shardMs, wholeMs } = figures;
      const shown = { addedP50, addedP99, shardMs, wholeMs };
      const texts = Object.entries(shown).map(([name, value]) => `${name} ${value.toFixed(2)}`);
      progress(`run ${index + 1}/${options.runs} ms: ${texts.join(', ')}`);
      runs.push(figures);
    }
  } finally {
    await gateway.stop();
  }
  const of = (key: keyof Figures) => median(runs.map((figures) => figures[key]));
  return reportOf(of);
}

/** The thread of the one shard: the one that lists of models cost something. */
async function shardThread(gateway: Gateway): Promise<number> {
  const [pid] = gateway.pids();
  if (pid === undefined) throw new Error('the gateway has no process');
  const before = threadCpuMicros(pid);
  const origin = `http://127.0.0.1:${gateway.port}`;
  for (let index = 0; index < 500; index++) {
    const { headers } = gateway;
    const reply = await request(`${origin}/v1/models`, { headers, dispatcher: agent });
    await reply.body.dump();
  }
  const costs = [...threadCpuMicros(pid)].map(([thread, micros]) => ({
    thread,
    micros: micros - (before.get(thread) ?? 0),
  }));
  const [busiest] = costs.sort((one, other) => other.micros - one.micros);
  if (busiest === undefined) throw new Error('the gateway has no threads');
  return busiest.thread;
}

async function speeches(gateway: Gateway): Promise<Omit<Figures, 'shardMs' | 'wholeMs'>> {
  const lanes = {
    direct: { port: gateway.simulatorPort, model: 'sim-tts-hd-2026', headers: {} },
    gateway: { port: gateway.port, model: 'svc-tts', headers: gateway.headers },
  };
  const direct: number[] = [];
  const through: number[] = [];
  for (let index = 0; index < SPEECHES + WARM_UP; index++) {
    const directMs = await firstByteMs(lanes.direct);
    const gatewayMs = await firstByteMs(lanes.gateway);
    if (index < WARM_UP) continue;
    direct.push(directMs);
    through.push(gatewayMs);
  }
  const added = through.map((value, sample) => value - (direct[sample] ?? Number.NaN));
  return {
    direct: percentile(direct, 0.5),
    gateway: percentile(through, 0.5),
    addedP50: percentile(added, 0.5),
    addedP99: percentile(added, 0.99),
  };
}

async function firstByteMs(lane: {
  port: number;
  model: string;
  headers: Record<string, string>;
}): Promise<number> {
  const { port, model, headers } = lane;
  const body = JSON.stringify({ model, voice: 'alloy', input: 'one short line' });
  const startedAt = performance.now();
  const reply = await request(`http://127.0.0.1:${port}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    dispatcher: agent,
  });
  if (reply.statusCode !== 200) throw new Error(`speech: ${reply.statusCode}`);
  let firstAt = 0;
  for await (const _ of reply.body) if (firstAt === 0) firstAt = performance.now();
  return firstAt - startedAt;
}

/** A tone of half a second each second, as 16-bit WAV. */
function recording(): Blob {
  const second = Buffer.concat([tonePcm(440, RATE_HZ / 2, RATE_HZ), Buffer.alloc(RATE_HZ)]);
  const seconds = Array.from({ length: SECONDS }, () => second);
  const bytes = Buffer.concat([wavHeader(RATE_HZ, SECONDS * second.length), ...seconds]);
  return new Blob([bytes], { type: 'audio/wav' });
}

async function transcriptions(
  gateway: Gateway,
  shard: number,
): Promise<Pick<Figures, 'shardMs' | 'wholeMs'>> {
  const [pid] = gateway.pids();
  if (pid === undefined) throw new Error('the gateway has no process');
  const file = recording();
  const cpuMicros = () => threadCpuMicros(pid).get(shard) ?? Number.NaN;
  const times: number[] = [];
  const costs: number[] = [];
  for (let index = 0; index < TRANSCRIPTIONS + WARM_UP; index++) {
    const form = new FormData();
    form.set('model', 'svc-transcribe');
    form.set('file', file, 'speech.wav');
    const before = cpuMicros();
    const startedAt = performance.now();
    const reply = await request(`http://127.0.0.1:${gateway.port}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: gateway.headers,
      body: form,
      dispatcher: agent,
    });
    const text = await reply.body.text();
    if (reply.statusCode !== 200) throw new Error(`transcription: ${reply.statusCode} ${text}`);
    if (index < WARM_UP) continue;
    times.push(performance.now() - startedAt);
    costs.push((cpuMicros() - before) / 1_000);
  }
  return { shardMs: median(costs), wholeMs: median(times) };
}

function reportOf(of: (key: keyof Figures) => number): Report {
  const row = (label: string, value: number) => [label, value.toFixed(2)];
  const bar = (text: string, measured: number) =>
    ({ text, limit: 2, measured, unit: 'ms', sense: 'most' }) as const;
  const added = 'first byte of speech, added, p50';
  const shard = 'shard thread, a recording of 30 s';
  return {
    name: 'audio',
    title: 'Speech and transcription',
    method:
      `${SPEECHES} speeches, direct and through the gateway in turn; ${TRANSCRIPTIONS} WAV ` +
      `recordings of ${SECONDS} s (960 KB), the CPU of the shard's thread as the kernel counts it.`,
    columns: ['what', 'ms'],
    rows: [
      row('first byte of speech, direct, p50', of('direct')),
      row('first byte of speech, gateway, p50', of('gateway')),
      row(added, of('addedP50')),
      row('first byte of speech, added, p99', of('addedP99')),
      row(`${shard}, median`, of('shardMs')),
      row('transcription whole, simulator included, median', of('wholeMs')),
    ],
    bars: [bar(added, of('addedP50')), bar(shard, of('shardMs'))],
    chart: {
      title: 'Speech and transcription',
      unit: 'milliseconds, less is better',
      rows: [
        { label: 'first byte added p50', value: of('addedP50'), limit: 2 },
        { label: 'shard CPU, 30 s recording', value: of('shardMs'), limit: 2 },
      ],
    },
    notes: [],
  };
}

export const audio: Bench = { name: 'audio', run };
