// Video jobs and videos as clients see them (specification 2.4).
import * as v from 'valibot';
import { videoRatios, videoResolutions } from '../../media/model/video.ts';

export const jobId = v.pipe(v.string(), v.regex(/^vjob_[a-f0-9]{24}$/));
export const videoId = v.pipe(v.string(), v.regex(/^vid_[a-f0-9]{24}$/));
export const requestIdPattern = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,159}$/;
export const requestIdWords = 'expected letters, digits and . _ : / - (at most 160)';

export const statuses = [
  'queued',
  'submitting',
  'running',
  'succeeded',
  'failed',
  'cancelled',
] as const;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const seconds = v.pipe(v.number(), v.integer(), v.minValue(4), v.maxValue(30));
const seed = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(4_294_967_295));
const time = v.pipe(v.string(), v.isoTimestamp());

export const settingsEntries = { seconds, seed };

export const videoSchema = v.strictObject({
  id: videoId,
  url: v.pipe(v.string(), v.regex(/^\/api\/me\/generated-videos\/vid_[a-f0-9]{24}$/)),
  title: v.string(),
  mimeType: v.picklist(['video/mp4', 'video/quicktime']),
  model: v.literal('svc-video'),
  durationSeconds: seconds,
  aspectRatio: v.string(),
  resolution: v.picklist(videoResolutions),
  sizeBytes: v.pipe(v.number(), v.integer(), v.minValue(1)),
  sha256: v.pipe(v.string(), v.regex(/^[a-f0-9]{64}$/)),
});

export const jobSchema = v.strictObject({
  id: jobId,
  object: v.literal('video.generation.job'),
  request_id: v.string(),
  model: v.literal('svc-video'),
  status: v.picklist(statuses),
  progress: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  phase: v.optional(v.literal('finalizing')),
  prompt: v.string(),
  duration_seconds: seconds,
  aspect_ratio: v.picklist(videoRatios),
  resolution: v.picklist(videoResolutions),
  generate_audio: v.boolean(),
  seed: v.optional(seed),
  cancellation_supported: v.boolean(),
  video: v.optional(videoSchema),
  usage: v.optional(v.strictObject({ completion_tokens: count, total_tokens: count })),
  error_code: v.optional(v.string()),
  error_message: v.optional(v.string()),
  created_at: time,
  updated_at: time,
  completed_at: v.optional(time),
});

export const jobReplySchema = v.strictObject({ ok: v.literal(true), job: jobSchema });
