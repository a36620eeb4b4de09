// A person that has used all there is, by real calls. What it said and was answered holds a mark.
// Its secrets must be found nowhere.
import assert from 'node:assert/strict';
import { askChat } from '../../harness/chat.ts';
import type { Contract } from '../../harness/contract.ts';
import { callResponses, responseBody } from '../../harness/responses.ts';
import type { Testbed } from '../../harness/testbed.ts';
import { endOf, type JobBody, makeVideo } from '../../harness/video-jobs.ts';
import { VoiceClient } from '../../harness/voice-client.ts';
import { makePerson, type TestPerson } from './person.ts';

type Members = Record<string, unknown>;

export interface Life {
  person: TestPerson;
  /** Stands in everything that the person wrote. */
  mark: string;
  secrets: string[];
  made: {
    chatId: string;
    responseId: string;
    speechId: string;
    videoJobId: string;
    videoId: string;
    videoSha256: string;
    analysisId: string;
    keyLabel: string;
  };
}

async function speech(person: TestPerson, input: string, key: string): Promise<string> {
  const reply = await fetch(`${person.baseUrl}/v1/audio/speech`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${person.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ model: 'svc-tts', input, voice: 'alloy' }),
  });
  assert.equal(reply.status, 200);
  await reply.arrayBuffer();
  return reply.headers.get('x-svc-request-id') ?? '';
}

async function analysis(person: TestPerson, url: string, prompt: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${person.apiKey}`,
    'content-type': 'application/json',
  };
  const path = `${person.baseUrl}/v1/video/analyses`;
  const body = JSON.stringify({ source_url: url, prompt });
  const asked = await fetch(path, { method: 'POST', headers, body });
  const begun = (await asked.json()) as { analysis: Members };
  assert.equal(asked.status, 202, JSON.stringify(begun));
  for (const deadline = Date.now() + 60_000; ; ) {
    const reply = await fetch(`${path}/${begun.analysis.id}`, { headers });
    const { analysis: now } = (await reply.json()) as { analysis: Members };
    if (now.status === 'completed') return String(now.id);
    assert.ok(now.status !== 'failed' && Date.now() < deadline, JSON.stringify(now));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function search(person: TestPerson, query: string, key: string): Promise<void> {
  const reply = await fetch(`${person.baseUrl}/api/v1/query`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${person.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ surface: 'web_search', query }),
  });
  assert.equal(reply.status, 200, await reply.text());
}

async function speak(bed: Testbed, person: TestPerson): Promise<void> {
  const voice = await VoiceClient.connect(bed.url, { apiKey: person.apiKey });
  await voice.ready();
  voice.send({ type: 'end' });
  await voice.close();
}

async function respond(person: TestPerson, said: string, instructions: string): Promise<Members> {
  const tools = [{ type: 'function', name: 'look', parameters: {} }];
  const asked = await callResponses(person, '', responseBody(said, { instructions, tools }));
  const response = (await asked.json()) as Members;
  assert.equal(asked.status, 200, JSON.stringify(response));
  return response;
}

async function film(person: TestPerson, mark: string): Promise<JobBody> {
  const body = { prompt: `a boat ${mark}`, duration_seconds: 4, conversation_id: `film-${mark}` };
  const made = await makeVideo(person, body);
  const { job } = await endOf(person, made.id);
  assert.equal(job.status, 'succeeded', job.error_code);
  return job;
}

/** Lives it. The gateway has videos made in haste. */
export async function liveOn(bed: Testbed, contract: Contract): Promise<Life> {
  const person = await makePerson(bed, contract);
  const mark = `mark${person.accountId.slice(-10)}`;
  const said = `[[sim text=answer_${mark}]] ${mark}`;
  const source = `${bed.dev.simulator_url}/sim/source/count.mp4`;
  const [chat, response, speechId, job, analysisId] = await Promise.all([
    askChat(person, said, {}, { key: `chat-${mark}` }),
    respond(person, said, mark),
    speech(person, `hello ${mark}`, `speech-${mark}`),
    film(person, mark),
    analysis(person, source, `what is ${mark}`),
    askChat(person, said, { model: 'svc-intelligent', conversation_id: `talk-${mark}` }),
    speak(bed, person),
    search(person, `boats ${mark}`, `query-${mark}`),
  ]);
  assert.equal(chat.status, 200);
  const keyLabel = `label ${mark}`;
  const key = await person.call('POST', '/api/me/api-keys', { label: keyLabel });
  await bed.sql`
    INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
      price_cents, currency)
    VALUES (${`pur-${person.accountId}`}, ${person.accountId}, ${person.walletId}, 'small',
      'failed', 1000, 100, 'usd')`;
  await person.quiet();
  return {
    person,
    mark,
    secrets: [person.apiKey, person.session.token, person.sessionToken, String(key.json.raw_token)],
    made: {
      chatId: chat.headers.get('x-svc-request-id') ?? '',
      responseId: String(response.id),
      speechId,
      videoJobId: job.id,
      videoId: job.video?.id ?? '',
      videoSha256: job.video?.sha256 ?? '',
      analysisId,
      keyLabel,
    },
  };
}
