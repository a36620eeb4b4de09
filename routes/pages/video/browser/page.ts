// The page's entry: finds who asks and what there is to ask for, and binds forms, cards and player.
import { Account, CallProblem } from './account.ts';
import { Cards } from './cards.ts';
import { Describe } from './describe.ts';
import { element, setText, tell } from './dom.ts';
import { Film } from './film.ts';
import { type Entry, Jobs } from './jobs.ts';
import { MakeForm } from './make.ts';
import { Player } from './player.ts';
import { videoModels } from './price.ts';
import { stateText, titleOf } from './text.ts';
import type { Job, ModelEntry } from './wire.ts';

const { mode, web } = document.documentElement.dataset;
const problem = element('problem', HTMLElement);
const news = element('news', HTMLElement);
const columns = element('columns', HTMLElement);
const keyCard = element('key-card', HTMLElement);
const keyForm = element('key-form', HTMLFormElement);
const keyField = element('key', HTMLInputElement);
const forms = {
  make: element('make', HTMLFormElement),
  describe: element('describe', HTMLFormElement),
};

function textOf(error: unknown): string {
  return error instanceof CallProblem ? error.message : 'This page cannot work in this browser.';
}

/** What does not belong to one place of the page, and may be told again. */
async function attempt(act: () => Promise<void>): Promise<void> {
  tell(problem, '');
  try {
    await act();
  } catch (error) {
    tell(problem, textOf(error));
  }
}

function showMode(name: keyof typeof forms): void {
  for (const [each, form] of Object.entries(forms)) form.hidden = each !== name;
  const input = document.querySelector<HTMLInputElement>(`input[name="mode"][value="${name}"]`);
  if (input !== null) input.checked = true;
}

function bindModes(account: Account): void {
  for (const input of document.querySelectorAll<HTMLInputElement>('input[name="mode"]')) {
    input.addEventListener('change', () => {
      showMode(input.value === 'describe' ? 'describe' : 'make');
      keyCard.hidden = isEnough(account);
    });
  }
}

/** A session makes videos; only a key describes them. */
function isEnough(account: Account): boolean {
  return forms.describe.hidden ? account.canMake : account.canDescribe;
}

async function catalog(account: Account): Promise<ModelEntry[]> {
  const { body } = await account.own<{ models: ModelEntry[] }>('GET', '/api/public/models');
  return body.models;
}

/** Asks before it is done. */
function confirmDelete(job: Job): Promise<boolean> {
  const dialog = element('confirm', HTMLDialogElement);
  setText(element('confirm-title', HTMLElement), `Delete “${titleOf(job)}”?`);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
  });
}

class VideoPage {
  readonly #account: Account;
  readonly #player: Player;
  readonly #jobs: Jobs;
  readonly #cards: Cards;
  readonly #make: MakeForm;
  readonly #describe: Describe;

