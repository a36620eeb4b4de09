// Grok Imagine: POST /v1/videos/generations, GET /v1/videos/{request_id}, and temporary addresses
// of files, which need no key.
import type { HttpRequest } from 'uWebSockets.js';
import type { SimExchange, SimFamily } from '../contract.ts';
import { sendReply } from '../generation.ts';
import { bearerOf } from '../key.ts';
import { unknownMembers } from '../unknown.ts';
import { serveFile } from '../video/file.ts';
import type { VideoJob } from '../video/jobs.ts';
import { type JobState, servePoll } from '../video/polling.ts';
import { serveSubmission } from '../video/submission.ts';
import { errorOfStatus, errorReply, moderated, wrongKey } from './failure.ts';
import { readImagineRequest } from './request.ts';

const json = { 'content-type': 'application/json' };
const ticksPerSecond = 500_000_000;
const bucket = 'xai-vidgen-bucket';

export const imagineFamily: SimFamily = {
  name: 'imagine',
  keyOf: bearerOf,
  keep: (req) => ({
    id: req.getParameter(0) ?? '',
    host: req.getHeader('host'),
    key: req.getHeader('idempotency-key'),
  }),
  routes: [
    { method: 'post', path: '/v1/videos/generations', handle: submit },
    { method: 'get', path: '/v1/videos/:id', isFor: isOurs, handle: poll },
    { method: 'get', path: `/${bucket}/:file`, handle: download },
  ],
};

/** Another format has the same path; its ids begin with a word. */
function isOurs(req: HttpRequest): boolean {
  return !(req.getParameter(0) ?? '').startsWith('video_');
}

function submit(exchange: SimExchange): void {
  const asked = exchange.keyAccepted
    ? readImagineRequest(exchange.body, exchange.kept.key ?? '')
    : { error: wrongKey };
  if ('error' in asked) {
    sendReply(exchange, errorReply(asked.error, 0));
    return;
  }
  const { retryAfterSeconds } = asked.directive.base;
  serveSubmission(exchange, asked, {
    honoursKeys: false,
    newId: () => uuidOf(exchange),
    accepted: ({ id }) => ({
      status: 200,
      headers: json,
      body: JSON.stringify({ request_id: id }),
    }),
    refuse: (status) => errorReply(errorOfStatus(status), retryAfterSeconds),
    moderated: () => errorReply(moderated, 0),
  });
}

/** In the form of one: its last half is the number of the request. */
function uuidOf(exchange: SimExchange): string {
  const hex = Buffer.from(exchange.id(16)).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function poll(exchange: SimExchange): void {
  if (!exchange.keyAccepted) {
    sendReply(exchange, errorReply(wrongKey, 0));
    return;
  }
  const { id = '', host = '' } = exchange.kept;
  const job = exchange.videos.find('imagine', id);
  const retryAfterSeconds = job?.directive.base.retryAfterSeconds ?? 1;
  servePoll(exchange, job, {
    refuse: (status) => errorReply(errorOfStatus(status), retryAfterSeconds),
    show: (shown, state) => {
      if (shown === null) return errorReply(errorOfStatus(404), 0);
      const more = shown.directive.base.unknown ? unknownMembers : {};
      const body = JSON.stringify({ ...bodyOf(shown, state, host), ...more });
      return { status: state.is === 'running' ? 202 : 200, headers: json, body };
    },
  });
}

function bodyOf(job: VideoJob, state: JobState, host: string): object {
  const { model, clip, directive } = job;
  const ticks = directive.priceTicks ?? clip.seconds * ticksPerSecond;
  const usage = { cost_in_usd_ticks: ticks };
  switch (state.is) {
    case 'running': {
      const told = state.progress === null ? {} : { progress: state.progress };
      return { status: 'pending', ...told };
    }
    case 'failed': {
      const error = { code: 'internal_error', message: 'Video generation failed.' };
      return { status: 'failed', error, model };
    }
    case 'expired':
      return { status: 'expired' };
    case 'moderated': {
      const video = { url: '', duration: clip.seconds, respect_moderation: false };
      return { status: 'done', video, model, usage, progress: 100 };
    }
    case 'empty':
      return { status: 'done', video: {}, model, usage, progress: 100 };
    case 'done': {
      const url = `http://${host}/${bucket}/${job.id}.${state.link}.mp4`;
      const video = { url, duration: clip.seconds, respect_moderation: true };
      const status = state.hasStatus ? { status: 'done', progress: 100 } : {};
      return { ...status, video, model, usage };
    }
  }
}

function download(exchange: SimExchange): void {
  const [, id = '', link = ''] = /^([0-9a-f-]+)\.(\d+)\.mp4$/.exec(exchange.kept.id ?? '') ?? [];
  const job = exchange.videos.find('imagine', id);
  const headers = { 'content-type': 'application/xml' };
  const gone = { status: 403, headers, body: '<Error><Code>AccessDenied</Code></Error>' };
  if (job === null) sendReply(exchange, gone);
  else serveFile(exchange, job, Number(link), gone);
}
