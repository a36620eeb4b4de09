// The file of a job that is done, with the faults that files have. `link` is the number of the
// address that a poll told.
import type { SimExchange, SimReply } from '../contract.ts';
import { sendReply } from '../generation.ts';
import { pouredBytes } from '../pourer.ts';
import { type ClipSpec, clipOf } from './clip.ts';
import type { VideoJob } from './jobs.ts';

const hugeBytes = 300 * 1_024 * 1_024;
const filler = Buffer.alloc(64 * 1_024);
const page = '<!doctype html><title>Sign in</title><p>This video needs an account.</p>\n';

/** `gone`: what an address that has expired is answered with. */
export function serveFile(
  exchange: SimExchange,
  job: VideoJob,
  link: number,
  gone: SimReply,
): void {
  exchange.videos.noteDownload(job, link);
  const { file, redirect, times } = job.directive;
  if (job.directive.poll === 'zero_samples' || (file === 'expired_link' && link <= times)) {
    sendReply(exchange, gone);
    return;
  }
  if (redirect !== null) {
    exchange.reply(302, { location: redirect }, '');
    return;
  }
  if (file === 'html') {
    exchange.reply(200, { 'content-type': 'text/html; charset=utf-8' }, page);
    return;
  }
  void clipOf(clipFor(job)).then((bytes) => {
    if (bytes === null) exchange.reply(500, {}, 'ffmpeg failed');
    else pour(exchange, job, bytes);
  });
}

/** What it was to be, or what a fault makes of it. */
function clipFor({ clip, directive }: VideoJob): ClipSpec {
  switch (directive.file) {
    case 'wrong_length':
      return { ...clip, seconds: Math.max(1, Math.floor(clip.seconds / 2)) };
    case 'wrong_size':
      return { ...clip, width: half(clip.width), height: half(clip.height) };
    case 'no_audio':
      return { ...clip, sound: false };
    default:
      return clip;
  }
}

function half(pixels: number): number {
  return Math.round(pixels / 4) * 2;
}

function pour(exchange: SimExchange, { directive }: VideoJob, bytes: Buffer): void {
  const headers = { 'content-type': 'video/mp4' };
  const whole = { status: 200, headers, ...pouredBytes(bytes) };
  const cutAt = bytes.length >> 1;
  switch (directive.file) {
    case 'slow':
      exchange.pour({ ...whole, kbps: directive.kbps });
      return;
    case 'cut':
      exchange.pour({ ...whole, ...pouredBytes(bytes.subarray(0, cutAt)), length: bytes.length });
      return;
    case 'truncated':
      exchange.pour({ ...whole, ...pouredBytes(bytes.subarray(0, cutAt)) });
      return;
    case 'huge':
      exchange.pour({
        ...whole,
        length: hugeBytes,
        piece: (offset) =>
          offset < bytes.length ? bytes.subarray(offset) : filler.subarray(0, hugeBytes - offset),
      });
      return;
    default:
      exchange.pour(whole);
  }
}
