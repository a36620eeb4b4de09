// The page's entry: asks for the mails again and again, adds what is new, and empties the mailbox.
// What is shown already stays as it is, with whatever is open or selected in it.
import { element, tell } from './dom.ts';
import { type Message, mailItem } from './mails.ts';

const PATH = '/dev/mailbox/messages';
const EVERY_MS = 1_500;
const DEADLINE_MS = 10_000;

const list = element('mails', HTMLOListElement);
const news = element('news', HTMLElement);
const problem = element('problem', HTMLElement);
const empty = element('empty', HTMLElement);
const filter = element('to', HTMLInputElement);
const clear = element('clear', HTMLButtonElement);

const shown = new Map<string, { message: Message; item: HTMLLIElement }>();
/** What was there when the page was opened is no news. */
let isFirst = true;

async function call(method: 'GET' | 'DELETE'): Promise<Message[]> {
  const reply = await fetch(PATH, { method, signal: AbortSignal.timeout(DEADLINE_MS) });
  if (!reply.ok) throw new Error(`the server answered ${reply.status}`);
  const { data = [] } = (await reply.json()) as { data?: Message[] };
  return data;
}

function isWanted({ to }: Message): boolean {
  return to.includes(filter.value.trim().toLowerCase());
}

function showWanted(): void {
  let count = 0;
  for (const { message, item } of shown.values()) {
    item.hidden = !isWanted(message);
    if (!item.hidden) count += 1;
  }
  clear.disabled = shown.size === 0;
  const nothing = shown.size === 0 ? 'No mail yet. It appears here by itself.' : 'No mail to that.';
  tell(empty, count === 0 ? nothing : '');
}

function say(text: string): void {
  news.textContent = text;
}

function update(messages: readonly Message[]): void {
  const ids = new Set(messages.map(({ id }) => id));
  for (const [id, { item }] of shown) {
    if (ids.has(id)) continue;
    item.remove();
    shown.delete(id);
  }
  const added = messages.filter(({ id }) => !shown.has(id));
  for (const message of added.toReversed()) {
    const item = mailItem(message, say);
    shown.set(message.id, { message, item });
    list.prepend(item);
  }
  const [newest] = added.filter(isWanted);
  if (newest !== undefined && !isFirst) say(`New mail to ${newest.to}: ${newest.subject}`);
  isFirst = false;
  showWanted();
}

async function attempt(act: () => Promise<void>): Promise<void> {
  try {
    await act();
    tell(problem, '');
  } catch {
    tell(problem, 'The server cannot be reached. Trying again.');
  }
}

/** Not while nobody looks: the next look is at the moment when somebody does. */
async function look(): Promise<void> {
  if (document.visibilityState === 'hidden') return;
  await attempt(async () => update(await call('GET')));
}

async function keepLooking(): Promise<void> {
  for (;;) {
    await look();
    document.body.dataset.phase = 'ready';
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

filter.value = new URLSearchParams(location.search).get('to') ?? '';
filter.addEventListener('input', showWanted);
element('tools', HTMLFormElement).addEventListener('submit', (event) => event.preventDefault());
document.addEventListener('visibilitychange', () => void look());
clear.addEventListener('click', () => {
  void attempt(async () => {
    await call('DELETE');
    update([]);
    say('The mailbox is empty.');
    // The button that had the focus can no longer be pressed.
    element('main', HTMLElement).focus();
  });
});

await keepLooking();
