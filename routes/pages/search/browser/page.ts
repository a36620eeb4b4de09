// The page /search: surfaces as tabs, parameters as fields, results as what they are.
import { Account, CallProblem, Once } from './account.ts';
import { element, make, setText, tell } from './dom.ts';
import { exampleIn, fillFields, markWrong, valuesOf } from './fields.ts';
import { bodyOf, curlOf } from './request.ts';
import { showReply } from './results.ts';
import { moreFields, type Tab, tabs } from './surfaces.ts';
import { outcomeText } from './text.ts';
import type { Reply, Surface } from './wire.ts';

const parts = {
  badge: element('badge', HTMLElement),
  news: element('news', HTMLElement),
  problem: element('problem', HTMLElement),
  keyCard: element('key-card', HTMLElement),
  keyForm: element('key-form', HTMLFormElement),
  key: element('key', HTMLInputElement),
  desk: element('desk', HTMLElement),
  tabs: element('tabs', HTMLElement),
  panel: element('panel', HTMLElement),
  ask: element('ask', HTMLFormElement),
  query: element('query', HTMLInputElement),
  queryLabel: element('query-label', HTMLElement),
  own: element('own-fields', HTMLElement),
  more: element('more-fields', HTMLElement),
  price: element('price', HTMLElement),
  askProblem: element('ask-problem', HTMLElement),
  submit: element('submit', HTMLButtonElement),
  result: element('result', HTMLElement),
  resultEmpty: element('result-empty', HTMLElement),
  resultBody: element('result-body', HTMLElement),
  curl: element('curl', HTMLElement),
  copy: element('copy', HTMLButtonElement),
};

const once = new Once();
const [first] = tabs;
if (first === undefined) throw new Error('no surface');
let chosen: Tab = first;
let surfaces: ReadonlyMap<string, Surface> = new Map();
let account: Account | null = null;
let isAsking = false;

async function start(): Promise<void> {
  const isDevelopment = document.documentElement.dataset.mode === 'dev';
  try {
    account = await Account.open(isDevelopment);
    const catalog = await account.get<{ surfaces: Surface[] }>('/api/catalog');
    surfaces = new Map(catalog.surfaces.map((surface) => [surface.name, surface]));
  } catch (error) {
    tell(parts.problem, error instanceof Error ? error.message : String(error));
    document.body.dataset.phase = 'failed';
    return;
  }
  parts.badge.hidden = !account.isLent;
  makeTabs();
  fillFields(parts.more, moreFields);
  choose(chosen);
  parts.desk.hidden = false;
  parts.keyCard.hidden = account.canAsk;
  document.body.dataset.phase = account.canAsk ? 'ready' : 'key';
}

function makeTabs(): void {
  const made = tabs.map((tab) => {
    const button = make('button', { text: tab.label });
    button.type = 'button';
    button.id = `tab-${tab.name}`;
    button.role = 'tab';
    button.setAttribute('aria-controls', 'panel');
    button.addEventListener('click', () => choose(tab));
    return button;
  });
  parts.tabs.replaceChildren(...made);
  parts.tabs.addEventListener('keydown', (event) => {
    const at = tabs.indexOf(chosen);
    const to = targetOf(event.key, at);
    const next = to === null ? undefined : tabs[to];
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
    document.getElementById(`tab-${next.name}`)?.focus();
  });
}

/** Arrow keys go round. */
function targetOf(key: string, at: number): number | null {
  if (key === 'ArrowRight') return (at + 1) % tabs.length;
  if (key === 'ArrowLeft') return (at + tabs.length - 1) % tabs.length;
  if (key === 'Home') return 0;
  return key === 'End' ? tabs.length - 1 : null;
}

function choose(tab: Tab): void {
  chosen = tab;
  for (const button of parts.tabs.querySelectorAll('button')) {
    const isChosen = button.id === `tab-${tab.name}`;
    button.setAttribute('aria-selected', String(isChosen));
    button.tabIndex = isChosen ? 0 : -1;
    if (isChosen) button.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
  parts.panel.setAttribute('aria-labelledby', `tab-${tab.name}`);
  parts.queryLabel.replaceChildren(`${tab.asks} `, ...exampleIn(tab.example));
  fillFields(parts.own, tab.fields);
  markWrong(parts.ask, null);
  tell(parts.askProblem, '');
  showNothing();
  refresh();
}

function showNothing(): void {
  parts.resultBody.hidden = true;
  parts.resultBody.replaceChildren();
  parts.resultEmpty.hidden = false;
}

/** The price, the button and the call follow what is filled in. */
function refresh(): void {
  const surface = surfaces.get(chosen.name);
  const canServe = surface?.available === true && surface.credits_per_query !== null;
  setText(parts.price, canServe ? costText(surface.credits_per_query) : 'Not offered here now.');
  const isReady = canServe && account?.canAsk === true && !isAsking;
  parts.submit.disabled = !isReady || parts.query.value.trim() === '';
  setText(parts.curl, curlOf(location.origin, currentBody()));
}

const costText = (credits: string | null) =>
  `${credits} ${credits === '1' ? 'credit' : 'credits'}, charged when something is found.`;

function currentBody(): string {
  const query = parts.query.value.trim();
  const values = { ...valuesOf(parts.more), ...valuesOf(parts.own) };
  return bodyOf(chosen.name, query === '' ? chosen.example : query, values);
}

async function ask(): Promise<void> {
  if (account === null || isAsking) return;
  const asked = chosen;
  const body = currentBody();
  isAsking = true;
  markWrong(parts.ask, null);
  tell(parts.askProblem, '');
  setText(parts.news, 'Searching');
  parts.result.setAttribute('aria-busy', 'true');
  refresh();
  try {
    const reply = await account.post<Reply>('/api/v1/query', body, once.keyFor(body));
    once.done();
    if (asked === chosen) show(reply);
  } catch (error) {
    if (error instanceof CallProblem && error.status > 0 && error.status < 500) once.done();
    if (asked === chosen) showProblem(error);
  } finally {
    isAsking = false;
    parts.result.removeAttribute('aria-busy');
    refresh();
  }
}

function show(reply: Reply): void {
  parts.resultEmpty.hidden = true;
  parts.resultBody.hidden = false;
  showReply(parts.resultBody, reply, (query) => {
    parts.query.value = query;
    parts.query.focus();
    void ask();
  });
  setText(parts.news, outcomeText(reply.normalized));
}

function showProblem(error: unknown): void {
  showNothing();
  setText(parts.news, '');
  tell(parts.askProblem, error instanceof Error ? error.message : String(error));
  if (error instanceof CallProblem) {
    if (error.status === 401) parts.keyCard.hidden = false;
    markWrong(parts.ask, error.path);
  }
}

parts.ask.addEventListener('input', refresh);
parts.ask.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!parts.submit.disabled) void ask();
});
parts.keyForm.addEventListener('submit', (event) => {
  event.preventDefault();
  const key = parts.key.value.trim();
  if (key === '') return;
  account?.giveKey(key);
  parts.key.value = '';
  parts.keyCard.hidden = true;
  document.body.dataset.phase = 'ready';
  refresh();
  parts.query.focus();
});
parts.copy.addEventListener('click', () => {
  const text = parts.curl.textContent ?? '';
  void navigator.clipboard.writeText(text).then(
    () => setText(parts.copy, 'Copied'),
    () => setText(parts.copy, 'Select it and copy'),
  );
});

void start();
