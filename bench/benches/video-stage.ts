// What the benches of video jobs share. A gateway has one model of videos, whose provider is the
// simulator. Requests make and read its jobs.
import { type Gateway, type GatewayOptions, startGateway } from '../contenders/gateway.ts';
import { startSimulator } from '../contenders/simulator.ts';
import { Generator } from '../load/generator.ts';
import type { LoadJob, Target } from '../load/job.ts';
import type { BenchOptions } from './bench.ts';
import { progress } from './bench.ts';

const MODEL = 'bench-video';
const JOBS_PATH = '/v1/video/generations';
export const LONG_MS = 3_600_000;
const TIMEOUT_MS = 60_000;

export interface VideoStage {
  gateway: Gateway;
  /** The provider, without a key. */
  providerPort: number;
  generator: Generator;
}

interface StageOptions extends Pick<GatewayOptions, 'blocksFolder' | 'environment'> {
  /** Videos that the provider makes at once. */
  slots: number;
}

function catalogOf(providerPort: number, slots: number): object {
  const base_url = `http://127.0.0.1:${providerPort}/v1`;
  const video = {
    durations: { min: 4, max: 30 },
    resolutions: { '720p': {} },
    aspect_ratios: ['16:9'],
    audio: 'optional',
    seed: true,
    minutes_max: 60,
  };
  const routes = [{ provider: 'bench-videos', upstream_model: 'sim-videos-2026' }];
  return {
    providers: [
      { name: 'bench-videos', family: 'openai-videos', base_url, api_key: 'sim', jobs_max: slots },
    ],
    models: [
      { alias: MODEL, kind: 'video', routes, price: { per_second_of_video: '0.01' }, video },
    ],
  };
}

/** Starts all of it, and ends it whatever happens. */
export async function withVideoStage<T>(
  options: BenchOptions,
  { slots, environment, ...rest }: StageOptions,
  work: (stage: VideoStage) => Promise<T>,
): Promise<T> {
  progress('starting gateway and provider');
  const simulator = await startSimulator();
  const generator = new Generator();
  try {
    const gateway = await startGateway({
      ...options,
      ...rest,
      catalog: catalogOf(simulator.port, slots),
      environment: { TOLLGATE_VIDEO_JOBS_MAX: '100000', ...environment },
    });
    try {
      return await work({ gateway, providerPort: simulator.port, generator });
    } finally {
      await gateway.stop();
    }
  } finally {
    generator.stop();
    await simulator.stop();
  }
}

/** Makes a job of eight seconds of video, with the simulator's orders. */
export function jobTarget({ gateway }: VideoStage, orders: string, prompt = 'A box'): Target {
  const body = {
    video_model: MODEL,
    prompt: `[[sim ${orders}]] ${prompt}`,
    duration_seconds: 8,
    generate_audio: false,
  };
  const { port, headers } = gateway;
  return { host: '127.0.0.1', port, path: JOBS_PATH, headers, body: JSON.stringify(body) };
}

/** So many jobs, as fast as `connections` make them. */
export function jobsLoad(target: Target, jobs: number, connections: number): LoadJob {
  const limits = { connections, requestsMax: jobs, durationMs: null, spreadMs: 5 };
  return { kind: 'load', target, ...limits, eventsMin: 0, seed: 1 };
}

/** @throws Error where a job was refused. */
export async function makeJobs(stage: VideoStage, orders: string, jobs: number): Promise<void> {
  const load = jobsLoad(jobTarget(stage, orders), jobs, Math.min(jobs, 64));
  const { failed, failure } = await stage.generator.load(load, TIMEOUT_MS);
  if (failed > 0) throw new Error(`${failed} jobs were refused, the first: ${failure}`);
}

/** A submission as the simulator has seen it. */
export interface Submission {
  prompt: string;
  at_ms: number;
  polls: { count: number } | null;
}

export async function submissions({ providerPort }: VideoStage): Promise<Submission[]> {
  const response = await fetch(`http://127.0.0.1:${providerPort}/sim/videos`);
  const view = (await response.json()) as { submissions: Submission[] };
  return view.submissions;
}

interface ListedJob {
  id: string;
  status: string;
  error_code?: string;
}

/** The newest jobs of the account. */
export async function newestJobs({ gateway }: VideoStage, limit: number): Promise<ListedJob[]> {
  const url = `http://127.0.0.1:${gateway.port}${JOBS_PATH}?limit=${limit}`;
  const response = await fetch(url, { headers: gateway.headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`list of jobs: ${response.status} ${text}`);
  return (JSON.parse(text) as { data: ListedJob[] }).data;
}

/** Where the file of a job is read. */
export function contentPath(id: string): string {
  return `${JOBS_PATH}/${id}/content`;
}
