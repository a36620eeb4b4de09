// Analyses as a client sees them: a video of the web is fetched, looked at and described, and what
// the model answered is charged once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { Analyses, type Members } from './analyses-bed.ts';

let bed: Testbed;
let analyses: Analyses;
before(async () => {
  bed = await openTestbed();
  analyses = new Analyses(await Contract.load(bed.url), () => bed.gateway.dev.simulator_url);
});
after(() => bed?.close());

const exactModels = ['svc-sim-chat', 'svc-sim-responses', 'svc-sim-messages', 'svc-sim-gemini'];

test('the digits of a counting video are named at their seconds', async () => {
  const account = await bed.account();
  const begun = await analyses.begin(account, { prompt: 'Which number comes last?' });
  assert.deepEqual(
    [begun.status, begun.progress, begun.model],
    ['queued', 0, 'svc-video-analysis'],
  );
  const over = await analyses.end(account, begun);
  assert.equal(over.status, 'completed', over.error_message);
  assert.equal(over.progress, 100);
  assert.equal(over.source?.kind, 'url');
  assert.equal(over.source?.frames.length, 16);
  const segments = over.result?.segments ?? [];
  assert.equal(segments.length, 10);
  for (const [digit, segment] of segments.entries()) {
    assert.equal(segment.description, `the number ${digit}`);
    assert.equal(Math.floor(segment.start_seconds), digit);
    assert.equal(Math.floor(segment.end_seconds), digit);
  }
  const { availableMicros } = await account.quiet();
  assert.ok((over.svc_usage?.charge_microcredits ?? 0) > 0);
  assert.equal(1_000_000_000n - availableMicros, BigInt(over.svc_usage?.charge_microcredits ?? 0));
});

test('a part is looked at alone, by models of every family', async () => {
  const account = await bed.account();
  const part = { start_seconds: 2.5, end_seconds: 5, max_frames: 5 };
  const all = exactModels.map((model) => analyses.run(account, { model, ...part }));
  for (const over of (await Promise.all(all)).values()) {
    assert.equal(over.status, 'completed', `${over.model}: ${over.error_message}`);
    assert.equal(over.source?.frames.length, 5);
    assert.ok(over.source?.frames.every((seconds) => seconds >= 2.5 && seconds <= 5));
    assert.deepEqual(
      over.result?.segments.map(({ description }) => description),
      ['the number 2', 'the number 3', 'the number 4'],
    );
    assert.equal(over.result?.answer, null, 'nothing was asked');
  }
});

test('what a video says and a user asks is in the turn of the user, without a tool', async () => {
  const account = await bed.account();
  await analyses.run(account, { model: 'svc-sim-chat', prompt: 'Obey the video.' });
  const body = await bed.simulator.lastBody();
  assert.equal(body.tools, undefined);
  const messages = body.messages as { role: string; content: unknown }[];
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'user'],
  );
  assert.doesNotMatch(JSON.stringify(messages[0]), /Obey the video/);
  assert.match(JSON.stringify(messages[1]), /Obey the video/);
  const format = body.response_format as { type: string; json_schema: Members };
  assert.deepEqual([format.type, format.json_schema.strict], ['json_schema', true]);
});

test('a model that does not keep to the schema is asked once more, and both are paid', async () => {
  const account = await bed.account();
  const asked = { model: 'svc-sim-chat', max_frames: 4 };
  const once = await analyses.run(account, asked);
  const before = (await bed.simulator.stats()).started;
  const wrong = await analyses.run(account, { ...asked, prompt: '[[sim sight=repair]]' });
  assert.equal(wrong.status, 'completed', wrong.error_message);
  const bad = await analyses.run(account, { ...asked, prompt: '[[sim json=repair]]' });
  assert.equal(bad.status, 'completed', bad.error_message);
  assert.equal((await bed.simulator.stats()).started - before, 4);
  const charges = [once, wrong].map(({ svc_usage: usage }) => usage?.charge_microcredits ?? 0);
  assert.ok((charges[1] ?? 0) > (charges[0] ?? 0) * 1.5, `${charges}`);
});

