// The jobs of one simulator and everything that was asked about them: the proof that nothing was
// submitted twice. A reset forgets what was asked; the jobs themselves go on.
import type { ClipSpec } from './clip.ts';
import type { VideoDirective } from './directive.ts';

export type VideoFamilyName = 'veo' | 'imagine' | 'videos';

/** A submission that was read. */
export interface VideoAsked {
  family: VideoFamilyName;
  model: string;
  prompt: string;
  clip: ClipSpec;
  directive: VideoDirective;
  /** The header of the client; empty without one. */
  idempotencyKey: string;
}

export interface VideoJob extends VideoAsked {
  id: string;
  acceptedAtMs: number;
  doneAtMs: number;
  /** How often its poll fault has hit. */
  pollsHit: number;
  /** Links that polls have told, from 1. */
  links: number;
  /** Downloads that were asked for. */
  downloads: number;
}

interface Submission {
  asked: VideoAsked;
  atMs: number;
  outcome: 'accepted' | 'repeated' | 'refused' | 'cut';
  job: VideoJob | null;
  polls: { count: number; firstAtMs: number; lastAtMs: number } | null;
  downloads: { atMs: number; link: number }[];
}

const submissionsMax = 50_000;
const downloadsMax = 100;

export class VideoJobs {
  #submissions: Submission[] = [];
  /** Where the polls of a job are noted. */
  readonly #noted = new Map<VideoJob, Submission>();
  readonly #jobs = new Map<string, VideoJob>();
  readonly #byKey = new Map<string, VideoJob>();
  /** How often the fault of a prompt has hit its submissions. */
  readonly #hits = new Map<string, number>();

  /** Whether the submission's fault hits this one of its prompt. */
  hitsSubmission({ prompt, directive }: VideoAsked): boolean {
    if (directive.times === Number.POSITIVE_INFINITY) return true;
    const hits = (this.#hits.get(prompt) ?? 0) + 1;
    if (hits > directive.times) return false;
    this.#hits.set(prompt, hits);
    trim(this.#hits);
    return true;
  }

  /** The job of this family that was made under the same key; null: none. */
  underKey({ family, idempotencyKey }: VideoAsked): VideoJob | null {
    return this.#byKey.get(`${family} ${idempotencyKey}`) ?? null;
  }

  accept(asked: VideoAsked, id: string): VideoJob {
    const acceptedAtMs = Date.now();
    const doneAtMs = acceptedAtMs + asked.directive.renderMs;
    const job = { ...asked, id, acceptedAtMs, doneAtMs, pollsHit: 0, links: 0, downloads: 0 };
    this.#jobs.set(id, job);
    trim(this.#jobs);
    if (asked.idempotencyKey !== '') {
      this.#byKey.set(`${asked.family} ${asked.idempotencyKey}`, job);
      trim(this.#byKey);
    }
    return job;
  }

  note(asked: VideoAsked, outcome: Submission['outcome'], job: VideoJob | null): void {
    const atMs = Date.now();
    const submission: Submission = { asked, atMs, outcome, job, polls: null, downloads: [] };
    this.#submissions.push(submission);
    if (job !== null && outcome !== 'repeated') this.#noted.set(job, submission);
    if (this.#submissions.length <= submissionsMax) return;
    const [oldest] = this.#submissions.splice(0, 1);
    if (oldest?.job) this.#noted.delete(oldest.job);
  }

  notePoll(job: VideoJob): void {
    const submission = this.#noted.get(job);
    if (submission === undefined) return;
    const atMs = Date.now();
    submission.polls ??= { count: 0, firstAtMs: atMs, lastAtMs: atMs };
    submission.polls.count += 1;
    submission.polls.lastAtMs = atMs;
  }

  noteDownload(job: VideoJob, link: number): void {
    job.downloads += 1;
    const downloads = this.#noted.get(job)?.downloads;
    if (downloads !== undefined && downloads.length < downloadsMax) {
      downloads.push({ atMs: Date.now(), link });
    }
  }

  find(family: VideoFamilyName, id: string): VideoJob | null {
    const job = this.#jobs.get(id);
    return job?.family === family ? job : null;
  }

  /** The newest first. */
  list(family: VideoFamilyName): VideoJob[] {
    return [...this.#jobs.values()].filter((job) => job.family === family).reverse();
  }

  view(): object {
    return {
      submissions: this.#submissions.map(({ asked, atMs, outcome, job, polls, downloads }) => ({
        family: asked.family,
        model: asked.model,
        prompt: asked.prompt,
        idempotency_key: asked.idempotencyKey === '' ? null : asked.idempotencyKey,
        at_ms: atMs,
        outcome,
        upstream_id: job?.id ?? null,
        done_at_ms: job?.doneAtMs ?? null,
        clip: asked.clip,
        polls: polls === null ? null : told(polls),
        downloads: downloads.map(({ atMs: downloadedAtMs, link }) => ({
          at_ms: downloadedAtMs,
          link,
        })),
      })),
    };
  }

  reset(): void {
    this.#submissions = [];
    this.#noted.clear();
    this.#hits.clear();
  }
}

function told({ count, firstAtMs, lastAtMs }: NonNullable<Submission['polls']>): object {
  return { count, first_at_ms: firstAtMs, last_at_ms: lastAtMs };
}

/** The oldest goes. */
function trim(map: Map<string, unknown>): void {
  if (map.size <= submissionsMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
