// Every family against the simulator through the real call: each fault of the contract has the
// meaning that is documented, and nothing is submitted twice.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../../bench/sim/server.ts';
import { runFfmpeg } from '../../../../bench/sim/sound/ffmpeg.ts';
import { createVideoClient, type VideoClient } from '../../../../media/providers/video/call.ts';
import {
  requireVideoFamily,
  videoFamilyNames,
} from '../../../../media/providers/video/families.ts';
import { type Driven, fetched, listed, polled, polledLong, submitted } from './drive.ts';
import { settings, targetOf } from './replies.ts';

const upstream: Record<string, { basePath: string; upstreamModel: string }> = {
  'google-veo': { basePath: '/v1beta', upstreamModel: 'sim-veo-2026-preview' },
  'xai-imagine': { basePath: '/v1', upstreamModel: 'sim-imagine-2026-high' },
  'openai-videos': { basePath: '/v1', upstreamModel: 'sim-videos-2026' },
};

let sim: RunningSim;
let client: VideoClient;
before(async () => {
  sim = await startSim({ port: 0, key: 'secret', seed: 7 });
  client = createVideoClient({ connectionsMax: 8 });
});
after(async () => {
  await client.close();
  sim.close();
});

function driven(name: string, apiKey = 'secret'): Driven {
  const { basePath, upstreamModel } = upstream[name] ?? assert.fail();
  const target = targetOf(name, `http://127.0.0.1:${sim.port}${basePath}`);
  return {
    client,
    family: requireVideoFamily(name),
    target: { ...target, upstreamModel, apiKey },
  };
}

let jobs = 0;

function asked(directive: string) {
  jobs += 1;
  return {
    ...settings,
    durationSeconds: 4,
    prompt: `fox ${jobs} [[sim render_ms=20 ${directive}]]`,
  };
}

interface Noted {
  prompt: string;
  outcome: string;
  upstream_id: string | null;
  idempotency_key: string;
  polls: { count: number } | null;
  downloads: unknown[];
}

async function notedOf(prompt: string): Promise<Noted[]> {
  const reply = await fetch(`http://127.0.0.1:${sim.port}/sim/videos`);
  const { submissions } = (await reply.json()) as { submissions: Noted[] };
  return submissions.filter((submission) => submission.prompt === prompt);
}

async function accepted(driving: Driven, directive: string): Promise<string> {
  const meaning = await submitted(driving, asked(directive), `vjob_${jobs}`);
  return meaning.kind === 'accepted' ? meaning.upstreamId : assert.fail(meaning.kind);
}

/** What a table says in a word is the kind; a colon parts it from its code or fault. */
function wordOf(meaning: object): string {
  const { kind, code, fault } = meaning as Record<string, string | undefined>;
  const more = code ?? fault;
  return more === undefined ? String(kind) : `${kind}: ${more}`;
}

const submissions: [directive: string, meaning: string, outcome: string][] = [
  ['', 'accepted', 'accepted'],
  ['unknown=1', 'accepted', 'accepted'],
  ['fault=cut_accepted', 'sent', 'cut'],
  ['fault=cut_refused', 'sent', 'refused'],
  ['fault=500_accepted', 'unknown', 'cut'],
  ['fault=429 retry_after=7', 'refused: busy', 'refused'],
  ['fault=moderated_submit', 'final: moderation_blocked', 'refused'],
  ['status=400', 'final: provider_rejected', 'refused'],
  ['status=401', 'refused: down', 'refused'],
  ['status=403', 'refused: down', 'refused'],
  ['status=404', 'refused: down', 'refused'],
  ['status=503', 'refused: busy', 'refused'],
  ['status=529', 'refused: busy', 'refused'],
  ['status=500', 'unknown', 'refused'],
  ['status=504', 'unknown', 'refused'],
];