  constructor(account: Account, models: readonly ModelEntry[]) {
    this.#account = account;
    this.#player = new Player(account);
    const film = new Film((seconds) => this.#player.seek(seconds));
    this.#player.onTime((seconds) => film.showTime(seconds));
    this.#jobs = new Jobs(account, {
      changed: () => this.#show(),
      ended: (entry) => this.#tellEnd(entry),
    });
    this.#cards = new Cards(account, this.#actions());
    this.#make = new MakeForm(videoModels(models));
    this.#describe = new Describe(account, models, {
      film,
      describing: {
        play: (videoUrl) => this.#play(videoUrl),
        needsKey: () => {
          account.giveKey(null);
          keyCard.hidden = isEnough(account);
        },
      },
    });
    this.#cards.onMore(() => void attempt(() => this.#jobs.more()));
    this.#make.onSubmit(async (request) => {
      const { job } = await this.#jobs.create(request);
      setText(news, `Asked for “${titleOf(job)}”.`);
      void this.#showBalance();
    });
  }

  async open(): Promise<void> {
    columns.hidden = false;
    await this.#jobs.more();
    this.#describe.resume();
    await this.#showBalance();
  }

  #show(): void {
    const { entries } = this.#jobs;
    this.#cards.show(this.#jobs);
    this.#describe.showOwn(entries);
    const { job } = this.#player;
    const entry = job === null ? undefined : this.#jobs.find(job.id);
    if (entry !== undefined && entry.job.video === undefined) this.#player.hide();
  }

  #actions() {
    return {
      watch: (entry: Entry) => void attempt(() => this.#watch(entry)),
      describe: ({ job }: Entry) => {
        showMode('describe');
        keyCard.hidden = isEnough(this.#account);
        this.#describe.choose(job.video?.url ?? '');
      },
      download: (entry: Entry) => void attempt(() => this.#download(entry)),
      cancel: ({ job }: Entry) => void attempt(() => this.#cancel(job)),
      remove: ({ job }: Entry) => void attempt(() => this.#remove(job)),
    };
  }

  async #watch(entry: Entry): Promise<void> {
    await this.#player.show(entry);
    await this.#price(entry);
  }

  /** The list does not tell what a video cost. */
  async #price({ job, chargeMicros }: Entry): Promise<void> {
    if (chargeMicros !== null) return;
    const entry = await this.#jobs.read(job.id);
    if (this.#player.job?.id === job.id) this.#player.describe(entry);
  }

  async #play(videoUrl: string): Promise<string | null> {
    const entry = this.#jobs.entries.find(({ job }) => job.video?.url === videoUrl);
    if (entry === undefined) return null;
    await this.#player.show(entry, { isFocused: false });
    void attempt(() => this.#price(entry));
    return this.#player.url;
  }

  async #download({ job }: Entry): Promise<void> {
    const { video } = job;
    if (video === undefined) return;
    const link = document.createElement('a');
    link.download = `${video.id}.${video.mimeType === 'video/quicktime' ? 'mov' : 'mp4'}`;
    if (this.#account.hasSession) {
      link.href = video.url;
      link.click();
      return;
    }
    link.href = URL.createObjectURL(await this.#account.file(job.id));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  async #cancel(job: Job): Promise<void> {
    try {
      await this.#jobs.cancel(job.id);
    } catch (error) {
      // It began meanwhile: it is shown as it is, beside the reason.
      await this.#jobs.read(job.id).catch(() => undefined);
      throw error;
    }
    await this.#showBalance();
  }

  async #remove(job: Job): Promise<void> {
    if (!(await confirmDelete(job))) return;
    try {
      await this.#jobs.deleteVideo(job);
    } catch (error) {
      const isForeign = location.origin !== web && (error as CallProblem).status === 403;
      throw isForeign ? new CallProblem(`Videos are deleted from ${web}/video.`) : error;
    }
    this.#cards.focus(job.id);
  }

  #tellEnd({ job }: Entry): void {
    setText(news, `“${titleOf(job)}”: ${stateText(job)}`);
    void this.#showBalance();
  }

  /** Who has a key alone may not ask for it. */
  async #showBalance(): Promise<void> {
    if (!this.#account.hasSession) return;
    type Summary = { wallet: { available_microcredits: number } };
    const answer = await this.#account
      .own<Summary>('GET', '/api/me/billing/summary')
      .catch(() => null);
    const micros = answer?.body.wallet.available_microcredits;
    this.#make.showBalance(micros === undefined ? null : micros / 1_000_000);
  }
}

/** Without anybody who asks, everything waits for a key; with a session it may be given later. */
function takeKey(account: Account, opened: () => Promise<void>): void {
  keyForm.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = keyField.value.trim();
    const keyProblem = element('key-problem', HTMLElement);
    if (key === '') return;
    account.giveKey(key);
    tell(keyProblem, '');
    opened().then(
      () => {
        keyField.value = '';
        keyCard.hidden = true;
      },
      (error: unknown) => {
        if (!(error instanceof CallProblem) || !error.isPassing) account.giveKey(null);
        tell(keyProblem, textOf(error));
      },
    );
  });
}

async function start(): Promise<void> {
  const account = await Account.open(mode === 'dev');
  const models = await catalog(account);
  if (videoModels(models).length === 0) throw new CallProblem('This server makes no videos.');
  element('badge', HTMLElement).hidden = !account.isLent;
  bindModes(account);
  let page: VideoPage | null = null;
  const open = async () => {
    if (page === null || !account.hasSession) {
      // Asked first, so that a wrong key shows nothing.
      if (!account.hasSession) await account.make('GET', '/v1/video/generations?limit=1');
      page ??= new VideoPage(account, models);
      await page.open();
    }
  };
  takeKey(account, open);
  keyCard.hidden = account.canMake;
  if (account.canMake) await open();
  document.body.dataset.phase = 'ready';
}

await attempt(start);
