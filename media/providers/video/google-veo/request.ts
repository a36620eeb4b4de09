// Submissions as POST :predictLongRunning takes them, and the poll of an operation. Durations are
// numbers, as the vendor's own client sends them.
import type { VideoSettings } from '../../../model/video.ts';
import type { Members } from '../../../transport/members.ts';
import { modelPath } from '../../generation/gemini/model.ts';
import type { VideoCall, VideoTarget } from '../contract.ts';
import { baseOf, headersOf } from '../polling.ts';

export function encodeSubmit(
  settings: VideoSettings,
  target: VideoTarget,
  jobId: string,
): VideoCall {
  const { prompt, durationSeconds, aspectRatio, resolution } = settings;
  const parameters: Members = { durationSeconds, resolution };
  if (aspectRatio !== 'adaptive') parameters.aspectRatio = aspectRatio;
  return {
    method: 'POST',
    url: `${baseOf(target)}/${modelPath(target.upstreamModel)}:predictLongRunning`,
    headers: {
      ...headersOf(credentialOf(target)),
      'content-type': 'application/json',
      'idempotency-key': jobId,
    },
    body: JSON.stringify({ instances: [{ prompt }], parameters }),
  };
}

/** The id is the name of the operation, with its slashes. */
export function encodePoll(upstreamId: string, target: VideoTarget): VideoCall {
  const path = upstreamId.split('/').map(encodeURIComponent).join('/');
  return {
    method: 'GET',
    url: `${baseOf(target)}/${path}`,
    headers: headersOf(credentialOf(target)),
    body: '',
  };
}

export function credentialOf({ apiKey }: VideoTarget): Record<string, string> {
  return apiKey === null ? {} : { 'x-goog-api-key': apiKey };
}
