// The player: one video at a time, by its address where the browser is signed in, else fetched with
// the key into memory. What it plays is asked of the server piece by piece, so that it seeks.
import type { Account, CallProblem } from './account.ts';
import { element, make, setText, tell } from './dom.ts';
import type { Entry } from './jobs.ts';
import { microsText, settingsText, titleOf } from './text.ts';
import type { Job } from './wire.ts';

export class Player {
  /** The job whose video is shown. */
  job: Job | null = null;
  readonly #account: Account;
  readonly #stage = element('stage', HTMLElement);
  readonly #title = element('stage-title', HTMLElement);
  readonly #video = make('video');
  readonly #meta = element('stage-meta', HTMLElement);
  readonly #problem = element('stage-problem', HTMLElement);
  /** An address in memory that has to be given back. */
  #blobUrl: string | null = null;
  /** Counts what was asked for: a video that arrives late is not shown over the next one. */
  #number = 0;

  constructor(account: Account) {
    this.#account = account;
    Object.assign(this.#video, { id: 'player', controls: true, preload: 'metadata' });
    this.#video.playsInline = true;
    this.#video.setAttribute('aria-labelledby', this.#title.id);
    element('screen', HTMLElement).append(this.#video);
    this.#video.addEventListener('error', () => {
      if (this.job === null || this.#video.getAttribute('src') === null) return;
      tell(this.#problem, 'The video cannot be played. It may have been deleted, or is damaged.');
    });
  }

  /** Calls back whenever the time changes, by playing or by seeking. */
  onTime(listener: (seconds: number) => void): void {
    for (const name of ['timeupdate', 'seeked'] as const) {
      this.#video.addEventListener(name, () => listener(this.#video.currentTime));
    }
  }

  /** Resolves when there is something to play, or a message that there is not. */
  async show(entry: Entry, { isFocused = true } = {}): Promise<void> {
    const { job } = entry;
    const { video } = job;
    if (video === undefined) return;
    const number = this.#clear();
    this.job = job;
    this.#stage.hidden = false;
    setText(this.#title, titleOf(job));
    this.describe(entry);
    if (isFocused) {
      this.#stage.scrollIntoView({ block: 'nearest' });
      this.#title.focus({ preventScroll: true });
    }
    const url = await this.#urlOf(job, number);
    if (url !== null && number === this.#number) this.#video.src = url;
  }

  /** The line below: what it is and what it cost. */
  describe({ job, chargeMicros }: Entry): void {
    const cost = chargeMicros === null ? '' : ` · ${microsText(chargeMicros)}`;
    setText(this.#meta, `${settingsText(job)}${cost}`);
  }

  seek(seconds: number): void {
    this.#video.currentTime = seconds;
  }

  /** Where the video that is shown is read; null: nothing is. */
  get url(): string | null {
    return this.job === null ? null : this.#video.getAttribute('src');
  }

  hide(): void {
    this.#clear();
    this.#stage.hidden = true;
  }

  #clear(): number {
    this.job = null;
    this.#video.removeAttribute('src');
    this.#video.load();
    if (this.#blobUrl !== null) URL.revokeObjectURL(this.#blobUrl);
    this.#blobUrl = null;
    tell(this.#problem, '');
    this.#number += 1;
    return this.#number;
  }

  async #urlOf({ id, video }: Job, number: number): Promise<string | null> {
    if (this.#account.hasSession) return video?.url ?? null;
    try {
      setText(this.#meta, 'Fetching the video …');
      const blob = await this.#account.file(id);
      if (number !== this.#number) return null;
      this.#blobUrl = URL.createObjectURL(blob);
      return this.#blobUrl;
    } catch (error) {
      if (number === this.#number) tell(this.#problem, (error as CallProblem).message);
      return null;
    }
  }
}
