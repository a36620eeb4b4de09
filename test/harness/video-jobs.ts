// Video jobs of a test: how they are asked for and waited for, and what the simulator saw of them.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAccount } from './account.ts';

export interface JobBody {
  id: string;
  request_id: string;
  status: string;
  progress: number;
  phase?: string;
  prompt: string;
  duration_seconds: number;
  aspect_ratio: string;
  generate_audio: boolean;
  cancellation_supported: boolean;
  video?: { id: string; url: string; title: string; sha256: string; sizeBytes: number } & Record<
    string,
    unknown
  >;
  usage?: Record<string, number>;
  error_code?: string;
  error_message?: string;
  created_at: string;
  updated_at: string;
  completed_at?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  job: JobBody;
  error: { code: string; message: string; param: string | null };
}

/** What is asked of the path below `/v1/video/generations`; a body is posted. */
export async function askVideo(
  account: Pick<TestAccount, 'baseUrl' | 'apiKey'>,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${account.baseUrl}/v1/video/generations${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${account.apiKey}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const read = (await response.json()) as { job: JobBody; error: Answer['error'] };
  return { status: response.status, headers: response.headers, job: read.job, error: read.error };
}

/** A job that was taken. */
export async function makeVideo(
  account: TestAccount,
  body: object,
  headers: Record<string, string> = {},
): Promise<JobBody> {
  const { status, job, error } = await askVideo(account, '', body, headers);
  assert.equal(status, 202, JSON.stringify(error));
  return job;
}

const finals = new Set(['succeeded', 'failed', 'cancelled']);
const endMs = 60_000;

/** Waits until the job is over; its progress never falls meanwhile. */
export async function endOf(account: TestAccount, id: string): Promise<Answer> {
  const deadline = performance.now() + endMs;
  for (let progress = 0; ; ) {
    const answer = await askVideo(account, `/${id}`);
    assert.equal(answer.status, 200);
    const { job } = answer;
    assert.ok(job.progress >= progress, `progress fell from ${progress} to ${job.progress}`);
    assert.ok(job.progress < 100 || job.status === 'succeeded');
    progress = job.progress;
    if (finals.has(job.status)) return answer;
    assert.ok(Number(answer.headers.get('retry-after')) >= 1, 'it says when to look again');
    assert.ok(performance.now() < deadline, `${id} is still ${job.status} (${job.phase})`);
    await sleep(30);
  }
}

export interface SeenSubmission {
  family: string;
  model: string;
  prompt: string;
  /** What the client sent: the id of the job. */
  idempotency_key: string | null;
  outcome: 'accepted' | 'repeated' | 'refused' | 'cut';
  upstream_id: string | null;
}

/** Every submission that the simulator saw since its last reset. */
export async function submissionsOf(simulatorUrl: string): Promise<SeenSubmission[]> {
  const response = await fetch(`${simulatorUrl}/sim/videos`);
  return ((await response.json()) as { submissions: SeenSubmission[] }).submissions;
}

/** No job of ours made two at a provider, whatever became of the replies. */
export function assertSubmittedOnce(seen: readonly SeenSubmission[]): void {
  const made = seen.filter(({ upstream_id: id, outcome }) => id !== null && outcome !== 'repeated');
  const keys = made.map(({ idempotency_key: key }) => key);
  const twice = keys.filter((key, index) => keys.indexOf(key) !== index);
  assert.deepEqual(twice, [], 'submitted twice');
}
