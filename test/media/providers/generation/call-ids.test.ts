// Signatures in call ids: they come back as they were, they fit every format, and families that do
// not put them there never see them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../../../media/model/request.ts';
import {
  readCallId,
  signatureCharactersMax,
  signCallId,
} from '../../../../media/providers/generation/call-ids.ts';
import { requireFamily } from '../../../../media/providers/generation/families.ts';
import { fc } from '../../../harness/properties.ts';
import { chatSource, encodeFitted, neutralRequest, userMessage } from '../../../harness/request.ts';
import { testSeed } from '../../../harness/seed.ts';

const seed = testSeed;
const id = 'call_1';

test('any signature comes back as it was, in an id that every format takes', () => {
  const base64 = fc.uint8Array({ maxLength: 300 }).map((b) => Buffer.from(b).toString('base64'));
  const url = fc.uint8Array({ maxLength: 300 }).map((b) => Buffer.from(b).toString('base64url'));
  const other = fc.string({ unit: 'grapheme', maxLength: 60 });
  fc.assert(
    fc.property(fc.oneof(base64, url, other), (signature) => {
      const signed = signCallId({ id, signature });
      assert.match(signed, /^[A-Za-z0-9_-]+$/);
      assert.deepEqual(readCallId(signed), { id, signature: signature === '' ? null : signature });
    }),
    { seed, numRuns: 1000 },
  );
});

test('a damaged signature is not used, and the id is still the id', () => {
  const signed = signCallId({ id, signature: Buffer.from('x'.repeat(300)).toString('base64') });
  for (let length = signed.indexOf('_', id.length + 5) + 1; length < signed.length; length += 1) {
    assert.deepEqual(readCallId(signed.slice(0, length)), { id, signature: null });
  }
});

test('ids of others are left as they are, and what is too long is left out', () => {
  for (const foreign of ['', 'call_abc', 'toolu_01', 'a__sig', '__sig9z_AAAA', 'x__sig1s_']) {
    const { signature } = readCallId(foreign);
    assert.equal(signature, null);
    if (!foreign.startsWith('x')) assert.equal(readCallId(foreign).id, foreign);
  }
  const signature = 'A'.repeat(signatureCharactersMax + 4);
  assert.equal(signCallId({ id, signature }), id);
});

test('an id that is full of marks is read as fast as any other', () => {
  for (const mark of ['__sig1s_', '__own1_']) {
    const foreign = `${mark.repeat(40_000)}!`;
    const startedAt = performance.now();
    assert.deepEqual(readCallId(foreign), { id: foreign, signature: null });
    // At each mark all that follows would be looked at: 20 s.
    assert.ok(performance.now() - startedAt < 1_000);
  }
});

test('another family is sent the plain ids, and not the client’s own body', () => {
  const signed = signCallId({ id, signature: 'c2ln' });
  const messages: Message[] = [
    userMessage('hi'),
    {
      role: 'assistant',
      parts: [],
      toolCalls: [{ id: signed, name: 'f', arguments: '{}' }],
      toolCallId: null,
    },
    { role: 'tool', parts: [{ type: 'text', text: 'ok' }], toolCalls: [], toolCallId: signed },
  ];
  const source = chatSource({ messages: 'the client’s own', temperature: 0.5 });
  const request = neutralRequest({ messages, source });
  const family = requireFamily('openai-chat');
  const target = {
    routeId: 'r',
    family: family.name,
    baseUrl: 'http://localhost/v1',
    apiKey: null,
    upstreamModel: 'm',
  };
  const options = { outputTokensMax: 1, nativeSearch: false };
  const call = encodeFitted(family, request, target, options);
  const written = JSON.stringify(call.body);
  assert.ok(!written.includes('__sig'));
  const sent = JSON.parse(written);
  assert.equal(sent.messages[1].tool_calls[0].id, id);
  assert.equal(sent.messages[2].tool_call_id, id);
  assert.equal(sent.temperature, 0.5);
  assert.equal(messages[2]?.toolCallId, signed, 'the request is not changed');
});
