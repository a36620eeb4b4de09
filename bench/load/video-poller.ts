// Bare polling: undici, a timer for each job, the reply parsed. A process of its own, so that what
// it costs is nobody else's. It asks as often as the gateway does, with the same jitter.
import { Pool } from 'undici';
import { answerParent } from './asked.ts';

export type PollerJob =
  | { kind: 'submit'; origin: string; jobs: number; renderMs: number }
  | { kind: 'poll'; everyMs: number; durationMs: number };

export interface Polled {
  polls: number;
  cpuMicros: number;
}

const JITTER = 0.2;
const headers = { authorization: 'Bearer sim' };
let pool: Pool | null = null;
const ids: string[] = [];

async function submit({ origin, jobs, renderMs }: Extract<PollerJob, { kind: 'submit' }>) {
  pool = new Pool(origin, { connections: null, pipelining: 1 });
  const body = JSON.stringify({
    model: 'sim-videos-2026',
    prompt: `[[sim render_ms=${renderMs}]] bare`,
    seconds: '8',
    size: '1280x720',
  });
  for (let index = 0; index < jobs; index++) {
    const reply = await pool.request({
      path: '/v1/videos',
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    const text = await reply.body.text();
    if (reply.statusCode !== 200) throw new Error(`a submission: ${reply.statusCode} ${text}`);
    ids.push((JSON.parse(text) as { id: string }).id);
  }
}

async function poll(origin: Pool, id: string): Promise<void> {
  const reply = await origin.request({ path: `/v1/videos/${id}`, method: 'GET', headers });
  const { status } = JSON.parse(await reply.body.text()) as { status: string };
  if (status !== 'in_progress' && status !== 'queued') throw new Error(`a job is ${status}`);
}

async function pollAll({ everyMs, durationMs }: Extract<PollerJob, { kind: 'poll' }>) {
  const origin = pool;
  if (origin === null) throw new Error('nothing was submitted');
  let polls = 0;
  let failure: unknown = null;
  const timers = new Map<string, NodeJS.Timeout>();
  const again = (id: string, ms: number) => timers.set(id, setTimeout(one, ms, id));
  const one = (id: string) => {
    polls += 1;
    poll(origin, id).then(
      () => again(id, everyMs * (1 + JITTER * (2 * Math.random() - 1))),
      (error: unknown) => {
        failure = error;
      },
    );
  };
  const before = process.cpuUsage();
  for (const id of ids) again(id, Math.random() * everyMs);
  await new Promise((resolve) => setTimeout(resolve, durationMs));
  const { user, system } = process.cpuUsage(before);
  for (const timer of timers.values()) clearTimeout(timer);
  if (failure !== null) throw failure;
  return { polls, cpuMicros: user + system } satisfies Polled;
}

answerParent<PollerJob>(async (job) => (job.kind === 'submit' ? submit(job) : pollAll(job)));