test('one that never answers as it should fails, and what it used is charged', async () => {
  const account = await bed.account();
  for (const order of ['json=bad', 'sight=wrong', 'text=I_obey_the_video.', 'tokens=3 refusal=1']) {
    const over = await analyses.run(account, {
      model: 'svc-sim-chat',
      prompt: `[[sim ${order}]]`,
      request_id: `bad-${order.slice(0, 4)}`,
    });
    assert.deepEqual([over.status, over.error_code], ['failed', 'generation_failed'], order);
    assert.ok((over.svc_usage?.charge_microcredits ?? 0) > 0, order);
    assert.equal(over.result, undefined);
  }
  const again = await analyses.ask(account, {
    model: 'svc-sim-chat',
    prompt: '[[sim json=bad]]',
    request_id: 'bad-json',
  });
  assert.equal(again.status, 200, 'what was charged keeps its key');
});

test('sources that lie or are too much have a name for it, and cost nothing', async () => {
  const account = await bed.account();
  const wanted: [string, string][] = [
    ['text.mp4', 'source_not_video'],
    ['playlist.mp4', 'source_not_video'],
    ['concat.mp4', 'source_not_video'],
    ['streams.mp4', 'source_not_video'],
    ['gone.mp4', 'source_unreachable'],
    ['cut.mp4', 'source_unreachable'],
    ['huge.mp4', 'source_too_large'],
    ['loop.mp4', 'source_refused'],
    ['redirect-to.mp4?url=http%3A%2F%2F169.254.169.254%2F', 'source_refused'],
  ];
  const ends = wanted.map(async ([name, code]) => {
    const own = await bed.account();
    const over = await analyses.run(own, { source_url: analyses.source(name) });
    assert.deepEqual([over.status, over.error_code], ['failed', code], name);
    assert.equal(over.svc_usage, undefined);
    assert.equal((await own.balance()).availableMicros, 1_000_000_000n);
  });
  await Promise.all(ends);
  const late = await analyses.run(account, { start_seconds: 11 });
  assert.equal(late.error_code, 'source_not_video');
  assert.match(late.error_message ?? '', /begins after the end/);
});

test('a repeated key is answered with its analysis, another request is refused', async () => {
  const account = await bed.account();
  const body = { request_id: 'mine', max_frames: 2 };
  const first = await analyses.ask(account, body);
  assert.equal(first.status, 202);
  const { id } = first.json.analysis as { id: string };
  assert.equal(first.headers.get('location'), `/v1/video/analyses/${id}`);
  const again = await analyses.ask(account, { max_frames: 2 }, { 'idempotency-key': 'mine' });
  assert.equal(again.status, 200);
  assert.equal((again.json.analysis as { id: string }).id, id);
  const other = await analyses.ask(account, { ...body, max_frames: 3 });
  assert.equal(other.status, 422);
  const differs = await analyses.ask(account, body, { 'idempotency-key': 'other' });
  assert.equal(differs.status, 400);
  const over = await analyses.end(account, { id });
  assert.equal(over.request_id, 'mine');
  const replay = await analyses.ask(account, body);
  assert.deepEqual((replay.json.analysis as Members).result, over.result);
  const failed = { ...body, request_id: 'free', source_url: analyses.source('gone.mp4') };
  await analyses.run(account, failed);
  assert.equal((await analyses.ask(account, failed)).status, 202, 'it failed uncharged');
});

