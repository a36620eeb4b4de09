// A job and a page of jobs as the format writes them. Times are whole seconds.
import { unknownMembers } from '../unknown.ts';
import type { VideoJob } from '../video/jobs.ts';
import { calmStateOf, type JobState } from '../video/polling.ts';

const expiresAfterSeconds = 3_600;

export function videoOf(job: VideoJob, state: JobState): object {
  const { id, model, prompt, clip, directive } = job;
  const isOver = state.is !== 'running';
  const isMade = state.is === 'done' || state.is === 'empty';
  const doneAt = Math.floor(job.doneAtMs / 1_000);
  const progress = state.is === 'running' ? state.progress : isMade ? 100 : 0;
  return {
    id,
    object: 'video',
    model,
    ...(state.is === 'done' && !state.hasStatus ? {} : { status: statusOf(job, state) }),
    ...(progress === null ? {} : { progress }),
    prompt,
    seconds: String(clip.seconds),
    size: `${clip.width}x${clip.height}`,
    created_at: Math.floor(job.acceptedAtMs / 1_000),
    completed_at: isMade ? doneAt : null,
    expires_at: isOver ? doneAt + expiresAfterSeconds : null,
    remixed_from_video_id: null,
    error: errorOf(state),
    ...(directive.base.unknown ? unknownMembers : {}),
  };
}

export function pageOf(jobs: readonly VideoJob[], hasMore: boolean): object {
  return {
    object: 'list',
    data: jobs.map((job) => videoOf(job, calmStateOf(job))),
    first_id: jobs[0]?.id ?? null,
    last_id: jobs.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

function statusOf({ acceptedAtMs }: VideoJob, state: JobState): string {
  if (state.is === 'done' || state.is === 'empty') return 'completed';
  if (state.is !== 'running') return 'failed';
  return Date.now() - acceptedAtMs < 50 ? 'queued' : 'in_progress';
}

function errorOf({ is }: JobState): { code: string; message: string } | null {
  switch (is) {
    case 'failed':
      return { code: 'video_generation_failed', message: 'The video could not be made.' };
    case 'moderated':
      return { code: 'moderation_blocked', message: 'The video was blocked by moderation.' };
    case 'expired':
      return { code: 'expired', message: 'The job has expired.' };
    default:
      return null;
  }
}
