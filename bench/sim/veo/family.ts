// Veo of the Gemini developer API: POST /v1beta/models/{model}:predictLongRunning, the operation,
// and the file, which needs the key.
import type { HttpRequest } from 'uWebSockets.js';
import type { SimExchange, SimFamily } from '../contract.ts';
import { errorOfStatus, errorReply, invalidArgument, wrongKey } from '../gemini/failure.ts';
import { sendReply } from '../generation.ts';
import { unknownMembers } from '../unknown.ts';
import { serveFile } from '../video/file.ts';
import type { VideoJob } from '../video/jobs.ts';
import { type JobState, servePoll } from '../video/polling.ts';
import { serveSubmission } from '../video/submission.ts';
import { readVeoRequest } from './request.ts';

const json = { 'content-type': 'application/json; charset=UTF-8' };
const method = ':predictLongRunning';
const idLength = 16;
const linkLength = 4;
const reason =
  "Sorry, we can't create videos with content that violates Google's Responsible AI practices.";

export const veoFamily: SimFamily = {
  name: 'veo',
  keyOf: (req) => req.getHeader('x-goog-api-key') || (req.getQuery('key') ?? ''),
  keep: (req) => ({
    call: callOf(req),
    id: req.getParameter(1) ?? '',
    host: req.getHeader('host'),
    key: req.getHeader('idempotency-key'),
  }),
  routes: [
    {
      method: 'post',
      path: '/v1beta/models/:call',
      isFor: (req) => callOf(req).endsWith(method),
      handle: submit,
    },
    { method: 'get', path: '/v1beta/models/:model/operations/:id', handle: poll },
    { method: 'get', path: '/v1beta/files/:file', handle: download },
  ],
};

/** Clients may write the colon as `%3A`. */
function callOf(req: HttpRequest): string {
  const written = req.getParameter(0) ?? '';
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

function submit(exchange: SimExchange): void {
  const { call = '', key = '' } = exchange.kept;
  const asked = exchange.keyAccepted
    ? readVeoRequest(exchange.body, call.slice(0, -method.length), key)
    : { error: wrongKey };
  if ('error' in asked) {
    sendReply(exchange, errorReply(asked.error, 0));
    return;
  }
  const { retryAfterSeconds } = asked.directive.base;
  serveSubmission(exchange, asked, {
    honoursKeys: false,
    newId: () => exchange.id(idLength).toLowerCase(),
    accepted: (job) => ({
      status: 200,
      headers: json,
      body: JSON.stringify({ name: nameOf(job) }),
    }),
    refuse: (status) => errorReply(errorOfStatus(status, retryAfterSeconds), retryAfterSeconds),
    moderated: () => errorReply(invalidArgument(reason), 0),
  });
}

function nameOf({ model, id }: VideoJob): string {
  return `models/${model}/operations/${id}`;
}

function poll(exchange: SimExchange): void {
  if (!exchange.keyAccepted) {
    sendReply(exchange, errorReply(wrongKey, 0));
    return;
  }
  const { call, id = '', host = '' } = exchange.kept;
  const found = exchange.videos.find('veo', id);
  const job = found?.model === call ? found : null;
  const seconds = job?.directive.base.retryAfterSeconds ?? 1;
  servePoll(exchange, job, {
    refuse: (status) => errorReply(errorOfStatus(status, seconds), seconds),
    show: (shown, state) => {
      if (shown === null) return errorReply(errorOfStatus(404, 0), 0);
      const more = shown.directive.base.unknown ? unknownMembers : {};
      const operation = { name: nameOf(shown), ...operationOf(shown, state, host), ...more };
      return { status: 200, headers: json, body: JSON.stringify(operation) };
    },
  });
}

function operationOf(job: VideoJob, state: JobState, host: string): object {
  const type = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';
  const response = (made: object) => ({ '@type': type, generateVideoResponse: made });
  switch (state.is) {
    case 'running':
      return {};
    case 'failed':
      return { done: true, error: { code: 13, message: 'Video generation failed: internal.' } };
    case 'expired':
      return { done: true, error: { code: 4, message: 'The operation ran out of time.' } };
    case 'moderated': {
      const made = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: [reason] };
      return { done: true, response: response(made) };
    }
    case 'empty':
      return { done: true, response: response({ generatedSamples: [] }) };
    case 'done': {
      const file = job.id + state.link.toString(36).padStart(linkLength, '0');
      const uri = `http://${host}/v1beta/files/${file}:download?alt=media`;
      const made = response({ generatedSamples: [{ video: { uri } }] });
      return state.hasStatus ? { done: true, response: made } : { response: made };
    }
  }
}

function download(exchange: SimExchange): void {
  const { call = '' } = exchange.kept;
  const [, file = ''] = /^([a-z0-9]+):download$/.exec(call) ?? [];
  const job = exchange.videos.find('veo', file.slice(0, idLength));
  const missing = errorReply(errorOfStatus(404, 0), 0);
  if (!exchange.keyAccepted) sendReply(exchange, errorReply(errorOfStatus(403, 0), 0));
  else if (job === null) sendReply(exchange, missing);
  else serveFile(exchange, job, Number.parseInt(file.slice(idLength), 36), missing);
}
