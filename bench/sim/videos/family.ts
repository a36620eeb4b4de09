// The format of OpenAI's videos, as SGLang and vLLM-Omni serve it: POST /v1/videos, the job, the
// list, and the file below the job. The server honours idempotency keys.
import type { HttpRequest } from 'uWebSockets.js';
import { errorOfStatus, invalidRequest, refusal, wrongKey } from '../chat/failure.ts';
import type { SimExchange, SimFamily } from '../contract.ts';
import { sendReply } from '../generation.ts';
import { bearerOf } from '../key.ts';
import { serveFile } from '../video/file.ts';
import { calmStateOf, servePoll } from '../video/polling.ts';
import { serveSubmission } from '../video/submission.ts';
import { readVideosRequest } from './request.ts';
import { pageOf, videoOf } from './whole.ts';

const json = { 'content-type': 'application/json' };
const prefix = 'video_';
const pageLength = 20;
const pageLengthMax = 100;

export const videosFamily: SimFamily = {
  name: 'videos',
  keyOf: bearerOf,
  keep: (req) => ({
    id: req.getParameter(0) ?? '',
    type: req.getHeader('content-type'),
    key: req.getHeader('idempotency-key'),
    limit: req.getQuery('limit') ?? '',
    order: req.getQuery('order') ?? '',
    after: req.getQuery('after') ?? '',
  }),
  routes: [
    { method: 'post', path: '/v1/videos', reads: 'bytes', handle: submit },
    { method: 'get', path: '/v1/videos', handle: list },
    { method: 'get', path: '/v1/videos/:id', isFor: isOurs, handle: poll },
    { method: 'get', path: '/v1/videos/:id/content', handle: download },
  ],
};

function isOurs(req: HttpRequest): boolean {
  return (req.getParameter(0) ?? '').startsWith(prefix);
}

function submit(exchange: SimExchange): void {
  const { type = '', key = '' } = exchange.kept;
  const asked = exchange.keyAccepted
    ? readVideosRequest(exchange.body, type, key)
    : { error: wrongKey };
  if ('error' in asked) {
    sendReply(exchange, refusal(exchange, asked.error, 0));
    return;
  }
  const { retryAfterSeconds } = asked.directive.base;
  serveSubmission(exchange, asked, {
    honoursKeys: true,
    newId: () => prefix + exchange.id(24).toLowerCase(),
    accepted: (job) => ({
      status: 200,
      headers: json,
      body: JSON.stringify(videoOf(job, calmStateOf(job))),
    }),
    refuse: (status) => refusal(exchange, errorOfStatus(status), retryAfterSeconds),
    moderated: () => refusal(exchange, moderated, 0),
  });
}

const moderated = {
  ...invalidRequest('Your request was blocked by our moderation system.', null),
  code: 'moderation_blocked',
};
const missing = { ...invalidRequest('Video not found', null), status: 404 };

function poll(exchange: SimExchange): void {
  if (!exchange.keyAccepted) {
    sendReply(exchange, refusal(exchange, wrongKey, 0));
    return;
  }
  const job = exchange.videos.find('videos', exchange.kept.id ?? '');
  const retryAfterSeconds = job?.directive.base.retryAfterSeconds ?? 1;
  servePoll(exchange, job, {
    refuse: (status) => refusal(exchange, errorOfStatus(status), retryAfterSeconds),
    show: (shown, state) => {
      if (shown === null) return refusal(exchange, missing, 0);
      return { status: 200, headers: json, body: JSON.stringify(videoOf(shown, state)) };
    },
  });
}

function list(exchange: SimExchange): void {
  if (!exchange.keyAccepted) {
    sendReply(exchange, refusal(exchange, wrongKey, 0));
    return;
  }
  const status = exchange.outageStatus;
  if (status !== null) {
    sendReply(exchange, refusal(exchange, errorOfStatus(status), 1));
    return;
  }
  const { limit = '', order = '', after = '' } = exchange.kept;
  const newest = exchange.videos.list('videos');
  const ordered = order === 'asc' ? newest.reverse() : newest;
  const rest = ordered.slice(after === '' ? 0 : ordered.findIndex(({ id }) => id === after) + 1);
  const length = Math.min(Number(limit) || pageLength, pageLengthMax);
  exchange.reply(200, json, JSON.stringify(pageOf(rest.slice(0, length), rest.length > length)));
}

/** The address stays the same: each download counts as a link of its own. */
function download(exchange: SimExchange): void {
  const job = exchange.videos.find('videos', exchange.kept.id ?? '');
  if (!exchange.keyAccepted) sendReply(exchange, refusal(exchange, wrongKey, 0));
  else if (job === null || calmStateOf(job).is === 'running') {
    sendReply(exchange, refusal(exchange, missing, 0));
  } else serveFile(exchange, job, job.downloads + 1, refusal(exchange, missing, 0));
}
