// A poll of Grok Imagine. The status may be missing beside an address, a 202 may be empty, and what
// is done may still have been moderated.
import { isMembers, type Members } from '../../../transport/members.ts';
import type { Polled, VideoReply, VideoTarget } from '../contract.ts';
import { doneWith, fileAt, progressOf, readPollRefusal, unclear } from '../polling.ts';
import { failureOf, parsed } from '../vendor-error.ts';
import { errorForm, errorIn } from './failure.ts';

const pending: Polled = { kind: 'running', progress: null };
const costTicksMax = 1e15;

export function readPoll(reply: VideoReply, _upstreamId: string, target: VideoTarget): Polled {
  if (reply.status < 200 || reply.status > 299) return readPollRefusal(reply, errorForm);
  const body = parsed(reply);
  if (!isMembers(body)) return reply.status === 202 ? pending : unclear;
  const costTicks = costOf(body);
  const video = isMembers(body.video) ? body.video : {};
  const { status } = body;
  if (video.respect_moderation === false && status !== 'failed') {
    return { kind: 'failed', code: 'moderation_blocked', costTicks };
  }
  const isStated = typeof status === 'string';
  const url = video.url ?? publicUrlOf(video);
  if (status === 'done' || (!isStated && typeof url === 'string')) {
    return doneWith(fileAt(url, target, {}), body, costTicks);
  }
  const error = errorIn(body);
  if (status === 'failed' || status === 'expired' || (!isStated && error !== null)) {
    const code = error === null ? 'provider_failed' : failureOf(error);
    return { kind: 'failed', code, costTicks };
  }
  if (!isStated) return reply.status === 202 ? pending : unclear;
  return { kind: 'running', progress: progressOf(body.progress) };
}

function publicUrlOf({ file_output: file }: Members): unknown {
  return isMembers(file) ? file.public_url : undefined;
}

/** In ten-billionths of a dollar. */
function costOf({ usage }: Members): number | null {
  const ticks = isMembers(usage) ? usage.cost_in_usd_ticks : null;
  const isCost = typeof ticks === 'number' && ticks >= 0 && ticks <= costTicksMax;
  return isCost ? Math.round(ticks) : null;
}