const polls: [fault: string, veo: string, imagine: string, videos: string][] = [
  ['failed', ...all('failed: provider_failed')],
  ['moderated', ...all('failed: moderation_blocked')],
  ['zero_samples', 'failed: moderation_blocked', 'failed: provider_failed', 'done'],
  ['no_status', 'running', 'done', 'unclear'],
  ['expired', ...all('failed: provider_failed')],
  ['403', ...all('denied')],
  ['404', ...all('lost')],
  ['429 at=poll', ...all('unclear')],
  ['garbage', ...all('unclear')],
  ['never', ...all('running')],
];

function all(word: string): [string, string, string] {
  return [word, word, word];
}

for (const [index, name] of videoFamilyNames.entries()) {
  test(`${name}: a submission and its faults, each written once`, async () => {
    for (const [directive, meaning, outcome] of submissions) {
      const request = asked(directive);
      const found = await submitted(driven(name), request, `vjob_${jobs}`);
      assert.equal(wordOf(found), meaning, directive);
      const noted = await notedOf(request.prompt);
      assert.deepEqual(
        noted.map((each) => each.outcome),
        [outcome],
        directive,
      );
      assert.equal(noted[0]?.idempotency_key, `vjob_${jobs}`);
      if (directive.includes('retry_after')) {
        assert.equal('retryAfterMs' in found && found.retryAfterMs, 7_000);
      }
      if (found.kind === 'accepted') assert.equal(decodeURI(found.upstreamId), found.upstreamId);
    }
    const wrong = await submitted(driven(name, 'wrong'), asked(''), 'vjob_1');
    assert.equal(wordOf(wrong), 'refused: down');
  });

  test(`${name}: a poll and its faults`, async () => {
    for (const [fault, ...words] of polls) {
      const driving = driven(name);
      const id = await accepted(driving, `fault=${fault}`);
      const state = await polledLong(driving, id, 200);
      assert.equal(wordOf(state), words[index], fault);
    }
    const driving = driven(name);
    const id = await accepted(driving, 'fault=429 at=poll times=1 retry_after=9');
    assert.deepEqual(await polled(driving, id), { kind: 'unclear', retryAfterMs: 9_000 });
    assert.equal((await polledLong(driving, id, 5_000)).kind, 'done', 'and then it is done');
    assert.equal((await polled(driven(name, 'wrong'), id)).kind, 'denied');
    const lost = await polled(driving, `${id.slice(0, -2)}zz`);
    assert.equal(lost.kind, 'lost');
  });

  test(`${name}: a file as it was asked for, and the faults of files`, async () => {
    const driving = driven(name);
    const fileOf = async (directive: string) => {
      const id = await accepted(driving, directive);
      const state = await polledLong(driving, id, 5_000);
      return state.kind === 'done' ? { id, file: state.file } : assert.fail(wordOf(state));
    };
    const good = (await fetched((await fileOf('')).file)).bytes ?? assert.fail();
    assert.deepEqual(await shapeOf(good), { frames: 40, seconds: 4 });
    const bytesOf = async (directive: string) =>
      (await fetched((await fileOf(directive)).file)).bytes;
    assert.deepEqual(await bytesOf('fault=slow kbps=2000'), good);
    assert.equal(await bytesOf('fault=cut'), null);
    assert.deepEqual(await bytesOf('fault=truncated'), good.subarray(0, good.length >> 1));
    assert.match(String(await bytesOf('fault=html')), /^<!doctype html>/);
    const short = (await bytesOf('fault=wrong_length')) ?? assert.fail();
    assert.deepEqual(await shapeOf(short), { frames: 20, seconds: 2 });
    const silent = (await bytesOf('fault=no_audio')) ?? assert.fail();
    assert.deepEqual(await shapeOf(silent), { frames: 40, seconds: null });
    const small = (await bytesOf('fault=wrong_size')) ?? assert.fail();
    assert.deepEqual(await shapeOf(small), { frames: 10, seconds: 4 });
    const huge = await fetched((await fileOf('fault=huge')).file);
    assert.deepEqual([huge.headers['content-length'], huge.bytes], ['314572800', null]);
    const led = await fetched((await fileOf('redirect=/sim/source/html.mp4')).file);
    assert.deepEqual([led.status, led.headers.location], [302, '/sim/source/html.mp4']);
  });

  test(`${name}: a link that expired twice is good at the third poll`, async () => {
    const driving = driven(name);
    const id = await accepted(driving, 'fault=expired_link times=2');
    const statuses: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const state = await polledLong(driving, id, 5_000);
      const file = state.kind === 'done' ? state.file : assert.fail(wordOf(state));
      statuses.push((await fetched(file)).status);
    }
    assert.ok([403, 404].includes(statuses[0] ?? 0));
    assert.deepEqual(statuses.slice(1), [statuses[0], 200]);
  });
}

