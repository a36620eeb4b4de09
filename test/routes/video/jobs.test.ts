// Video jobs as their clients see them: from the request to the file, with what each refusal and
// each fault of a provider leads to. Money is counted at the end of each.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import {
  askVideo,
  assertSubmittedOnce,
  endOf,
  makeVideo,
  submissionsOf,
} from '../../harness/video-jobs.ts';

// slow: It lets every fault of three providers run into its deadline.

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_VIDEO_HASTE: '40', TOLLGATE_VIDEO_JOBS_MAX: '200' } });
});
after(async () => {
  if (bed === undefined) return;
  assertSubmittedOnce(await submissionsOf(bed.dev.simulator_url));
  await bed.close();
});

const models = {
  veo: 'vendorB-3.1-fast-generate-preview',
  imagine: 'vendorA-imagine-video',
  videos: 'svc-sim-video',
} as const;
type Family = keyof typeof models;
const families = Object.keys(models) as Family[];

async function bytesOf(url: string, headers: Record<string, string>): Promise<Response> {
  return fetch(url, { headers });
}

for (const family of families) {
  test(`${family}: a job becomes a private file, is charged once, and can be deleted`, async () => {
    const account = await bed.account();
    const { availableMicros } = await account.balance();
    const prompt = `A paper boat\n on   a lake ${family}`;
    const body = { prompt, video_model: models[family], duration_seconds: 4 };
    const made = await makeVideo(account, body);
    assert.match(made.id, /^vjob_[a-f0-9]{24}$/);
    assert.ok((await account.balance()).heldMicros > 0n, 'its price is held');
    const { job, headers } = await endOf(account, made.id);
    assert.equal(job.status, 'succeeded', job.error_code);
    assert.equal(job.progress, 100);
    assert.equal(job.cancellation_supported, false);
    const charge = BigInt(headers.get('x-svc-charge-microcredits') ?? '-1');
    const balance = await account.balance();
    assert.deepEqual(balance, { availableMicros: availableMicros - charge, heldMicros: 0n });
    const { video } = job;
    assert.ok(video !== undefined && charge > 0n);
    assert.equal(video.title, `A paper boat on a lake ${family}`);
    assert.equal(video.model, 'svc-video');
    const session = { 'x-svc-session': account.sessionToken };
    const key = { authorization: `Bearer ${account.apiKey}` };
    const url = `${bed.url}${video.url}`;
    const contentUrl = `${bed.url}/v1/video/generations/${job.id}/content`;
    const whole = Buffer.from(await (await bytesOf(url, session)).arrayBuffer());
    assert.equal(whole.length, video.sizeBytes);
    assert.equal(createHash('sha256').update(whole).digest('hex'), video.sha256);
    const part = await bytesOf(contentUrl, { ...key, range: 'bytes=100-199' });
    assert.equal(part.status, 206);
    assert.deepEqual(Buffer.from(await part.arrayBuffer()), whole.subarray(100, 200));
    const stranger = await bed.account();
    const theirs = { 'x-svc-session': stranger.sessionToken };
    assert.equal((await bytesOf(url, theirs)).status, 404);
    assert.equal((await askVideo(stranger, `/${job.id}`)).status, 404);
    const gone = await fetch(url, { method: 'DELETE', headers: session });
    assert.deepEqual(await gone.json(), { ok: true, id: video.id, deleted: true });
    assert.equal((await bytesOf(url, session)).status, 404);
    assert.equal((await bytesOf(contentUrl, key)).status, 404);
    const after = await askVideo(account, `/${job.id}`);
    assert.deepEqual([after.job.status, after.job.video], ['succeeded', undefined]);
    assert.deepEqual(await account.balance(), balance);
  });
}

