// Two accounts side by side on one gateway. One does what costs the other most, and pays nothing
// for it. The other waits at most a fifth longer than it does alone, in the same run.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bar } from '../../bench/report.ts';
import { median, percentile, rounded } from '../../bench/statistics.ts';
import type { TestAccount } from '../harness/account.ts';
import { chatBody, openChat, postChat } from '../harness/chat.ts';
import { wav } from '../harness/recordings.ts';
import { callResponses, responseBody } from '../harness/responses.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { recorded, roundsOf, say } from './record.ts';

const PHASE_MS = 5_000;
const NEIGHBOURS = 8;
const NEIGHBOUR_PAUSE_MS = 20;
/** A key by default: 600 requests a minute. */
const ATTACKERS = 8;
const ATTACKER_PAUSE_MS = 800;
const PAIRS = 8;
const RATIO_MAX = 1.2;
const DETACHED_MAX = 200;

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_DETACHED_MAX: `${DETACHED_MAX}` } });
});
after(() => bed?.close());

type Send = (account: TestAccount) => Promise<Response>;

interface Scene {
  name: string;
  attack: Send;
  /** What the attacker is told; a stream that was left has no other answer. */
  told: number;
  ask: Send;
  /** How many of its requests the neighbour sends at once. */
  loops: number;
  /** What the attacker's wallet has. */
  micros: bigint;
}

let made = 0;

/** A format of 12 KB that nobody has compiled yet: 0.2 s and more of the pool, 1 ms of a shard. */
function freshFormat(): Record<string, unknown> {
  made += 1;
  const entries = Array.from({ length: 250 }, (_, index): [string, object] => [
    `field_${made}_${index}`,
    { type: 'string', pattern: '^[a-z]+$' },
  ]);
  return formatOf(Object.fromEntries(entries));
}

function formatOf(properties: object): Record<string, unknown> {
  const schema = { type: 'object', properties };
  return { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } };
}

const lightFormat = formatOf({ a: { type: 'string', pattern: '^[a-z]+$' } });
const longText = 'word '.repeat(200_000);
const noise = Uint8Array.from({ length: 2_000_000 }, (_, index) => (index * 7_919) % 251);

