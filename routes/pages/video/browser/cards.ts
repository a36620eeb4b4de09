// The cards of jobs. Each is changed in place, so that nobody loses the focus, or the place that a
// screen reader has come to.
import type { Account } from './account.ts';
import { button, element, make, setText, tell } from './dom.ts';
import type { Entry, Jobs } from './jobs.ts';
import { dateText, microsText, settingsText, stateText, titleOf } from './text.ts';
import { isOver } from './wire.ts';

export interface CardActions {
  watch(entry: Entry): void;
  describe(entry: Entry): void;
  download(entry: Entry): void;
  cancel(entry: Entry): void;
  remove(entry: Entry): void;
}

interface Card {
  item: HTMLLIElement;
  title: HTMLElement;
  meta: HTMLElement;
  state: HTMLElement;
  bar: HTMLProgressElement;
  buttons: Record<keyof CardActions, HTMLButtonElement>;
}

export class Cards {
  readonly #account: Account;
  readonly #actions: CardActions;
  readonly #list = element('jobs', HTMLOListElement);
  readonly #empty = element('jobs-empty', HTMLElement);
  readonly #more = element('jobs-more', HTMLButtonElement);
  readonly #notice = element('jobs-notice', HTMLElement);
  readonly #cards = new Map<string, Card>();

  constructor(account: Account, actions: CardActions) {
    this.#account = account;
    this.#actions = actions;
  }

  onMore(act: () => void): void {
    this.#more.addEventListener('click', act);
  }

  show({ entries, hasMore, notice }: Jobs): void {
    let place: Element | null = this.#list.firstElementChild;
    for (const entry of entries) {
      const card = this.#cards.get(entry.job.id) ?? this.#add(entry);
      this.#update(card, entry);
      if (card.item === place) place = place.nextElementSibling;
      else this.#list.insertBefore(card.item, place);
    }
    this.#empty.hidden = entries.length > 0;
    this.#more.hidden = !hasMore;
    tell(this.#notice, notice === '' ? '' : `${notice} Looking again …`);
  }

  /** Where the focus goes when what had it is gone. */
  focus(jobId: string): void {
    this.#cards.get(jobId)?.title.focus();
  }

  #add(entry: Entry): Card {
    const { job } = entry;
    const title = make('h3', { text: titleOf(job) });
    title.id = `title-${job.id}`;
    title.tabIndex = -1;
    const bar = make('progress');
    bar.max = 100;
    bar.setAttribute('aria-labelledby', title.id);
    const labels = {
      watch: 'Watch',
      describe: 'Describe',
      download: 'Download',
      cancel: 'Cancel',
      remove: 'Delete',
    } as const;
    const names = Object.keys(labels) as (keyof CardActions)[];
    const buttons = Object.fromEntries(
      names.map((name) => {
        const made = button(labels[name], () => this.#actions[name](entry), `small ${name}`);
        made.setAttribute('aria-describedby', title.id);
        return [name, made];
      }),
    ) as Card['buttons'];
    const card = {
      item: make('li', { className: 'job' }),
      title,
      meta: make('p', { className: 'meta' }),
      state: make('p', { className: 'state' }),
      bar,
      buttons,
    };
    const row = make('div', { className: 'actions' }, ...Object.values(buttons));
    card.item.dataset.job = job.id;
    card.item.append(title, card.meta, card.state, bar, row);
    this.#cards.set(job.id, card);
    return card;
  }

  #update(card: Card, { job, chargeMicros }: Entry): void {
    const cost =
      chargeMicros === null || chargeMicros === 0 ? '' : ` · ${microsText(chargeMicros)}`;
    card.item.dataset.status = job.status;
    setText(card.meta, `${settingsText(job)} · ${dateText(job.created_at)}${cost}`);
    setText(card.state, stateText(job));
    card.bar.hidden = isOver(job);
    if (job.status === 'running') card.bar.value = job.progress;
    // Without a value it says that nobody knows yet.
    else card.bar.removeAttribute('value');
    const hasVideo = job.video !== undefined;
    const { hasSession, canDescribe } = this.#account;
    const shown = {
      watch: hasVideo,
      describe: hasVideo && (canDescribe || hasSession),
      download: hasVideo,
      cancel: job.cancellation_supported,
      remove: hasVideo && hasSession,
    };
    const { activeElement } = document;
    for (const [name, node] of Object.entries(card.buttons)) {
      node.hidden = !shown[name as keyof CardActions];
      if (node === activeElement && node.hidden) card.title.focus();
    }
  }
}
