// The hard ends of speech and transcription: explicit cancel, a stop, kill -9. The wallet is exact
// after each of them, and nothing private is left lying about.
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { siblingId } from '../../../runtime/ids.ts';
import type { TestAccount } from '../../harness/account.ts';
import { wav } from '../../harness/recordings.ts';
import { type AudioBed, hear, microsPerCharacter, openAudioBed, say, stateOf } from './bed.ts';

let audio: AudioBed;
before(async () => {
  audio = await openAudioBed({ TOLLGATE_DRAIN_SECONDS: '1' });
});
after(() => audio.close());

const granted = 1_000_000_000n;
const speech = { bytes: wav(2), name: 'speech.wav', type: 'audio/wav' };

async function paid(account: TestAccount): Promise<bigint> {
  return granted - (await account.quiet()).availableMicros;
}

function cancel(account: TestAccount, requestId: string): Promise<Response> {
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const path = `/v1/generations/${requestId}/cancel`;
  return fetch(audio.bed.url + path, { method: 'POST', headers });
}

function behave(behaviour: AudioBed['one']['behaviour']): void {
  audio.one.behaviour = behaviour;
  audio.two.behaviour = behaviour;
}

test('a speech that is cancelled after it was heard is paid, and its reply is cut', async () => {
  const account = await audio.bed.account();
  behave({ kind: 'audio', pieces: 1_000, pauseMs: 20 });
  const reply = await say(audio, account, {});
  const requestId = reply.headers.get('x-svc-request-id') ?? '';
  const cancelled = await cancel(account, requestId);
  assert.equal(cancelled.status, 200);
  assert.equal(((await cancelled.json()) as { status: string }).status, 'cancelled');
  await assert.rejects(reply.arrayBuffer());
  assert.equal(await paid(account), 5n * microsPerCharacter);
});

test('one that is cancelled before its first byte costs nothing', async () => {
  const account = await audio.bed.account();
  behave({ kind: 'transcript', text: 'late', delayMs: 30_000 });
  const headers = { 'idempotency-key': 'to-cancel' };
  const asking = hear(audio, account, speech, { headers });
  let requestId = '';
  while (requestId === '') {
    await sleep(20);
    const path = `${audio.bed.url}/v1/generations/to-cancel`;
    const found = await fetch(path, { headers: { authorization: `Bearer ${account.apiKey}` } });
    const body = (await found.json()) as { id?: string };
    requestId = body.id ?? '';
  }
  const cancelled = await cancel(account, requestId);
  assert.equal(cancelled.status, 200);
  const reply = await asking;
  assert.equal(reply.status, 409);
  await reply.arrayBuffer();
  assert.equal(await paid(account), 0n);
});

test('a transcription whose client leaves before the text costs nothing', async () => {
  const account = await audio.bed.account();
  behave({ kind: 'transcript', text: 'late', delayMs: 30_000 });
  const form = new FormData();
  form.set('model', 'hear');
  form.set('file', new File([speech.bytes], speech.name, { type: speech.type }));
  const asking = fetch(`${audio.bed.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}` },
    body: form,
    signal: AbortSignal.timeout(400),
  });
  await assert.rejects(asking);
  assert.equal(await paid(account), 0n);
});

test('kill -9 in the middle gives the hold back, frees the key and leaves no file', async () => {
  const account = await audio.bed.account();
  const { dataDir } = audio.bed.gateway;
  behave({ kind: 'audio', pieces: 2_000, pauseMs: 20 });
  const headers = { 'idempotency-key': 'killed' };
  const reply = await say(audio, account, {}, { headers });
  const requestId = reply.headers.get('x-svc-request-id') ?? '';
  const kept = () => readdir(join(dataDir, 'blobs'));
  for (let wait = 0; wait < 500 && (await kept()).length === 0; wait += 1) await sleep(20);
  assert.ok((await account.balance()).heldMicros > 0n);
  assert.deepEqual(await kept(), [`${siblingId(requestId, 'blob')}.part`]);
  await writeFile(join(dataDir, 'audio', 'scratch', 'left'), 'a recording');
  await audio.bed.gateway.killMain();
  await assert.rejects(reply.arrayBuffer());
  assert.equal(await paid(account), 0n);
  assert.equal((await stateOf(audio, account, requestId)).status, 'failed');
  assert.deepEqual(await readdir(join(dataDir, 'audio', 'scratch')), []);
  assert.deepEqual(await kept(), []);
  behave({ kind: 'audio', pieces: 2 });
  const again = await say(audio, account, {}, { headers });
  assert.equal(again.status, 200);
  await again.arrayBuffer();
  assert.equal(await paid(account), 5n * microsPerCharacter);
});

test('a stop ends what does not end in time, and charges nothing for it', async () => {
  const account = await audio.bed.account();
  behave({ kind: 'audio', pieces: 2_000, pauseMs: 20 });
  const reply = await say(audio, account, {});
  const cut = assert.rejects(reply.arrayBuffer());
  assert.equal(await audio.bed.gateway.stop(), 0);
  await cut;
  assert.equal(await paid(account), 0n);
});