function hear(account: TestAccount, bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
  const form = new FormData();
  form.set('model', 'svc-transcribe');
  form.set('file', new File([bytes], 'a.wav', { type: 'audio/wav' }));
  const headers = { authorization: `Bearer ${account.apiKey}` };
  return fetch(`${bed.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
}

/** Leaves a stream after its first words; it runs on for as long as the phase. */
async function leave(account: TestAccount): Promise<Response> {
  const controller = new AbortController();
  const { signal } = controller;
  const stream = await openChat(account, '[[sim tokens=100 gap_ms=50]]', {}, { signal });
  if (stream.status === 200) await stream.read(2);
  controller.abort();
  return new Response(null, { status: stream.status });
}

/** Providers take their time: what counts is what the gateway adds. */
const words = '[[sim tokens=1 first_ms=100]]';
const scenes: readonly Scene[] = [
  {
    name: 'heavy schemas',
    attack: (account) => postChat(account, chatBody('x', { response_format: freshFormat() })),
    told: 402,
    ask: (account) =>
      postChat(
        account,
        chatBody('[[sim text={"a":"b"} first_ms=100]]', { response_format: lightFormat }),
      ),
    loops: NEIGHBOURS,
    micros: 0n,
  },
  {
    name: 'recordings',
    attack: (account) => hear(account, noise),
    told: 402,
    ask: (account) => hear(account, wav(1)),
    // Programs decode each: more of them at once would wait for each other.
    loops: 1,
    micros: 0n,
  },
  {
    name: 'stored responses',
    attack: (account) => callResponses(account, '', responseBody(longText)),
    told: 402,
    ask: (account) => callResponses(account, '', responseBody(words)),
    loops: NEIGHBOURS,
    micros: 0n,
  },
  {
    name: 'streams that are left',
    attack: leave,
    told: 200,
    ask: (account) => postChat(account, chatBody(words)),
    loops: NEIGHBOURS,
    micros: 10_000_000_000n,
  },
];

/** Sends again and again until the time is over; how long each took, in milliseconds. */
async function loop(
  account: TestAccount,
  send: Send,
  pauseMs: number,
  untilMs: number,
  isGood: (status: number) => boolean,
): Promise<number[]> {
  const times: number[] = [];
  await sleep(Math.random() * pauseMs);
  while (performance.now() < untilMs) {
    const begun = performance.now();
    const reply = await send(account);
    await reply.arrayBuffer();
    times.push(performance.now() - begun);
    assert.ok(isGood(reply.status), `${reply.status}`);
    await sleep(pauseMs * (0.5 + Math.random()));
  }
  return times;
}

/** The p99 of the neighbour in one phase, beside the attacker or alone. */
async function phase(
  { attack, told, ask, loops }: Scene,
  neighbour: TestAccount,
  attacker: TestAccount | null,
): Promise<number> {
  const untilMs = performance.now() + PHASE_MS;
  const asking = Array.from({ length: loops }, () =>
    loop(neighbour, ask, NEIGHBOUR_PAUSE_MS, untilMs, (status) => status === 200),
  );
  const attacking = Array.from({ length: attacker === null ? 0 : ATTACKERS }, () =>
    attacker === null
      ? []
      : loop(attacker, attack, ATTACKER_PAUSE_MS, untilMs, (code) => code === told || code === 429),
  );
  const [times] = await Promise.all([Promise.all(asking), Promise.all(attacking)]);
  return percentile(
    times.flat().toSorted((one, other) => one - other),
    0.99,
  );
}

async function measure(scene: Scene): Promise<{ aloneMs: number[]; besideMs: number[] }> {
  const neighbour = await bed.account();
  const attacker = await bed.account({ micros: scene.micros });
  const aloneMs: number[] = [];
  const besideMs: number[] = [];
  await phase(scene, neighbour, attacker);
  for (let pair = 0; pair < roundsOf(PAIRS); pair += 1) {
    const order = pair % 2 === 0 ? [null, attacker] : [attacker, null];
    for (const beside of order) {
      const p99 = await phase(scene, neighbour, beside);
      (beside === null ? aloneMs : besideMs).push(p99);
    }
  }
  return { aloneMs, besideMs };
}

test('a neighbour of an account that pays nothing waits as if it were alone', async () => {
  const frame = {
    name: 'long-neighbours',
    title: 'A neighbour of an account that pays nothing',
    method:
      'One account sends what costs others most, ten times a second as a key may by default, ' +
      'with an empty wallet, or leaves its streams. The p99 of the other is measured in pairs of ' +
      `${PHASE_MS / 1_000} s with and without it. What counts is the median of their ratios.`,
  };
  await recorded(frame, async () => {
    const rows: string[][] = [];
    const bars: Bar[] = [];
    for (const scene of scenes) {
      const { aloneMs, besideMs } = await measure(scene);
      const ratio = median(besideMs.map((beside, at) => beside / (aloneMs[at] ?? Number.NaN)));
      const alone = rounded(median(aloneMs));
      const beside = rounded(median(besideMs));
      say(`${scene.name}: p99 ${alone} ms alone, ${beside} ms beside, ${rounded(ratio)} ×`);
      rows.push([scene.name, alone, beside, rounded(ratio)]);
      const text = `p99 beside ${scene.name}, over alone`;
      bars.push({ text, limit: RATIO_MAX, measured: ratio, unit: '×', sense: 'most' });
    }
    return {
      columns: ['the other account sends', 'p99 alone ms', 'beside it', 'ratio'],
      rows,
      bars,
      chart: null,
      notes: [],
    };
  });
});