/** In frames of 1280 × 720; the length of the sound, null without any. */
async function shapeOf(bytes: Buffer): Promise<{ frames: number; seconds: number | null }> {
  const gray = ['-map', '0:v', '-pix_fmt', 'gray', '-f', 'rawvideo', 'pipe:1'];
  const pictures = await runFfmpeg(['-i', 'pipe:0', ...gray], bytes);
  const sound = ['-map', '0:a', '-ac', '1', '-ar', '8000', '-f', 's16le', 'pipe:1'];
  const samples = await runFfmpeg(['-i', 'pipe:0', ...sound], bytes);
  const seconds = samples === null ? null : Math.round(samples.length / 16_000);
  return { frames: (pictures?.length ?? 0) / (1_280 * 720), seconds };
}

test('a file needs the key where the vendor wants it', async () => {
  for (const name of ['google-veo', 'openai-videos']) {
    const driving = driven(name);
    const state = await polledLong(driving, await accepted(driving, ''), 5_000);
    const { url } = state.kind === 'done' ? state.file : assert.fail();
    assert.ok([401, 403].includes((await fetched({ url, credentials: {} })).status));
  }
});

test('what a lost reply had made is found in the list, by its words alone', async () => {
  const driving = driven('openai-videos');
  for (const fault of ['cut_accepted', '500_accepted']) {
    const request = asked(`fault=${fault}`);
    const startedMs = Date.now() - 1_000;
    await submitted(driving, request, `vjob_${jobs}`);
    const page = (await listed(driving, request)) ?? assert.fail();
    const ours = page.filter(({ matches }) => matches);
    assert.equal(ours.length, 1);
    const [noted] = await notedOf(request.prompt);
    assert.equal(ours[0]?.upstreamId, noted?.upstream_id);
    assert.ok((ours[0]?.createdAtMs ?? 0) >= startedMs);
    assert.equal((await polledLong(driving, noted?.upstream_id ?? '', 5_000)).kind, 'done');
  }
  assert.equal(await listed(driven('xai-imagine'), settings), null);
});

test('a server that honours keys makes one job of two submissions', async () => {
  const driving = driven('openai-videos');
  const request = asked('fault=cut_accepted');
  assert.equal((await submitted(driving, request, 'vjob_again')).kind, 'sent');
  const second = await submitted(driving, request, 'vjob_again');
  const noted = await notedOf(request.prompt);
  assert.deepEqual(
    noted.map(({ outcome }) => outcome),
    ['cut', 'repeated'],
  );
  assert.equal(second.kind === 'accepted' && second.upstreamId, noted[0]?.upstream_id);
});

test('sound, price and progress are told by those that have them', async () => {
  const quiet = { ...asked('price_ticks=123'), generateAudio: false };
  const imagine = driven('xai-imagine');
  const taken = await submitted(imagine, quiet, `vjob_${jobs}`);
  const id = taken.kind === 'accepted' ? taken.upstreamId : assert.fail();
  const state = await polledLong(imagine, id, 5_000);
  assert.ok(state.kind === 'done');
  assert.equal(state.costTicks, 123);
  const { bytes } = await fetched(state.file);
  assert.equal((await shapeOf(bytes ?? assert.fail())).seconds, null);
  const slow = await accepted(imagine, 'render_ms=60000');
  const running = await polled(imagine, slow);
  assert.ok(running.kind === 'running' && running.progress === 0);
  const untold = await polled(imagine, await accepted(imagine, 'render_ms=60000 progress=none'));
  assert.deepEqual(untold, { kind: 'running', progress: null });
});
