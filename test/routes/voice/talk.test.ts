// Conversations through the whole product: real sockets, the simulated upstreams of both families,
// and the books afterwards.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../../db/audit.ts';
import type { TestAccount } from '../../harness/account.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { VoiceClient, type VoiceEvent } from '../../harness/voice-client.ts';

// slow: It waits for speech and deadlines of a session in real time.

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_VOICE_IDLE_SECONDS: '8' } });
  account = await bed.account({ micros: 100_000_000_000n });
});
after(async () => {
  const broken = (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n);
  await bed.close();
  assert.deepEqual(broken, []);
});

const voices = { realtime: 'alloy', live: 'puck' } as const;
/** One family ends its answer when it is told to; the other plays it to its end, unheard. */
const sourceOfCut = { alloy: 'reported', puck: 'estimated' } as const;

async function open(members: Record<string, unknown> = {}): Promise<VoiceClient> {
  const client = await VoiceClient.connect(bed.url, { apiKey: account.apiKey });
  await client.ready(members);
  return client;
}

/** A history whose last text tells the simulator what to do. */
const asked = (directive: string) => ({
  context: [{ role: 'user', content: `hello [[sim ${directive}]]` }],
});

async function end(client: VoiceClient): Promise<VoiceEvent> {
  client.send({ type: 'end' });
  assert.equal((await client.close()).code, 1000);
  return client.events.at(-1) ?? { type: 'none' };
}

interface Row {
  reason: string;
  source: string;
  charge: number | null;
  speech_in: number;
  speech_out: number;
}

/** The row of a client's session, once it has ended. */
async function row(client: VoiceClient): Promise<Row> {
  const id = String(client.ofType('session.ready')[0]?.session_id);
  for (let attempt = 0; attempt < 3_000; attempt += 1) {
    const [found] = await bed.sql<Row[]>`
      SELECT reason, source, charge_micros::int AS charge, input_speech_tokens::int AS speech_in,
        output_speech_tokens::int AS speech_out
      FROM voice_sessions WHERE id = ${id} AND state = 'ended'`;
    if (found !== undefined) return { ...found };
    await sleep(20);
  }
  throw new Error(`session ${id} did not end`);
}

/** How long a barge-in takes to be answered by the `count`-th clear. */
async function clearedAfterMs(client: VoiceClient, count: number): Promise<number> {
  const sentMs = performance.now();
  client.send({ type: 'barge_in' });
  await client.event('playback.clear', count);
  const arrivals = client.arrivals.filter(
    (each) => 'event' in each && each.event.type === 'playback.clear',
  );
  return (arrivals[count - 1]?.atMs ?? 0) - sentMs;
}

/** The pitch of pcm_s16le at 24 kHz, by its upward crossings of zero. */
function pitchOf(sound: Buffer): number {
  let crossings = 0;
  for (let index = 2; index < sound.length; index += 2) {
    if (sound.readInt16LE(index - 2) < 0 && sound.readInt16LE(index) >= 0) crossings += 1;
  }
  return crossings / (sound.length / 48_000);
}

