// An unpaid bill where no text is generated: speech, recordings, voice and the web search before an
// answer. Each is told as any other failure of a provider, and its route rests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { askChat } from '../../harness/chat.ts';
import { wav } from '../../harness/recordings.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { VoiceClient } from '../../harness/voice-client.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ own: 'its provider is unpaid', shards: 2 });
});
after(() => bed?.close());

async function unpaid(model?: string): Promise<void> {
  const body = JSON.stringify({ status: 'unpaid', for_ms: 60_000, model });
  await fetch(`${bed.simulator.url}/sim/outage`, { method: 'POST', body });
}

/** Waits until a route of this name rests, and is logged. */
async function rests(name: string): Promise<void> {
  const headers = { 'x-svc-session': bed.dev.admin_session_token };
  for (let look = 0; look < 600; look += 1) {
    const reply = await fetch(`${bed.url}/api/admin/status`, { headers });
    const status = (await reply.json()) as { unpaid_routes: { route: string; until: string }[] };
    const found = status.unpaid_routes.find(({ route }) => route.includes(name));
    if (found !== undefined) {
      const leftMs = Date.parse(found.until) - Date.now();
      assert.ok(leftMs > 500_000 && leftMs <= 600_000, `${leftMs} ms`);
      const lines = bed.gateway.logs.filter((line) => {
        return line.includes('"provider.unpaid"') && line.includes(`"${found.route}"`);
      });
      assert.ok(lines.length <= 1);
      // The line comes through a pipe, and may be later than the status.
      if (lines.length === 1) return;
    }
    await sleep(50);
  }
  assert.fail(`${name} does not rest`);
}

test('speech and transcription answer 502, which no library tries again', async () => {
  const account = await bed.account();
  const authorization = `Bearer ${account.apiKey}`;
  await unpaid();
  const said = await fetch(`${bed.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-tts', voice: 'alloy', input: 'hello' }),
  });
  const form = new FormData();
  form.set('file', new Blob([wav(1)]), 'a.wav');
  form.set('model', 'svc-transcribe');
  const heard = await fetch(`${bed.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  });
  for (const reply of [said, heard]) {
    const text = await reply.text();
    assert.equal(reply.status, 502, text);
    assert.equal(reply.headers.get('x-should-retry'), 'false');
    assert.match(text, /"upstream_error"/);
    assert.doesNotMatch(text, /quota|billing/);
  }
  assert.equal((await account.quiet()).availableMicros, 1_000_000_000n);
  await rests('sim-tts');
  await rests('sim-transcribe');
});

test('a voice session is told that its model is not there', async () => {
  const account = await bed.account();
  await unpaid();
  const client = await VoiceClient.connect(bed.url, { apiKey: account.apiKey });
  client.start();
  const error = await client.event('error');
  assert.equal(error.code, 'upstream_error');
  assert.doesNotMatch(JSON.stringify(error), /quota|billing/);
  await client.close();
  await rests('realtime');
});

test('answers go on without a search that nobody has paid for, and without a wait', async () => {
  const account = await bed.account();
  await bed.simulator.reset();
  await unpaid('serper-search');
  const members = { model: 'svc-sim-chat', web_search: true };
  const ask = () => askChat(account, '[[sim tokens=1]]', members);
  assert.equal((await ask()).status, 200);
  await rests('search');
  const stats = async () => {
    const reply = await fetch(`${bed.simulator.url}/sim/stats`);
    const { models } = (await reply.json()) as { models: Record<string, { started: number }> };
    return models['serper-search']?.started ?? 0;
  };
  const before = await stats();
  for (let round = 0; round < 6; round += 1) assert.equal((await ask()).status, 200);
  assert.equal(await stats(), before);
});