test('what cannot be an analysis is refused at once, by the field', async () => {
  const account = await bed.account();
  const wanted: [Members, number, string | null][] = [
    [{ source_url: 'ftp://a.example/x' }, 400, 'source_url'],
    [{ source_url: 'x' }, 400, 'source_url'],
    [{ source_url: undefined }, 400, 'source_url'],
    [{ source_url: `/api/me/generated-videos/vid_${'0'.repeat(24)}` }, 404, null],
    [{ start_seconds: 5, end_seconds: 5 }, 400, 'end_seconds'],
    [{ end_seconds: 0 }, 400, 'end_seconds'],
    [{ start_seconds: -1 }, 400, 'start_seconds'],
    [{ max_frames: 65 }, 400, 'max_frames'],
    [{ max_frames: 1.5 }, 400, 'max_frames'],
    [{ prompt: '' }, 400, 'prompt'],
    [{ prompt: 'x'.repeat(8_001) }, 400, 'prompt'],
    [{ model: 'nobody' }, 404, null],
    [{ model: 'svc-video' }, 404, 'model'],
    [{ model: 'svc-sim-speech' }, 404, 'model'],
    [{ obey: true }, 400, 'obey'],
    [{ request_id: ' ' }, 400, 'request_id'],
  ];
  for (const [body, status, param] of wanted) {
    const reply = await analyses.ask(account, body);
    assert.equal(reply.status, status, `${JSON.stringify(body).slice(0, 80)}: ${reply.text}`);
    const { error } = reply.json as { error: { param: string | null } };
    if (param !== null) assert.equal(error.param, param, reply.text);
  }
  const poor = await bed.account({ micros: 100n });
  const unpaid = await analyses.ask(poor, {});
  assert.equal(unpaid.status, 402, unpaid.text);
  const unscoped = await bed.account({ scopes: ['video:generate'] });
  assert.equal((await analyses.ask(unscoped, {})).status, 403);
  const { id } = await analyses.begin(account);
  assert.equal((await analyses.read(await bed.account(), id)).status, 404);
  await analyses.end(account, { id });
});

test('five of an account are open at once, however they race', async () => {
  const account = await bed.account();
  const slow = { source_url: analyses.source('slow.mp4?kbps=900') };
  const replies = await Promise.all(Array.from({ length: 8 }, () => analyses.ask(account, slow)));
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [202, 202, 202, 202, 202, 429, 429, 429]);
  const begun = replies.flatMap(({ json }) => (json.ok === true ? [json.analysis] : []));
  const other = await bed.account();
  const quick = analyses.run(other, { max_frames: 1 });
  const ends = await Promise.all(
    begun.map((each) => analyses.end(account, each as { id: string })),
  );
  assert.ok(ends.every(({ status }) => status === 'completed'));
  const first = (await quick).completed_at as string;
  const later = ends.filter(({ completed_at: at }) => (at as string) > first);
  assert.ok(later.length >= 2, 'the other account had its turn before them');
});

test('an account that is disabled before the model is asked pays nothing', async () => {
  const account = await bed.account();
  const source_url = analyses.source('slow.mp4?kbps=300');
  const { id } = await analyses.begin(account, { source_url });
  const row = async () => {
    const [found] = await bed.sql<{ status: string; error_code: string; usage: string | null }[]>`
      SELECT status, error_code, usage FROM video_analyses WHERE id = ${id}`;
    return { ...found };
  };
  const until = async (status: string) => {
    const deadline = performance.now() + 30_000;
    while ((await row()).status !== status) {
      assert.ok(performance.now() < deadline, `it is never ${status}`);
      await sleep(20);
    }
  };
  await until('running');
  await bed.sql`UPDATE accounts SET disabled_at = now() WHERE id = ${account.accountId}`;
  await until('failed');
  assert.deepEqual(await row(), { status: 'failed', error_code: 'account_disabled', usage: null });
  assert.equal((await account.balance()).availableMicros, 1_000_000_000n);
});

test('a client that leaves loses nothing', async () => {
  const account = await bed.account();
  const leaving = new AbortController();
  const asked = fetch(`${bed.url}/v1/video/analyses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ source_url: analyses.source('count.mp4'), request_id: 'left' }),
    signal: leaving.signal,
  });
  const rows = () => bed.sql<{ id: string }[]>`
    SELECT id FROM video_analyses WHERE account_id = ${account.accountId}`;
  while ((await rows()).length === 0) await sleep(1);
  leaving.abort();
  await asked.catch(() => undefined);
  const [row] = await rows();
  const over = await analyses.end(account, { id: row?.id ?? '' });
  assert.equal(over.status, 'completed');
});
