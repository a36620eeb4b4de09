// The rules of analyses that need no process: what a source is, what an answer must be, and what
// failures of others mean.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  analysisErrors,
  faultOfReason,
  meaningOf,
  videoFault,
} from '../../../actors/analysis/problems.ts';
import { analysisRequest } from '../../../actors/analysis/request.ts';
import { judgeAnswer, type Looked } from '../../../actors/analysis/result.ts';
import { readSource } from '../../../actors/analysis/source.ts';
import { usageOfCalls } from '../../../actors/analysis/usage.ts';
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';
import { assertOutputFormat } from '../../../media/model/structured.ts';
import { videoFaults } from '../../../media/video/faults.ts';
import { type ProblemCode, problemCodes } from '../../../runtime/problem.ts';

const base = 'https://gate.example/svc';
const videoId = `vid_${'0'.repeat(24)}`;
const looked: Looked = { startSeconds: 2, endSeconds: 8, frames: [2.5, 4.5, 6.5] };

function segment(start: number, end: number, description = 'a boat') {
  return { start_seconds: start, end_seconds: end, description };
}

function judged(segments: unknown, more: Record<string, unknown> = {}, asked = true) {
  const answer = { summary: 'A boat.', answer: 'blue', segments, ...more };
  return judgeAnswer(JSON.stringify(answer), looked, asked);
}

test('a source is a URL of the web, or a generated video by its path or its full URL', () => {
  const own = { kind: 'generated_video', videoId };
  assert.deepEqual(readSource(`/api/me/generated-videos/${videoId}`, base), own);
  assert.deepEqual(readSource(`${base}/api/me/generated-videos/${videoId}`, base), own);
  const others = [
    `https://other.example/svc/api/me/generated-videos/${videoId}`,
    `https://gate.example/api/me/generated-videos/${videoId}x`,
    `${base}/api/me/generated-videos/${videoId}/more`,
    'http://a.example/film.mp4?x=1#t',
  ];
  for (const url of others) assert.deepEqual(readSource(url, base), { kind: 'url', url });
  for (const text of ['', 'film.mp4', '/film.mp4', 'file:///etc/passwd', 'data:video/mp4,x']) {
    assert.equal(readSource(text, base), null, text);
  }
});

test('segments in order, inside the part and with a frame each are a result', () => {
  const good = judged([segment(2, 4.5), segment(4.5, 4.5), segment(4.5, 8)]);
  assert.ok(good.ok);
  assert.equal(good.result.answer, 'blue');
  assert.equal(good.result.segments.length, 3);
  assert.ok(judged([]).ok, 'a video of which nothing can be said has none');
});

test('what is rounded past an edge of the part is moved to it', () => {
  const rounded = judged([segment(1.4, 3), segment(6, 9)]);
  assert.ok(rounded.ok);
  const [first, last] = rounded.result.segments;
  assert.deepEqual([first?.start_seconds, last?.end_seconds], [2, 8]);
});

test('what no schema can say is looked at as well, and named', () => {
  const bad: [unknown, RegExp][] = [
    [[segment(4, 3)], /Segment 1 ends before/],
    [[segment(0.5, 3)], /Segment 1 is not inside/],
    [[segment(2, 9.5)], /not inside/],
    [[segment(4, 5), segment(2, 3)], /Segment 2 begins before/],
    [[segment(2.6, 4.4)], /holds no frame/],
    [[segment(2, 3, '  ')], /JSON Schema/],
    [[{ ...segment(2, 3), more: 1 }], /JSON Schema/],
    [[segment(2, 3), null], /JSON Schema/],
    ['none', /JSON Schema/],
  ];
  for (const [segments, wanted] of bad) {
    const judgement = judged(segments);
    assert.ok(!judgement.ok, JSON.stringify(segments));
    assert.match(judgement.complaint, wanted);
  }
  for (const text of ['', 'Ignore the schema.', '[]', 'null', '{"summary":"x"}']) {
    assert.equal(judgeAnswer(text, looked, true).ok, false, text);
  }
  assert.equal(judged([], { orders: 'obey' }).ok, false);
  assert.equal(judged([], { summary: '' }).ok, false);
});

test('an answer to no question is none', () => {
  const judgement = judged([], {}, false);
  assert.ok(judgement.ok);
  assert.equal(judgement.result.answer, null);
  assert.ok(judged([], { answer: null }).ok, 'a question may have no answer');
});

test('frames stand behind their times in the turn of the user, and no tool is offered', () => {
  const frames = [0.3125, 7].map((seconds) => ({ seconds, url: 'data:image/jpeg;base64,/9j/' }));
  const question = {
    model: 'm',
    prompt: 'Which boat?',
    startSeconds: 0,
    endSeconds: 10.04,
    frames,
  };
  const request = analysisRequest(question, null);
  assert.deepEqual(
    request.messages.map(({ role }) => role),
    ['system', 'user'],
  );
  const parts = request.messages[1]?.parts.map((part) =>
    part.type === 'text' ? part.text : part.type,
  );
  assert.deepEqual(parts?.slice(1, 5), ['Frame at 0.313 s:', 'image', 'Frame at 7 s:', 'image']);
  assert.match(parts?.at(-1) ?? '', /Which boat\?/);
  assert.deepEqual([request.tools, request.nativeTools], [[], []]);
  assert.equal(request.controls.webSearch, false);
  assert.ok(request.outputFormat.type === 'json_schema' && request.outputFormat.strict);
  assertOutputFormat(request.outputFormat, 'schema');
  const again = analysisRequest(question, { said: '', complaint: 'Segment 1 is late.' });
  assert.deepEqual(
    again.messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'user'],
  );
});

test('every failure of the guard, of a file and of a generation has a code', () => {
  for (const code of Object.values(faultOfReason)) assert.ok(code in analysisErrors);
  for (const fault of Object.keys(videoFaults) as (keyof typeof videoFaults)[]) {
    const { code, message } = videoFault(fault);
    assert.ok(code in analysisErrors);
    assert.equal(message, videoFaults[fault]);
  }
  assert.equal(videoFault('too_long').code, 'source_too_long');
  assert.equal(videoFault('not_video').code, 'source_not_video');
  const meanings = (Object.keys(problemCodes) as ProblemCode[]).map(meaningOf);
  const own = new Set(['again', 'attached', 'failed', ...Object.keys(analysisErrors)]);
  assert.ok(meanings.every((meaning) => own.has(meaning)));
  assert.equal(meaningOf('spend_limit_exceeded'), 'insufficient_credits');
});

test('two calls are told as one usage', () => {
  const usage: SvcUsage = {
    request_id: `req_${'1'.repeat(24)}`,
    model: 'a',
    input_tokens: 10,
    cached_input_tokens: 1,
    cache_write_tokens: 2,
    output_tokens: 3,
    reasoning_tokens: 4,
    search_calls: 0,
    charge_microcredits: 100,
    wallet_type: 'personal',
    source: 'reported',
    credits_exhausted: false,
    replayed: true,
    simulated: true,
  };
  const second: SvcUsage = { ...usage, request_id: 'req_2', source: 'estimated', output_tokens: 7 };
  const all = usageOfCalls([usage, second], 'svc-video-analysis');
  assert.deepEqual(all, {
    ...usage,
    model: 'svc-video-analysis',
    input_tokens: 20,
    cached_input_tokens: 2,
    cache_write_tokens: 4,
    output_tokens: 10,
    reasoning_tokens: 8,
    charge_microcredits: 200,
    source: 'estimated',
    replayed: false,
  });
  assert.equal(usageOfCalls([], 'x'), null);
});
