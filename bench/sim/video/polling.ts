// What all video families do alike with a poll: how far the job is, and the faults that polls have.
import type { SimExchange, SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';
import { sendReply } from '../generation.ts';
import type { VideoJob } from './jobs.ts';

export type JobState =
  /** `progress`: from 0 to 99; null: it is not told. */
  | { is: 'running'; progress: number | null }
  /** `hasStatus` false: nothing says that it is done but what is there. */
  | { is: 'done'; link: number; hasStatus: boolean }
  /** It says that it is done, and there is nothing. */
  | { is: 'empty' }
  | { is: 'failed' | 'moderated' | 'expired' };

/** How one family words it. */
export interface PollWording {
  refuse(status: Refusal): SimReply;
  /** Null: there is no such job. */
  show(job: VideoJob | null, state: JobState): SimReply;
}

export function servePoll(exchange: SimExchange, job: VideoJob | null, wording: PollWording): void {
  const status = exchange.outageStatus;
  if (status !== null) {
    sendReply(exchange, wording.refuse(status));
    return;
  }
  if (job === null) {
    sendReply(exchange, wording.show(null, { is: 'failed' }));
    return;
  }
  exchange.videos.notePoll(job);
  const fault = hitting(job);
  if (fault === '403' || fault === '404' || fault === '429') {
    sendReply(exchange, wording.refuse(Number(fault)));
    return;
  }
  const reply = wording.show(job, stateOf(job, fault, job.links + 1));
  const isCut = fault === 'garbage';
  sendReply(exchange, isCut ? { ...reply, body: reply.body.slice(0, -20) } : reply);
}

/** What a look that is no poll of its own sees: no fault of polls hits it. */
export function calmStateOf(job: VideoJob): JobState {
  return stateOf(job, job.directive.poll, job.links);
}

function hitting(job: VideoJob): VideoJob['directive']['poll'] {
  const { poll, times } = job.directive;
  if (poll === null || job.pollsHit >= times) return null;
  job.pollsHit += 1;
  return poll;
}

function stateOf(job: VideoJob, fault: VideoJob['directive']['poll'], link: number): JobState {
  const leftMs = job.doneAtMs - Date.now();
  const { renderMs, progress } = job.directive;
  if (leftMs > 0 || fault === 'never') {
    const share = Math.max(0, 1 - Math.max(0, leftMs) / Math.max(1, renderMs));
    return { is: 'running', progress: progress ? Math.min(99, Math.floor(share * 100)) : null };
  }
  if (fault === 'failed' || fault === 'moderated' || fault === 'expired') return { is: fault };
  if (fault === 'zero_samples') return { is: 'empty' };
  job.links = link;
  return { is: 'done', link, hasStatus: fault !== 'no_status' };
}