describe('conversations', { concurrency: 8 }, () => {
  for (const [family, voice] of Object.entries(voices)) {
    test(`${family}: a turn is heard, answered, told both ways and charged`, async () => {
      const client = await open({ voice_id: voice });
      await client.say(440, 480);
      await client.state('speaking');
      await client.state('listening', 2);
      assert.ok(Math.abs(client.soundMs - 2_000) < 1, `${client.soundMs} ms`);
      const pitch = pitchOf(Buffer.concat(client.sound));
      assert.ok(Math.abs(pitch - 220) < 12, `half the pitch that was sent: ${pitch} Hz`);
      assert.ok(client.sound.every(({ length }) => length <= 3_840 && length % 2 === 0));
      const finalsNow = () => client.ofType('transcript').filter(({ final }) => final === true);
      // The upstream's end of the turn, and with it the last text, may come after all was heard.
      await client.until('two final transcripts', () => finalsNow().length >= 2);
      const finals = finalsNow();
      assert.deepEqual(finals.map(({ role }) => role).sort(), ['assistant', 'user']);
      for (const { text } of finals) assert.match(String(text), /heard 4[34]\d/);
      const states = client.ofType('status').map(({ state }) => state);
      const turn = ['thinking', 'speaking', 'listening'];
      assert.deepEqual(states, ['connecting', 'listening', ...turn]);
      const ended = await end(client);
      assert.equal(ended.reason, 'client_end');
      const usage = ended.usage as Record<string, number>;
      assert.equal(usage.output_speech_tokens, 20);
      const settled = await row(client);
      assert.equal(settled.source, 'reported');
      assert.equal(settled.speech_out, 20);
      assert.equal(settled.speech_in, usage.input_speech_tokens);
    });

    test(`${family}: sound is sent at the pace at which it is heard`, async () => {
      const client = await open({ voice_id: voice, ...asked('seconds=3') });
      await client.speak(440, 320);
      // Nobody answers before the turn has ended.
      const askedMs = performance.now();
      const watch = startStopwatch();
      await client.speak(0, 700);
      await client.state('speaking');
      await client.state('listening', 2);
      const sounds = client.arrivals.flatMap((each) => ('bytes' in each ? [each] : []));
      let bytes = 0;
      // When playing would have begun for each piece to be played as it comes.
      const beginnings = sounds.map(({ atMs, bytes: length }) => {
        bytes += length;
        return atMs - (bytes - length) / 48;
      });
      assert.ok(Math.abs(bytes / 48 - 3_000) < 1);
      const sorted = beginnings.sort((one, other) => one - other);
      // The machine can only delay: the earliest says what was sent ahead, the median its pace.
      const aheadMs = askedMs - (sorted[0] ?? 0);
      assert.ok(aheadMs < 450, `${aheadMs} ms ahead`);
      const lateMs = (sorted[sorted.length >> 1] ?? 0) - (sorted[0] ?? 0);
      assert.ok(lateMs < 900 * watch.busyFactor(), `${lateMs} ms late`);
      await end(client);
    });

    test(`${family}: after a barge-in the answer is not heard, the next one is`, async () => {
      const client = await open({ voice_id: voice, ...asked('seconds=20 fault=late_deltas') });
      await client.say(440);
      await client.state('speaking');
      await sleep(300);
      const watch = startStopwatch();
      const took = [await clearedAfterMs(client, 1)];
      const clear = client.arrivals.findIndex(
        (each) => 'event' in each && each.event.type === 'playback.clear',
      );
      await client.speak(0, 500);
      const later = client.arrivals.slice(clear);
      assert.ok(!later.some((each) => 'bytes' in each), 'late sound is not heard');
      assert.equal(client.ofType('status').at(-1)?.state, 'listening');
      await client.say(600);
      await client.state('speaking', 2);
      took.push(await clearedAfterMs(client, 2));
      // The better of the two: the machine may hold up either.
      assert.ok(Math.min(...took) < 100 * watch.busyFactor(), `${took} ms`);
      await end(client);
      assert.equal((await row(client)).source, sourceOfCut[voice]);
    });

    test(`${family}: speaking over an answer clears it`, async () => {
      const client = await open({ voice_id: voice, ...asked('seconds=20') });
      await client.say(440);
      await client.state('speaking');
      await client.say(500);
      await client.event('playback.clear');
      await client.state('speaking', 2);
      await end(client);
      const states = client.ofType('status').map(({ state }) => state);
      assert.equal(states.filter((state) => state === 'speaking').length, 2);
    });

    test(`${family}: speaking clears the longest answer, which came at once`, async () => {
      const client = await open({ voice_id: voice, ...asked('seconds=205') });
      await client.say(440);
      await client.state('speaking');
      await sleep(500);
      const watch = startStopwatch();
      await client.say(500);
      await client.event('playback.clear');
      watch.assertWithin(3_000, 'heard behind 205 s of sound');
      await end(client);
    });

    test(`${family}: the upstream is cut, or goes away: renewable, settled`, async () => {
      for (const fault of ['cut', 'close', 'garbage']) {
        const client = await open({ voice_id: voice, ...asked(`fault=${fault} at=5 gap_ms=20`) });
        await client.say(440);
        const ended = await client.event('session.ended');
        assert.deepEqual([ended.reason, ended.renewable], ['upstream_closed', true], fault);
        assert.equal((await client.close()).code, 1011);
        const { source } = await row(client);
        assert.ok(['estimated', 'reported'].includes(source), `${fault}: ${source}`);
      }
    });

    test(`${family}: usage that never comes is estimated`, async () => {
      const client = await open({ voice_id: voice, ...asked('fault=no_usage') });
      await client.say(440);
      await client.state('listening', 2);
      await end(client);
      const settled = await row(client);
      assert.equal(settled.source, 'estimated');
      assert.ok((settled.charge ?? 0) > 0);
    });

    test(`${family}: a client that vanishes in an answer pays for what was used`, async () => {
      const client = await open({ voice_id: voice, ...asked('seconds=5 gap_ms=10') });
      await client.say(440);
      await client.state('speaking');
      client.socket.terminate();
      const settled = await row(client);
      assert.equal(settled.reason, 'client_gone');
      assert.equal(settled.source, sourceOfCut[voice]);
      assert.ok(settled.speech_out > 0);
    });

    test(`${family}: a tool is run by the server, and the answer goes on`, async () => {
      const client = await open({
        voice_id: voice,
        tools_enabled: true,
        client_context: { timezone: 'Europe/Zurich', utc_offset_minutes: 60 },
        ...asked('tool=current_time'),
      });
      await client.say(440);
      await client.event('tool', 2);
      assert.deepEqual(
        client.ofType('tool').map(({ name, state }) => [name, state]),
        [
          ['current_time', 'started'],
          ['current_time', 'completed'],
        ],
      );
      await client.state('speaking');
      await end(client);
    });
  }

  test('goAway and then silence: the session is left before the upstream goes', async () => {
    const client = await open({ voice_id: 'puck', ...asked('fault=goaway_silence left_ms=4000') });
    await client.say(440);
    const watch = startStopwatch();
    const ended = await client.event('session.ended');
    watch.assertWithin(3_500, 'left before the upstream goes');
    assert.deepEqual([ended.reason, ended.renewable], ['upstream_closed', true]);
  });

  test('a minute of answer at once is paced, and cleared in an instant', async () => {
    const client = await open(asked('seconds=60'));
    const askedMs = performance.now();
    await client.say(440);
    await client.state('speaking');
    await sleep(1_000);
    client.send({ type: 'barge_in' });
    await client.event('playback.clear');
    const sinceMs = performance.now() - askedMs;
    assert.ok(client.soundMs < sinceMs, `${client.soundMs} ms were sent in ${sinceMs} ms`);
    await end(client);
  });

  test('silence ends a session by name', async () => {
    const client = await open();
    const ended = await client.event('session.ended');
    assert.deepEqual([ended.reason, ended.renewable], ['idle_timeout', false]);
    assert.equal((await client.close()).code, 1000);
  });

  test('a start that is far too long cuts the connection, a little too long is told', async () => {
    const long = await VoiceClient.connect(bed.url, { apiKey: account.apiKey });
    long.start({ continuation_token: 'x'.repeat(33_000) });
    assert.deepEqual(await long.close(), { code: 1008, reason: 'invalid_start' });
    const longer = await VoiceClient.connect(bed.url, { apiKey: account.apiKey });
    longer.start({ continuation_token: 'x'.repeat(70_000) });
    await longer.close();
  });
});
