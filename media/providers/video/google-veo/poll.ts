// The operation of a Veo job. One that is done without samples was moderated: no error says so.
import { isMembers, type Members } from '../../../transport/members.ts';
import type { Polled, VideoReply, VideoTarget } from '../contract.ts';
import { doneWith, fileAt, readPollRefusal, unclear } from '../polling.ts';
import { failureOf, parsed } from '../vendor-error.ts';
import { errorForm, vendorError } from './failure.ts';
import { credentialOf } from './request.ts';

export function readPoll(reply: VideoReply, upstreamId: string, target: VideoTarget): Polled {
  if (reply.status < 200 || reply.status > 299) return readPollRefusal(reply, errorForm);
  const operation = parsed(reply);
  if (!isMembers(operation) || operation.name !== upstreamId) return unclear;
  if (operation.done !== true) return { kind: 'running', progress: null };
  const { error } = operation;
  if (isMembers(error)) {
    return { kind: 'failed', code: failureOf(vendorError(error)), costTicks: null };
  }
  const samples = samplesOf(operation);
  if (samples.length === 0) return { kind: 'failed', code: 'moderation_blocked', costTicks: null };
  const file = samples.map((sample) => fileOf(sample, target)).find((found) => found !== null);
  return doneWith(file ?? null, operation, null);
}

function samplesOf({ response }: Members): Members[] {
  const made = isMembers(response) ? response.generateVideoResponse : null;
  const samples = isMembers(made) ? made.generatedSamples : null;
  return Array.isArray(samples) ? samples.filter(isMembers) : [];
}

/** A video inside the reply (`encodedVideo`) would be longer than what is read of one. */
function fileOf({ video }: Members, target: VideoTarget) {
  if (!isMembers(video) || typeof video.uri !== 'string' || !URL.canParse(video.uri)) return null;
  const url = new URL(video.uri);
  url.searchParams.set('alt', 'media');
  return fileAt(url.href, target, credentialOf(target));
}
