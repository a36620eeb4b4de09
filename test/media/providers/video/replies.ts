// Targets, settings and replies for tests of the families of video providers.
import type { VideoSettings } from '../../../../media/model/video.ts';
import type { VideoReply, VideoTarget } from '../../../../media/providers/video/contract.ts';

export const settings: VideoSettings = {
  prompt: 'a "fox" in the snow\nat dusk, ü',
  durationSeconds: 8,
  aspectRatio: '16:9',
  resolution: '720p',
  generateAudio: true,
  seed: 4_294_967_295,
};

export function targetOf(family: string, baseUrl = 'https://api.example.com/v1'): VideoTarget {
  return {
    routeId: 'one/model',
    family,
    baseUrl,
    apiKey: 'secret',
    upstreamModel: 'upstream-model',
    mediaHosts: [],
    jobsMax: 10,
    idempotency: 'none',
  };
}

export function replyOf(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): VideoReply {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}