/** What each fault leads to, for each family; `ok`: the video comes all the same. */
const outcomes: readonly [directive: string, Record<Family, string>][] = [
  ['fault=cut_refused', all('submission_unknown')],
  ['fault=moderated_submit', all('moderation_blocked')],
  ['status=500', all('submission_unknown')],
  ['status=400', all('provider_rejected')],
  ['fault=failed', all('provider_failed')],
  ['fault=moderated', all('moderation_blocked')],
  [
    'fault=zero_samples',
    { veo: 'moderation_blocked', imagine: 'provider_failed', videos: 'download_failed' },
  ],
  ['fault=expired', all('provider_failed')],
  ['fault=404 at=poll', all('provider_lost')],
  ['fault=403 at=poll times=3', all('ok')],
  ['fault=429 at=poll times=3', all('ok')],
  ['fault=garbage times=3', all('ok')],
  ['fault=expired_link', all('download_failed')],
  ['fault=expired_link times=2', all('ok')],
  ['fault=cut', all('download_failed')],
  ['fault=truncated', all('invalid_media')],
  ['fault=html', all('invalid_media')],
  ['fault=wrong_length', all('invalid_media')],
  ['fault=wrong_size', all('invalid_media')],
  ['fault=no_audio', all('ok')],
  ['fault=huge', all('download_failed')],
  ['redirect=http://169.254.169.254/latest', all('download_failed')],
];

function all(outcome: string): Record<Family, string> {
  return { veo: outcome, imagine: outcome, videos: outcome };
}

test('every fault of every provider ends as documented, for nothing', async (t) => {
  const checks = outcomes.flatMap(([directive, expected]) =>
    families.map(async (family) => {
      const account = await bed.account();
      const { availableMicros } = await account.balance();
      const prompt = `${family} ${directive} [[sim ${directive}]]`;
      const body = { prompt, video_model: models[family], duration_seconds: 4 };
      const made = await makeVideo(account, body);
      const { job } = await endOf(account, made.id);
      const { heldMicros, availableMicros: left } = await account.balance();
      const outcome = job.status === 'succeeded' ? 'ok' : job.error_code;
      return {
        family,
        directive,
        outcome,
        wanted: expected[family],
        heldMicros,
        free: availableMicros === left,
      };
    }),
  );
  for (const check of await Promise.all(checks)) {
    const { family, directive, outcome, wanted, heldMicros, free } = check;
    await t.test(`${family}: ${directive}`, () => {
      assert.equal(outcome, wanted);
      assert.equal(heldMicros, 0n);
      assert.equal(free, wanted !== 'ok');
    });
  }
});

test('a submission whose reply was lost is found by the list, else it is unknown', async () => {
  for (const fault of ['cut_accepted', '500_accepted']) {
    for (const family of families) {
      const account = await bed.account();
      const prompt = `${family} lost by ${fault} [[sim fault=${fault}]]`;
      const body = { prompt, video_model: models[family], duration_seconds: 4 };
      const { job } = await endOf(account, (await makeVideo(account, body)).id);
      const expected = family === 'videos' ? 'succeeded' : 'failed';
      assert.equal(job.status, expected, `${family} ${fault} ${job.error_code}`);
      if (family !== 'videos') assert.equal(job.error_code, 'submission_unknown');
    }
  }
});

test('two equal prompts whose replies were lost are nobody\u2019s: both are unknown', async () => {
  const account = await bed.account();
  const body = {
    prompt: 'twins [[sim fault=cut_accepted]]',
    video_model: models.videos,
    duration_seconds: 4,
  };
  const made = await Promise.all([makeVideo(account, body), makeVideo(account, body)]);
  const ends = await Promise.all(made.map(({ id }) => endOf(account, id)));
  assert.deepEqual(
    ends.map(({ job }) => job.error_code),
    ['submission_unknown', 'submission_unknown'],
  );
  assert.deepEqual((await account.balance()).heldMicros, 0n);
});

