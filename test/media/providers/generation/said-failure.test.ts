// Codes of errors mean the same in every family: words, numbers, or numbers as text. So they do in
// the first event of a 200 and later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../media/model/events.ts';
import { requireFamily } from '../../../../media/providers/generation/families.ts';

const line = (event: object) => `data: ${JSON.stringify(event)}\n\n`;

/** A stream that has told a text, or nothing, when it fails with this error. */
const streams: Record<string, (error: object, text: string) => string> = {
  'openai-chat': (error, text) =>
    (text === '' ? '' : line({ id: 'c', choices: [{ index: 0, delta: { content: text } }] })) +
    line({ error }),
  'openai-responses': (error, text) =>
    (text === ''
      ? ''
      : line({ type: 'response.output_text.delta', output_index: 0, delta: text })) +
    line({ type: 'error', error }),
  'anthropic-messages': (error, text) =>
    (text === ''
      ? ''
      : line({ type: 'message_start', message: { id: 'm', content: [] } }) +
        line({ type: 'content_block_start', index: 0, content_block: { type: 'text', text } })) +
    line({ type: 'error', error }),
  gemini: (error, text) =>
    (text === '' ? '' : line({ candidates: [{ content: { parts: [{ text }] } }] })) +
    line({ error }),
};

const cases: [error: object, kind: string, status: number | null][] = [
  [{ code: 429, message: 'slow' }, 'busy', 429],
  [{ code: '429', message: 'slow' }, 'busy', 429],
  [{ code: 'rate_limit_exceeded' }, 'busy', null],
  [{ type: 'rate_limit_error' }, 'busy', null],
  [{ type: 'too_many_requests' }, 'busy', null],
  [{ code: '503' }, 'failed', 503],
  [{ type: 'overloaded_error' }, 'failed', null],
  [{ code: '408' }, 'timeout', 408],
  [{ code: 'context_length_exceeded' }, 'rejected', null],
  [{ type: 'invalid_request_error' }, 'rejected', null],
  [{ type: 'BadRequestError', code: 400 }, 'rejected', 400],
  [{ type: 'invalid_request_error', code: 'invalid_api_key' }, 'failed', null],
  [{ code: 'a_word_of_tomorrow' }, 'failed', null],
];

for (const family of Object.keys(streams)) {
  test(`${family}: an error in a stream means what it means elsewhere`, () => {
    for (const [error, kind, status] of cases) {
      for (const text of ['', 'some words']) {
        const reader = requireFamily(family).createReader();
        const body = streams[family]?.(error, text) ?? '';
        const events: ModelEvent[] = [...reader.push(Buffer.from(body)), ...reader.end()];
        const last = events.at(-1);
        assert.ok(last?.type === 'failure', JSON.stringify(error));
        assert.equal(last.failure.kind, kind, `${JSON.stringify(error)} behind '${text}'`);
        assert.equal(last.failure.status, status, JSON.stringify(error));
      }
    }
  });

  test(`${family}: a vague status is told by its code, any other by itself`, () => {
    const refusal = (status: number, error: object) =>
      requireFamily(family).readFailure(status, {}, JSON.stringify({ error })).kind;
    if (family !== 'gemini') {
      assert.equal(refusal(500, { code: 'context_length_exceeded' }), 'rejected');
      assert.equal(refusal(400, { code: 'rate_limit_exceeded' }), 'busy');
    }
    assert.equal(refusal(429, { code: 'invalid_request_error' }), 'busy');
    assert.equal(refusal(401, { type: 'invalid_request_error' }), 'failed');
    assert.equal(refusal(400, { code: 'a_word' }), 'rejected');
    assert.equal(refusal(503, { type: 'rate_limit_error' }), 'failed');
  });
}
