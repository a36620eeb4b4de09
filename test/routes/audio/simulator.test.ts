// Speech and transcription with the simulator, as development mode has them: what is spoken is
// heard again, through the official client, and the models are listed and well.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
let client: OpenAI;
before(async () => {
  bed = await openTestbed({ shards: 1 });
  account = await bed.account();
  client = new OpenAI({ apiKey: account.apiKey, baseURL: `${bed.url}/v1` });
});
after(() => bed.close());

test('what is spoken is heard again, word by word, in either format', async () => {
  for (const [model, format] of [
    ['svc-tts', 'mp3'],
    ['vendorA-mini-tts', 'wav'],
  ] as const) {
    const speech = await client.audio.speech.create({
      model,
      voice: 'marin',
      input: 'three small words',
      response_format: format,
    });
    const bytes = Buffer.from(await speech.arrayBuffer());
    for (const listener of ['svc-transcribe', 'vendorA-mini-transcribe', 'vendorA-transcribe-1']) {
      const file = await toFile(bytes, `speech.${format}`);
      const heard = await client.audio.transcriptions.create({ model: listener, file });
      assert.match(heard.text, /^( tone\d+){3}$/, `${model} ${listener}`);
      assert.ok(heard.usage?.type === 'duration' && heard.usage.seconds > 0);
    }
  }
});

test('a charge is what the price says, and the answer says that it is simulated', async () => {
  const poor = await bed.account();
  const own = new OpenAI({ apiKey: poor.apiKey, baseURL: `${bed.url}/v1` });
  const input = 'x'.repeat(1_000);
  const { data, response } = await own.audio.speech
    .create({ model: 'svc-tts', voice: 'alloy', input })
    .withResponse();
  await data.arrayBuffer();
  const { availableMicros } = await poor.quiet();
  // 0.015 dollars a thousand, 100 credits a dollar, 5 % more.
  assert.equal(1_000_000_000n - availableMicros, 1_575_000n);
  const path = `${bed.url}/v1/generations/${response.headers.get('x-svc-request-id')}`;
  const state = await fetch(path, { headers: { authorization: `Bearer ${poor.apiKey}` } });
  const { svc_usage: usage } = (await state.json()) as { svc_usage: Record<string, unknown> };
  assert.equal(usage.simulated, true);
  assert.equal(usage.charge_microcredits, 1_575_000);
});

test('a provider’s refusal is ours, in our own words', async () => {
  const asking = client.audio.speech.create(
    {
      model: 'svc-tts',
      voice: 'alloy',
      input: 'hello',
      instructions: '[[sim status=429]]',
    },
    { maxRetries: 0 },
  );
  await assert.rejects(asking, { status: 503, code: 'upstream_busy' });
});

test('the models are listed with what they can do and what they cost', async () => {
  const ids = (await client.models.list()).data.map(({ id }) => id);
  const reply = await fetch(`${bed.url}/api/public/models`);
  const { models } = (await reply.json()) as { models: Record<string, unknown>[] };
  for (const [alias, rate] of [
    ['svc-tts', 'credits_per_1k_characters'],
    ['vendorA-mini-tts', 'credits_per_1k_characters'],
    ['svc-transcribe', 'credits_per_audio_minute'],
    ['vendorA-transcribe-1', 'credits_per_audio_minute'],
    ['svc-voice-1', 'credits_per_million_audio_input'],
  ] as const) {
    assert.ok(ids.includes(alias), alias);
    const entry = models.find((model) => model.alias === alias);
    assert.deepEqual(entry?.capabilities, ['audio']);
    assert.ok(Number(entry?.[rate]) > 0, `${alias}: ${JSON.stringify(entry)}`);
  }
});

test('probes find them well, without a call that costs', async () => {
  const before = (await bed.simulator.stats()).started;
  const deadline = performance.now() + 60_000;
  for (;;) {
    const reply = await fetch(`${bed.url}/api/public/model-status`);
    const body = (await reply.json()) as { models?: { alias: string; status: string }[] };
    if (body.models !== undefined) {
      const statuses = new Map(body.models.map(({ alias, status }) => [alias, status]));
      for (const alias of ['svc-tts', 'svc-transcribe', 'vendorA-mini-tts', 'svc-voice-1']) {
        assert.equal(statuses.get(alias), 'operational', alias);
      }
      break;
    }
    assert.ok(performance.now() < deadline, 'no status in time');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.equal((await bed.simulator.stats()).started, before);
});

test('text cannot be asked of them, and the answer says where they belong', async () => {
  const messages = [{ role: 'user' as const, content: 'hello' }];
  await assert.rejects(client.chat.completions.create({ model: 'svc-tts', messages }), {
    status: 404,
    code: 'model_not_found',
    message: /"svc-tts" is a speech model: it is used with \/v1\/audio\/speech\./,
  });
});