test('sound that nobody wanted is taken away; sound that is missing costs less', async () => {
  const account = await bed.account();
  const silent = { prompt: 'silence', video_model: models.veo, generate_audio: false };
  const { job } = await endOf(account, (await makeVideo(account, silent)).id);
  assert.equal(job.status, 'succeeded', job.error_code);
  assert.equal(job.duration_seconds, 8, 'the length of vendorB when none was asked for');
});

test('a key names its job: again 200, otherwise 422, and free after a failure', async () => {
  const account = await bed.account();
  const body = { prompt: 'once [[sim render_ms=50]]', duration_seconds: 4 };
  const key = { 'idempotency-key': 'order:1' };
  const made = await Promise.all(
    Array.from({ length: 20 }, () => askVideo(account, '', body, key)),
  );
  const told = made.map(({ status, error }) => `${status} ${error?.code ?? ''}`).join(', ');
  assert.equal(new Set(made.map(({ job }) => job?.id)).size, 1, told);
  assert.equal(made.filter(({ status }) => status === 202).length, 1, told);
  const again = await askVideo(account, '', { ...body, request_id: 'order:1' });
  assert.deepEqual([again.status, again.job.request_id], [200, 'order:1']);
  const other = await askVideo(account, '', { ...body, prompt: 'twice' }, key);
  assert.deepEqual([other.status, other.error.code], [422, 'idempotency_key_reused']);
  const differing = await askVideo(account, '', { ...body, request_id: 'order:2' }, key);
  assert.deepEqual([differing.status, differing.error.param], [400, 'request_id']);
  const failing = { prompt: 'x [[sim fault=failed]]', duration_seconds: 4, request_id: 'again' };
  const first = await makeVideo(account, failing);
  await endOf(account, first.id);
  assert.notEqual((await makeVideo(account, failing)).id, first.id);
});

test('refusals name what is wrong', async () => {
  const account = await bed.account();
  const refused = async (body: object) => {
    const { status, error } = await askVideo(account, '', { prompt: 'x', ...body });
    return [status, error.code, error.param];
  };
  assert.deepEqual(await refused({ foo: 1 }), [400, 'invalid_request', 'foo']);
  assert.deepEqual(await refused({ prompt: '' }), [400, 'invalid_request', 'prompt']);
  assert.deepEqual(await refused({ duration_seconds: 3 }), [
    400,
    'invalid_request',
    'duration_seconds',
  ]);
  assert.deepEqual(await refused({ video_model: 'nobody' }), [
    404,
    'model_not_found',
    'video_model',
  ]);
  const veo = { video_model: models.veo };
  assert.deepEqual(await refused({ ...veo, duration_seconds: 5 }), [
    400,
    'invalid_request',
    'duration_seconds',
  ]);
  assert.deepEqual(await refused({ ...veo, aspect_ratio: '21:9' }), [
    400,
    'invalid_request',
    'aspect_ratio',
  ]);
  const poor = await bed.account({ micros: 1_000n });
  const { status, error, headers } = await askVideo(poor, '', { prompt: 'x' });
  assert.deepEqual([status, error.code], [402, 'insufficient_credits']);
  assert.equal(headers.get('x-svc-available-microcredits'), '1000');
  assert.ok(Number(headers.get('x-svc-required-microcredits')) > 1_000);
});

