// Submissions as POST {base}/videos takes them (multipart, RFC 7578), polls, the file's address.
// `seed` and `generate_sound` are members of the servers that speak the format today.
import { randomUUID } from 'node:crypto';
import type { VideoSettings } from '../../../model/video.ts';
import type { VideoCall, VideoTarget } from '../contract.ts';
import { baseOf, headersOf } from '../polling.ts';
import { sizeOf } from './size.ts';

export function encodeSubmit(
  settings: VideoSettings,
  target: VideoTarget,
  jobId: string,
): VideoCall {
  const { prompt, durationSeconds, seed, generateAudio } = settings;
  const size = sizeOf(settings);
  const fields = [
    ['model', target.upstreamModel],
    ['prompt', prompt],
    ['seconds', String(durationSeconds)],
    ...(size === null ? [] : [['size', size]]),
    ...(seed === null ? [] : [['seed', String(seed)]]),
    // They make none unless they are asked to.
    ...(generateAudio ? [['generate_sound', 'true']] : []),
  ];
  const boundary = `tollgate-${randomUUID()}`;
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return {
    method: 'POST',
    url: `${baseOf(target)}/videos`,
    headers: {
      ...headersOf(credentialOf(target)),
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'idempotency-key': jobId,
    },
    body: `${parts.join('')}--${boundary}--\r\n`,
  };
}

export function encodePoll(upstreamId: string, target: VideoTarget): VideoCall {
  return {
    method: 'GET',
    url: addressOf(upstreamId, target),
    headers: headersOf(credentialOf(target)),
    body: '',
  };
}

/** The address of a job; its file is below it. */
export function addressOf(upstreamId: string, target: VideoTarget): string {
  return `${baseOf(target)}/videos/${encodeURIComponent(upstreamId)}`;
}

export function credentialOf({ apiKey }: VideoTarget): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}
