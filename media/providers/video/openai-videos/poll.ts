// A job as GET {base}/videos/{id} shows it. The file lies below the same address and needs the key.
import { isMembers } from '../../../transport/members.ts';
import type { Polled, VideoReply, VideoTarget } from '../contract.ts';
import { doneWith, fileAt, progressOf, readPollRefusal, unclear } from '../polling.ts';
import { failureOf, parsed } from '../vendor-error.ts';
import { errorForm, vendorError } from './failure.ts';
import { addressOf, credentialOf } from './request.ts';

const ended: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired', 'deleted']);

export function readPoll(reply: VideoReply, upstreamId: string, target: VideoTarget): Polled {
  if (reply.status < 200 || reply.status > 299) return readPollRefusal(reply, errorForm);
  const video = parsed(reply);
  if (!isMembers(video) || video.id !== upstreamId) return unclear;
  const { status, error } = video;
  if (typeof status !== 'string') return unclear;
  if (status === 'completed') {
    const url = `${addressOf(upstreamId, target)}/content`;
    return doneWith(fileAt(url, target, credentialOf(target)), video, null);
  }
  if (!ended.has(status)) return { kind: 'running', progress: progressOf(video.progress) };
  const code = isMembers(error) ? failureOf(vendorError(error)) : 'provider_failed';
  return { kind: 'failed', code, costTicks: null };
}