test('a job that waits can be cancelled, one that was submitted cannot', async () => {
  const account = await bed.account();
  const { availableMicros } = await account.balance();
  const body = {
    prompt: 'no [[sim render_ms=60000]]',
    duration_seconds: 4,
    video_model: models.veo,
  };
  const ids: string[] = [];
  for (let index = 0; index < 14; index += 1) ids.push((await makeVideo(account, body)).id);
  let cancelled = 0;
  for (const id of ids.reverse()) {
    const reply = await askVideo(account, `/${id}/cancel`, {});
    if (reply.status === 409) continue;
    assert.deepEqual([reply.status, reply.job.status], [200, 'cancelled']);
    assert.equal((await askVideo(account, `/${id}/cancel`, {})).status, 200);
    cancelled += 1;
  }
  // The provider takes ten at once.
  assert.ok(cancelled >= 4, `${cancelled} of 14 still waited`);
  const seen = await submissionsOf(bed.dev.simulator_url);
  const submitted = seen.filter(({ idempotency_key: key }) => ids.includes(key ?? ''));
  assert.equal(submitted.length, ids.length - cancelled);
  const admin = {
    'x-svc-session': bed.dev.admin_session_token,
    'content-type': 'application/json',
  };
  for (const id of ids) {
    const url = `${bed.url}/api/admin/video-jobs/${id}/fail`;
    await fetch(url, { method: 'POST', headers: admin, body: '{"reason":"the test is over"}' });
  }
  const balance = await account.balance();
  assert.deepEqual(balance, { availableMicros, heldMicros: 0n });
});

test('jobs are listed newest first, a page at a time, and by their status', async () => {
  const account = await bed.account();
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    ids.unshift((await makeVideo(account, { prompt: `no ${index}`, duration_seconds: 4 })).id);
  }
  const read = async (query: string) => {
    const response = await fetch(`${bed.url}/v1/video/generations?${query}`, {
      headers: { authorization: `Bearer ${account.apiKey}` },
    });
    return (await response.json()) as { data: { id: string }[]; next_cursor: string | null };
  };
  const first = await read('limit=2');
  assert.deepEqual(
    first.data.map(({ id }) => id),
    ids.slice(0, 2),
  );
  const second = await read(`limit=2&cursor=${first.next_cursor}`);
  assert.deepEqual([second.data.map(({ id }) => id), second.next_cursor], [ids.slice(2), null]);
  for (const id of ids) await endOf(account, id);
  assert.equal((await read('status=succeeded')).data.length, 3);
  assert.equal((await read('status=cancelled')).data.length, 0);
});

test('an administrator sees the provider and its steps, and may end a job', async () => {
  const account: TestAccount = await bed.account();
  const body = {
    prompt: 'for ever [[sim fault=never]]',
    duration_seconds: 4,
    video_model: models.imagine,
  };
  const { id } = await makeVideo(account, body);
  const headers = {
    'x-svc-session': bed.dev.admin_session_token,
    'content-type': 'application/json',
  };
  const url = `${bed.url}/api/admin/video-jobs/${id}`;
  for (;;) {
    const { job } = (await (await fetch(url, { headers })).json()) as {
      job: Record<string, unknown>;
    };
    if (job.status !== 'running') continue;
    assert.equal(typeof job.upstream_id, 'string');
    assert.equal(typeof job.provider, 'string');
    break;
  }
  const fail = () =>
    fetch(`${url}/fail`, { method: 'POST', headers, body: JSON.stringify({ reason: 'stuck' }) });
  assert.equal((await fail()).status, 200);
  assert.equal((await fail()).status, 409);
  const { job } = await askVideo(account, `/${id}`);
  assert.deepEqual([job.status, job.error_code], ['failed', 'operator_failed']);
  assert.equal((await account.balance()).heldMicros, 0n);
});

test('a busy provider is asked again until the time is over, one that is down is not', async () => {
  const cases = [
    ['videos', 'fault=429 times=1', 'ok'],
    ['veo', 'fault=429', 'no_route_available'],
    ['imagine', 'status=401', 'no_route_available'],
  ] as const;
  const ends = cases.map(async ([family, directive]) => {
    const account = await bed.account();
    const prompt = `${family} ${directive} [[sim ${directive}]]`;
    const made = await makeVideo(account, { prompt, video_model: models[family] });
    const { job } = await endOf(account, made.id);
    assert.equal((await account.balance()).heldMicros, 0n);
    return [family, directive, job.error_code ?? 'ok'];
  });
  assert.deepEqual(await Promise.all(ends), cases);
});
