// What replies to submissions mean: the same table for every family, and each vendor's own words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  requireVideoFamily,
  videoFamilyNames,
} from '../../../../media/providers/video/families.ts';
import { replyOf } from './replies.ts';

/** An error of each vendor with this status, in its own form. */
const errors: Record<string, (status: number, message: string) => unknown> = {
  'google-veo': (code, message) => ({ error: { code, message, status: 'ANY' } }),
  'xai-imagine': (_status, error) => ({ code: 'The service says so', error }),
  'openai-videos': (_status, message) => ({ error: { message, type: 'any', code: null } }),
};

const ids: Record<string, [body: unknown, id: string]> = {
  'google-veo': [{ name: 'models/m/operations/o-1' }, 'models/m/operations/o-1'],
  'xai-imagine': [{ request_id: 'r-1' }, 'r-1'],
  'openai-videos': [{ id: 'video_1', object: 'video' }, 'video_1'],
};

for (const name of videoFamilyNames) {
  const family = requireVideoFamily(name);
  const said = (status: number, message = 'no') => {
    const body = errors[name]?.(status, message);
    return family.readSubmit(replyOf(status, body, { 'retry-after': '7' }));
  };

  test(`${name}: an id is the job, any other 2xx is unknown`, () => {
    const [body, upstreamId] = ids[name] ?? assert.fail();
    for (const status of [200, 201, 202]) {
      assert.deepEqual(family.readSubmit(replyOf(status, body)), { kind: 'accepted', upstreamId });
    }
    const member = Object.keys(body as object)[0] ?? '';
    const strange = ['', '..', 'a/../b', './a', 'a b', 'ü', 'a\n', 'x'.repeat(600), 7, null, {}];
    const bodies = [
      '',
      '<html>',
      '[]',
      'null',
      '{',
      {},
      ...strange.map((id) => ({ [member]: id })),
    ];
    for (const nonsense of bodies) {
      const meaning = family.readSubmit(replyOf(200, nonsense));
      assert.deepEqual(meaning, { kind: 'unknown' }, JSON.stringify(nonsense));
    }
  });

  test(`${name}: what is refused for certain, with whatever text`, () => {
    const down = [401, 403, 404, 413, 415];
    for (const status of [...down, 429, 529]) {
      const fault = down.includes(status) ? 'down' : 'busy';
      assert.deepEqual(said(status), { kind: 'refused', fault, retryAfterMs: 7_000 });
      const plain = family.readSubmit(replyOf(status, '<html>'));
      assert.deepEqual(plain, { kind: 'refused', fault, retryAfterMs: null });
    }
  });

  test(`${name}: a 503 counts in the vendor's own form only`, () => {
    assert.deepEqual(said(503), { kind: 'refused', fault: 'busy', retryAfterMs: 7_000 });
    for (const body of ['', '<html>503</html>', 'upstream connect error', { message: 'no' }, {}]) {
      assert.deepEqual(family.readSubmit(replyOf(503, body)), { kind: 'unknown' });
    }
  });

  test(`${name}: 400 and 422 are final, and say what was moderated`, () => {
    for (const status of [400, 422]) {
      assert.deepEqual(said(status, 'seconds is wrong'), {
        kind: 'final',
        code: 'provider_rejected',
      });
      const words = [
        'Generated video rejected by content moderation.',
        "This prompt violates Google's Responsible AI practices.",
        'Your request was rejected by the safety system.',
        'Content violates usage guidelines.',
      ];
      for (const message of words) {
        assert.deepEqual(said(status, message), { kind: 'final', code: 'moderation_blocked' });
      }
      const plain = family.readSubmit(replyOf(status, 'bad'));
      assert.deepEqual(plain, { kind: 'final', code: 'provider_rejected' });
    }
  });

  test(`${name}: everything else is unknown`, () => {
    for (const status of [100, 301, 302, 307, 402, 405, 408, 409, 410, 500, 501, 502, 504, 520]) {
      assert.deepEqual(said(status), { kind: 'unknown' }, String(status));
    }
  });
}

test('a 400 for the credential is refused as a 401 is, and a bill is not waited for', () => {
  const down = { kind: 'refused', fault: 'down', retryAfterMs: null };
  const veo = requireVideoFamily('google-veo');
  const reason = { reason: 'API_KEY_INVALID' };
  const invalid = { code: 400, status: 'INVALID_ARGUMENT', message: 'no', details: [reason] };
  assert.deepEqual(veo.readSubmit(replyOf(400, { error: invalid })), down);
  const billing = { code: 400, status: 'FAILED_PRECONDITION', message: 'enable billing' };
  assert.deepEqual(veo.readSubmit(replyOf(400, { error: billing })), down);
  const retry = { '@type': 'x/google.rpc.RetryInfo', retryDelay: '45.5s' };
  const quota = { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'no', details: [retry] };
  assert.deepEqual(veo.readSubmit(replyOf(429, { error: quota })), {
    kind: 'refused',
    fault: 'busy',
    retryAfterMs: 45_500,
  });
  const imagine = requireVideoFamily('xai-imagine');
  const code = 'Client specified an invalid argument';
  const error = 'Incorrect API key provided: xa***. You can obtain one from the console.';
  assert.deepEqual(imagine.readSubmit(replyOf(400, { code, error })), down);
  assert.deepEqual(imagine.readSubmit(replyOf(400, { error: { message: error } })), down);
  const moderated = { code, error: 'Generated video rejected by content moderation.' };
  assert.equal(imagine.readSubmit(replyOf(400, moderated)).kind, 'final');
  const videos = requireVideoFamily('openai-videos');
  const unpaid = { error: { message: 'no', type: 'insufficient_quota', code: null } };
  assert.deepEqual(videos.readSubmit(replyOf(429, unpaid)), down);
  for (const body of [{ detail: 'overloaded' }, { object: 'error', message: 'overloaded' }]) {
    assert.equal(videos.readSubmit(replyOf(503, body)).kind, 'refused');
  }
});
