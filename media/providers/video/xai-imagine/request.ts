// Submissions as POST {base}/videos/generations takes them, and polls. The format has no seed.
// Sound is made unless it is switched off.
import type { VideoSettings } from '../../../model/video.ts';
import type { Members } from '../../../transport/members.ts';
import type { VideoCall, VideoTarget } from '../contract.ts';
import { baseOf, headersOf } from '../polling.ts';

export function encodeSubmit(
  settings: VideoSettings,
  target: VideoTarget,
  jobId: string,
): VideoCall {
  const { prompt, durationSeconds: duration, aspectRatio, resolution, generateAudio } = settings;
  const body: Members = { model: target.upstreamModel, prompt, duration, resolution };
  if (aspectRatio !== 'adaptive') body.aspect_ratio = aspectRatio;
  if (!generateAudio) body.generate_audio = false;
  return {
    method: 'POST',
    url: `${baseOf(target)}/videos/generations`,
    headers: {
      ...headersOf(credentialOf(target)),
      'content-type': 'application/json',
      'idempotency-key': jobId,
    },
    body: JSON.stringify(body),
  };
}

export function encodePoll(upstreamId: string, target: VideoTarget): VideoCall {
  return {
    method: 'GET',
    url: `${baseOf(target)}/videos/${encodeURIComponent(upstreamId)}`,
    headers: headersOf(credentialOf(target)),
    body: '',
  };
}

function credentialOf({ apiKey }: VideoTarget): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}
