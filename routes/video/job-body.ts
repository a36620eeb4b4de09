// The public form of a job, and the headers of a reply with one.
import type * as v from 'valibot';
import type { Candidate } from '../../actors/video/candidates.ts';
import { messageOf } from '../../actors/video/problems.ts';
import { isFinal, stageOf } from '../../actors/video/stage.ts';
import type { VideoJob } from '../../db/video-jobs.ts';
import { requireVideoFamily } from '../../media/providers/video/families.ts';
import type { jobSchema, videoSchema } from './schema.ts';

type JobBody = v.InferOutput<typeof jobSchema>;
type VideoBody = v.InferOutput<typeof videoSchema>;

export function videoBody(video: NonNullable<VideoJob['video']>): VideoBody {
  return {
    id: video.id,
    url: `/api/me/generated-videos/${video.id}`,
    title: video.title,
    mimeType: video.mimeType as VideoBody['mimeType'],
    model: 'svc-video',
    durationSeconds: video.durationSeconds,
    aspectRatio: video.aspectRatio,
    resolution: video.resolution as VideoBody['resolution'],
    sizeBytes: video.sizeBytes,
    sha256: video.sha256,
  };
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** The public form of a job. */
export function jobBody(job: VideoJob): JobBody {
  const { status, finalizingMs, seed: given, video, usage, errorCode, completedMs } = job;
  const isFinalizing = status === 'running' && finalizingMs !== null;
  return {
    id: job.id,
    object: 'video.generation.job',
    request_id: job.requestId,
    model: 'svc-video',
    status,
    progress: status === 'succeeded' ? 100 : job.progress,
    ...(isFinalizing ? { phase: 'finalizing' as const } : {}),
    prompt: job.prompt,
    duration_seconds: job.durationSeconds,
    aspect_ratio: job.aspectRatio as JobBody['aspect_ratio'],
    resolution: job.resolution as JobBody['resolution'],
    generate_audio: job.generateAudio,
    ...(given === null ? {} : { seed: given }),
    cancellation_supported: status === 'queued',
    ...(video === null ? {} : { video: videoBody(video) }),
    ...(usage === null ? {} : { usage: JSON.parse(usage) as NonNullable<JobBody['usage']> }),
    ...(errorCode === null ? {} : { error_code: errorCode, error_message: messageOf(errorCode) }),
    created_at: timeText(job.createdMs),
    updated_at: timeText(job.updatedMs),
    ...(completedMs === null ? {} : { completed_at: timeText(completedMs) }),
  };
}

/** Headers of a reply with one job. */
export function jobHeaders(job: VideoJob): Record<string, string> {
  const { chargeMicros } = job;
  return {
    'cache-control': 'no-store',
    ...(isFinal(job.status) ? {} : { 'retry-after': `${lookAgainSeconds(job)}` }),
    ...(chargeMicros === null ? {} : { 'x-svc-charge-microcredits': chargeMicros.toString() }),
  };
}

export const jobReplyHeaders = {
  'retry-after': 'While it is not over: seconds until a look can tell more.',
  'x-svc-charge-microcredits': 'Once it is settled: what it cost.',
};

/** What a provider makes is looked at as often as the provider is asked. */
function lookAgainSeconds(job: VideoJob): number {
  if (stageOf(job) !== 'poll') return 1;
  const candidates = JSON.parse(job.candidates) as Candidate[];
  const family = candidates[job.candidate ?? 0]?.family;
  return family === undefined ? 1 : Math.ceil(requireVideoFamily(family).pollMs / 1_000);
}
