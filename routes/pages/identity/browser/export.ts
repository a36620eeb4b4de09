// A copy of all that a person keeps: asked for, waited for, and fetched.
import { onClick } from './act.ts';
import { call } from './call.ts';
import { element, make, setText } from './dom.ts';
import { settled } from './page.ts';
import { dateText } from './words.ts';

interface ExportState {
  id: string;
  status: string;
  expires_at?: string | null;
}

const path = '/api/me/account/exports';
const everyMs = 2_000;
/** Longer than any takes; whoever waits on looks at the page anew. */
const roundsMax = 300;
const kept = 'export';

const pause = () => new Promise((resolve) => setTimeout(resolve, everyMs));

export class Export {
  readonly #state = element('export-state', HTMLElement);
  #link: HTMLAnchorElement | null = null;

  constructor(isFresh: () => Promise<boolean>) {
    onClick(element('export', HTMLElement), async () => {
      if (await isFresh()) await this.#ask();
    });
    const id = sessionStorage.getItem(kept);
    if (id !== null) void this.#watch(id);
  }

  async #ask(): Promise<void> {
    const outcome = await call<{ export: ExportState }>('POST', '/api/me/account/export');
    const body = settled(outcome, (text) => setText(this.#state, text));
    if (body === null) return;
    sessionStorage.setItem(kept, body.export.id);
    await this.#watch(body.export.id);
  }

  async #watch(id: string): Promise<void> {
    for (let round = 0; round < roundsMax; round += 1) {
      const outcome = await call<{ export: ExportState }>('GET', `${path}/${id}`);
      if (!outcome.ok) return setText(this.#state, '');
      const { status, expires_at } = outcome.body.export;
      if (status === 'ready') return this.#offer(id, expires_at ?? null);
      if (status === 'failed')
        return setText(this.#state, 'It could not be put together. Ask again.');
      setText(this.#state, 'Being put together. You can leave this page and come back.');
      await pause();
    }
  }

  #offer(id: string, expiresAt: string | null): void {
    const until = expiresAt === null ? '' : ` until ${dateText(expiresAt)}`;
    setText(this.#state, `Your copy is ready${until}.`);
    this.#link?.remove();
    this.#link = make('a', { text: 'Download the copy', className: 'small firm' });
    this.#link.href = `${path}/${encodeURIComponent(id)}/archive`;
    this.#link.download = '';
    element('export-actions', HTMLElement).append(this.#link);
  }
}
