// Requests as the provider reads them, and replies as we do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AudioCall } from '../../../../../media/providers/speech/contract.ts';
import { openaiAudio } from '../../../../../media/providers/speech/openai-audio/family.ts';

const target = {
  routeId: 'one/model',
  family: openaiAudio.name,
  baseUrl: 'https://api.example.com/v1',
  apiKey: 'secret',
  upstreamModel: 'upstream-model',
};

function bodyOf(call: AudioCall): Buffer<ArrayBuffer> {
  const body = Buffer.concat(call.body);
  assert.equal(call.headers['content-length'], String(body.length));
  return body;
}

test('speech is asked for with the members that were given', () => {
  const request = {
    input: 'hi',
    voice: 'alloy',
    instructions: null,
    format: 'wav' as const,
    speed: null,
  };
  const call = openaiAudio.encodeSpeech(request, 'their-alloy', target);
  assert.equal(call.url, 'https://api.example.com/v1/audio/speech');
  assert.equal(call.headers.authorization, 'Bearer secret');
  assert.deepEqual(JSON.parse(bodyOf(call).toString()), {
    model: 'upstream-model',
    input: 'hi',
    voice: 'their-alloy',
    response_format: 'wav',
  });
});

test('a recording is a form that others can read', async () => {
  const bytes = Buffer.from('RIFF\r\n--tollgate\r\n\0');
  const request = { bytes, container: 'wav' as const, language: 'de' };
  const call = openaiAudio.encodeTranscription(request, { ...target, apiKey: null });
  assert.equal(call.headers.authorization, undefined);
  const headers = { 'content-type': call.headers['content-type'] ?? '' };
  const form = await new Response(bodyOf(call), { headers }).formData();
  assert.equal(form.get('model'), 'upstream-model');
  assert.equal(form.get('language'), 'de');
  assert.equal(form.get('response_format'), 'json');
  const file = form.get('file');
  assert.ok(file instanceof File);
  assert.deepEqual([file.name, file.type], ['audio.wav', 'audio/wav']);
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), bytes);
});

test('transcripts are read with or without a length', () => {
  const read = (body: unknown) => openaiAudio.readTranscript(JSON.stringify(body));
  assert.deepEqual(read({ text: 'a', usage: { type: 'duration', seconds: 3 } }), {
    text: 'a',
    seconds: 3,
  });
  assert.deepEqual(read({ text: '', usage: { type: 'duration', seconds: 0 } }), {
    text: '',
    seconds: 0,
  });
  for (const usage of [{ type: 'tokens', seconds: 3 }, null, { type: 'duration', seconds: -1 }]) {
    assert.deepEqual(read({ text: 'a', usage }), { text: 'a', seconds: null });
  }
  assert.equal(read({ error: {} }), null);
  assert.equal(openaiAudio.readTranscript('<html>'), null);
});
