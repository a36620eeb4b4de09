// How long an idle gateway takes to submit a video job, from the client's request on. Two durable
// writes, a slot and an epoch lie between them.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Report } from '../report.ts';
import { median, percentile, rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, progress } from './bench.ts';
import { jobTarget, LONG_MS, submissions, type VideoStage, withVideoStage } from './video-stage.ts';

const WARM_UP = 40;
const JOBS = 150;
const PAUSE_MS = 20;
const ARRIVAL_MS = 2_000;
const LIMIT_MS = 50;

interface Run {
  /** From the request to its reply, and to the submission. */
  reply: { p50: number; p99: number };
  wire: { p50: number; p99: number };
}

async function measure(stage: VideoStage, number: number, agent: Agent): Promise<Run> {
  const sentMs = new Map<string, number>();
  const replyMs: number[] = [];
  for (let index = -WARM_UP; index < JOBS; index++) {
    const target = jobTarget(stage, `render_ms=${LONG_MS}`, `run ${number} job ${index}`);
    const { prompt } = JSON.parse(target.body) as { prompt: string };
    const startedMs = performance.timeOrigin + performance.now();
    const reply = await request(`http://127.0.0.1:${target.port}${target.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...target.headers },
      body: target.body,
      dispatcher: agent,
    });
    const text = await reply.body.text();
    if (reply.statusCode !== 202) throw new Error(`a job: ${reply.statusCode} ${text}`);
    if (index >= 0) {
      sentMs.set(prompt, startedMs);
      replyMs.push(performance.timeOrigin + performance.now() - startedMs);
    }
    await sleep(PAUSE_MS);
  }
  await sleep(ARRIVAL_MS);
  const arrived = new Map((await submissions(stage)).map((each) => [each.prompt, each.at_ms]));
  // What never arrived is no time at all, and fails the bar.
  const wireMs = [...sentMs].map(([prompt, ms]) => (arrived.get(prompt) ?? Infinity) - ms);
  const both = (values: number[]) => ({
    p50: percentile(values, 0.5),
    p99: percentile(values, 0.99),
  });
  return { reply: both(replyMs), wire: both(wireMs) };
}

async function run(options: BenchOptions): Promise<Report> {
  const agent = new Agent({ connections: 1, pipelining: 1 });
  const runs = await withVideoStage(options, { slots: 10_000 }, async (stage) => {
    const all: Run[] = [];
    for (let index = 0; index < options.runs; index++) {
      const figures = await measure(stage, index, agent);
      const { p50, p99 } = figures.wire;
      progress(`run ${index + 1}/${options.runs}: p50 ${rounded(p50)}, p99 ${rounded(p99)} ms`);
      all.push(figures);
    }
    return all;
  }).finally(() => agent.close());
  const of = (what: keyof Run, key: 'p50' | 'p99') => median(runs.map((each) => each[what][key]));
  const row = (label: string, what: keyof Run) => [
    label,
    rounded(of(what, 'p50')),
    rounded(of(what, 'p99')),
  ];
  return {
    name: 'video-start',
    title: 'From a video job to its submission, idle',
    method:
      `${JOBS} jobs, one after the other with ${PAUSE_MS} ms between them, from the client's ` +
      'request on; the arrival is what the simulator notes, in whole milliseconds.',
    columns: ['from the request to', 'p50 ms', 'p99 ms'],
    rows: [row('its reply', 'reply'), row('the submission', 'wire')],
    bars: [
      {
        text: 'request to submission, p99',
        limit: LIMIT_MS,
        measured: of('wire', 'p99'),
        unit: 'ms',
        sense: 'most',
      },
    ],
    chart: {
      title: 'From a video job to its submission, idle',
      unit: 'milliseconds, less is better',
      rows: [
        { label: 'submission p50', value: of('wire', 'p50') },
        { label: 'submission p99', value: of('wire', 'p99'), limit: LIMIT_MS },
      ],
    },
    notes: [],
  };
}

export const videoStart: Bench = { name: 'video-start', run };
