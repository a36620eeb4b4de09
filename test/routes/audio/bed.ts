// A gateway with two routes of speech and transcription to scripted providers, and what tests of
// both ask of it: requests, money, and the state of a request.
import assert from 'node:assert/strict';
import type { TestAccount } from '../../harness/account.ts';
import { type AudioProvider, startAudioProvider } from '../../harness/audio-provider.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

export interface AudioBed {
  bed: Testbed;
  one: AudioProvider;
  two: AudioProvider;
  close(): Promise<void>;
}

/** 15 dollars a million characters: 1.575 credits a thousand. */
export const microsPerCharacter = 1_575n;
/** 0.006 dollars a minute: 0.63 credits. */
export const microsPerSecond = 10_500n;

export async function openAudioBed(env: Record<string, string> = {}): Promise<AudioBed> {
  const one = await startAudioProvider({ kind: 'hangUp' });
  const two = await startAudioProvider({ kind: 'hangUp' });
  const routes = ['one', 'two'].map((provider) => ({ provider, upstream_model: 'upstream-model' }));
  const first = routes.slice(0, 1);
  const price = { per_1k_characters: '0.015' };
  const minute = { per_audio_minute: '0.006' };
  const voices = { alloy: 'upstream-alloy', nova: 'upstream-nova' };
  const bed = await openTestbed({
    shards: 1,
    env,
    catalog: {
      providers: [
        { name: 'one', family: 'openai-audio', base_url: one.url, api_key: 'audio-credential' },
        { name: 'two', family: 'openai-audio', base_url: two.url },
      ],
      models: [
        { alias: 'say', kind: 'speech', routes, price, voices },
        { alias: 'say-one', kind: 'speech', routes: first, price, voices },
        { alias: 'hear', kind: 'transcription', routes, price: minute },
        { alias: 'hear-one', kind: 'transcription', routes: first, price: minute },
      ],
    },
  });
  return {
    bed,
    one,
    two,
    async close() {
      await bed.close();
      one.close();
      two.close();
    },
  };
}

export function say(
  { bed }: AudioBed,
  account: TestAccount,
  body: Record<string, unknown>,
  options: { headers?: Record<string, string>; signal?: AbortSignal; path?: string } = {},
): Promise<Response> {
  return fetch(`${bed.url}${options.path ?? '/v1/audio/speech'}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${account.apiKey}`,
      'content-type': 'application/json',
      ...options.headers,
    },
    body: JSON.stringify({ model: 'say', voice: 'alloy', input: 'hello', ...body }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

export interface Recording {
  bytes: Uint8Array<ArrayBuffer>;
  name: string;
  type?: string;
}

export function hear(
  { bed }: AudioBed,
  account: TestAccount,
  { bytes, name, type = '' }: Recording,
  options: { fields?: Record<string, string>; headers?: Record<string, string> } = {},
): Promise<Response> {
  const form = new FormData();
  for (const [key, value] of Object.entries({ model: 'hear', ...options.fields })) {
    form.set(key, value);
  }
  form.set('file', new File([bytes], name, { type }));
  const headers = { authorization: `Bearer ${account.apiKey}`, ...options.headers };
  return fetch(`${bed.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
}

export interface Refusal {
  status: number;
  code: string;
  type: string;
  param: string | null;
  message: string;
  headers: Headers;
}

/** The closed envelope of a refusal. */
export async function refusalOf(reply: Response): Promise<Refusal> {
  const body = (await reply.json()) as { error: Omit<Refusal, 'status' | 'headers'> };
  assert.deepEqual(Object.keys(body), ['error'], JSON.stringify(body));
  assert.deepEqual(Object.keys(body.error).sort(), ['code', 'message', 'param', 'type']);
  assert.ok(!JSON.stringify(body).includes('secret'), JSON.stringify(body));
  return { status: reply.status, headers: reply.headers, ...body.error };
}

/** The state of a request as its owner sees it. */
export async function stateOf(
  { bed }: AudioBed,
  account: TestAccount,
  requestId: string,
): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const reply = await fetch(`${bed.url}/v1/generations/${requestId}`, { headers });
  assert.equal(reply.status, 200);
  return (await reply.json()) as Record<string, unknown>;
}
