// The jobs of the account, newest first, and the looks at those that are not over. A look follows
// the Retry-After of the one before.
import { type Account, CallProblem, Once } from './account.ts';
import { isOver, type Job } from './wire.ts';

const PATH = '/v1/video/generations';
const PAGE = 10;
/** A look that failed is repeated, ever more slowly. */
const RETRY_SECONDS = 2;
const RETRY_SECONDS_MAX = 30;
/** Jobs that are looked at together slow each other down: a key has a rate. */
const JOBS_AT_FULL_RATE = 5;

export interface Entry {
  job: Job;
  /** Told with the job once it is settled; a list does not tell it. */
  chargeMicros: number | null;
}

interface Page {
  data: Job[];
  next_cursor: string | null;
}

export interface Watcher {
  changed(): void;
  /** A job that was watched is over. */
  ended(entry: Entry): void;
}

export class Jobs {
  /** Newest first. */
  entries: Entry[] = [];
  /** Whether there are older ones that are not shown. */
  hasMore = false;
  /** Why the jobs may not be as they are shown; empty: they are. */
  notice = '';
  readonly #account: Account;
  readonly #watcher: Watcher;
  readonly #once = new Once();
  readonly #looks = new Map<string, { timer: number; failures: number }>();
  #cursor: string | null = null;

  constructor(account: Account, watcher: Watcher) {
    this.#account = account;
    this.#watcher = watcher;
    // What a browser has put off while nobody looked is done at once.
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.#lookAtAll();
    });
    addEventListener('online', () => this.#lookAtAll());
  }

  /** One more page of older jobs; the first time the newest. */
  async more(): Promise<void> {
    const cursor = this.#cursor === null ? '' : `&cursor=${encodeURIComponent(this.#cursor)}`;
    const { body } = await this.#account.make<Page>('GET', `${PATH}?limit=${PAGE}${cursor}`);
    this.#cursor = body.next_cursor;
    this.hasMore = body.next_cursor !== null;
    for (const job of body.data) {
      if (this.find(job.id) === undefined) this.entries.push({ job, chargeMicros: null });
      this.#watch(job, 0);
    }
    this.#watcher.changed();
  }

  find(id: string): Entry | undefined {
    return this.entries.find(({ job }) => job.id === id);
  }

  /** Sends the request once, however often it is pressed: an answer that was lost is fetched. */
  async create(request: Record<string, unknown>): Promise<Entry> {
    const body = JSON.stringify(request);
    const onceKey = this.#once.keyFor(body);
    const answer = await this.#account.make<{ job: Job }>('POST', PATH, { body, onceKey });
    this.#once.done();
    return this.#take(answer.body.job, answer.headers);
  }

  async cancel(id: string): Promise<Entry> {
    const { body, headers } = await this.#account.make<{ job: Job }>(
      'POST',
      `${PATH}/${id}/cancel`,
    );
    return this.#take(body.job, headers);
  }

  /** The job as it is now, with what it cost. */
  async read(id: string): Promise<Entry> {
    const { body, headers } = await this.#account.make<{ job: Job }>('GET', `${PATH}/${id}`);
    return this.#take(body.job, headers);
  }

  /** Deletes the file of a job: the job stays. */
  async deleteVideo({ id, video }: Job): Promise<Entry> {
    if (video !== undefined) {
      await this.#account.own('DELETE', video.url).catch((error: unknown) => {
        // Somebody has deleted it before, which is as good.
        if (!(error instanceof CallProblem) || error.status !== 404) throw error;
      });
    }
    return await this.read(id);
  }

  #take(job: Job, headers: Headers): Entry {
    const charge = headers.get('x-svc-charge-microcredits');
    const known = this.find(job.id);
    const wasOver = known !== undefined && isOver(known.job);
    const entry = known ?? { job, chargeMicros: null };
    entry.job = job;
    if (charge !== null) entry.chargeMicros = Number(charge);
    if (known === undefined) this.entries.unshift(entry);
    this.#watch(job, secondsOf(headers));
    this.#watcher.changed();
    if (!wasOver && isOver(job)) this.#watcher.ended(entry);
    return entry;
  }

  #watch(job: Job, seconds: number): void {
    const { id } = job;
    const look = this.#looks.get(id);
    if (look !== undefined) clearTimeout(look.timer);
    this.#looks.delete(id);
    if (!isOver(job)) this.#lookAfter(id, seconds, 0);
  }

  #lookAfter(id: string, seconds: number, failures: number): void {
    const share = Math.max(1, (this.#looks.size + 1) / JOBS_AT_FULL_RATE);
    const timer = setTimeout(() => void this.#look(id), seconds * share * 1_000);
    this.#looks.set(id, { timer, failures });
  }

  #lookAtAll(): void {
    for (const [id, { timer }] of this.#looks) {
      clearTimeout(timer);
      void this.#look(id);
    }
  }

  async #look(id: string): Promise<void> {
    const failures = (this.#looks.get(id)?.failures ?? 0) + 1;
    try {
      await this.read(id);
      this.#say('');
    } catch (error) {
      const problem = error instanceof CallProblem ? error : new CallProblem(String(error));
      const look = this.#looks.get(id);
      // One that is not there any more, or not for us, is not looked at again.
      if (look === undefined || !problem.isPassing) this.#looks.delete(id);
      else this.#retry(id, failures, problem);
      this.#say(problem.message);
    }
  }

  #retry(id: string, failures: number, { retryAfter }: CallProblem): void {
    const patience = Math.min(RETRY_SECONDS * 2 ** (failures - 1), RETRY_SECONDS_MAX);
    this.#lookAfter(id, Math.max(patience, retryAfter ?? 0), failures);
  }

  #say(text: string): void {
    if (this.notice === text) return;
    this.notice = text;
    this.#watcher.changed();
  }
}

function secondsOf(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 1);
  return Number.isFinite(seconds) ? Math.max(1, seconds) : 1;
}
