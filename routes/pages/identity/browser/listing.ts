// A list of the account that comes in pages.
import { once } from './act.ts';
import { call } from './call.ts';
import { announce, element, setText } from './dom.ts';
import { settled } from './page.ts';

interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

export class Listing<Item> {
  readonly #path: string;
  readonly #draw: (item: Item) => HTMLElement;
  readonly #empty: string;
  readonly #list = element('list', HTMLElement);
  readonly #more = element('more', HTMLButtonElement);
  readonly #state = element('list-state', HTMLElement);
  #cursor: string | null = null;

  constructor(path: string, empty: string, draw: (item: Item) => HTMLElement) {
    this.#path = path;
    this.#empty = empty;
    this.#draw = draw;
    this.#more.addEventListener('click', () => void once(this.#more, () => this.#showMore()));
  }

  get items(): readonly HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>(':scope > li')];
  }

  async open(): Promise<void> {
    await once(this.#list, () => this.#load());
  }

  /** Takes it away; the focus goes to what is left. */
  remove(item: HTMLElement, said: string): void {
    item.remove();
    this.#tell();
    element('list-title', HTMLElement).focus();
    announce(said);
  }

  async #showMore(): Promise<void> {
    const known = this.items.length;
    await this.#load();
    // The button may be gone: what came is read on from its first.
    this.items[known]?.querySelector('button')?.focus();
  }

  async #load(): Promise<void> {
    const query = this.#cursor === null ? '' : `?cursor=${encodeURIComponent(this.#cursor)}`;
    const page = settled(await call<Page<Item>>('GET', `${this.#path}${query}`));
    if (page !== null) {
      this.#list.append(...page.data.map((item) => this.#draw(item)));
      this.#cursor = page.next_cursor;
      this.#more.hidden = page.next_cursor === null;
      this.#tell();
    } else setText(this.#state, this.items.length > 0 ? '' : 'The list could not be loaded.');
  }

  #tell(): void {
    setText(this.#state, this.items.length > 0 || !this.#more.hidden ? '' : this.#empty);
  }
}
