// The page /account/apps: which apps act for a person, and how to end that.
import { once } from './act.ts';
import { call } from './call.ts';
import { confirmed } from './confirm.ts';
import { button, make, moment } from './dom.ts';
import { Listing } from './listing.ts';
import { settled } from './page.ts';
import { scopeLines } from './scopes.ts';
import { openShell } from './shell.ts';
import { agoText, countText } from './words.ts';

interface Key {
  label: string;
  prefix: string;
}

interface App {
  client_id: string;
  display_name: string;
  scopes: string[];
  first_used_at: string;
  last_used_at: string;
  api_keys: Key[];
}

function draw(app: App): HTMLElement {
  const { client_id, display_name, scopes, first_used_at, last_used_at, api_keys } = app;
  const title = make('h2', { text: display_name });
  // A document says of itself who it is: its address is what is known.
  if (client_id.startsWith('https://')) {
    title.append(' ', make('span', { className: 'tag', text: 'Unknown to tollgate' }));
  }
  const item = make(
    'li',
    { className: 'card' },
    title,
    make('ul', { className: 'scopes' }, ...scopeLines(scopes).map((text) => make('li', { text }))),
    make(
      'p',
      { className: 'hint' },
      'Last used ',
      moment(last_used_at, agoText(last_used_at)),
      ', connected ',
      moment(first_used_at, agoText(first_used_at)),
    ),
  );
  if (api_keys.length > 0) item.append(...drawKeys(api_keys));
  const end = button('Disconnect', () => void once(item, () => revoke(app, item)), 'small danger');
  end.setAttribute('aria-label', `Disconnect ${display_name}`);
  item.append(make('div', { className: 'actions' }, end));
  return item;
}

function drawKeys(keys: readonly Key[]): HTMLElement[] {
  const lines = keys.map(({ label, prefix }) =>
    make('li', {}, `${label} `, make('code', { text: `${prefix}…` })),
  );
  return [
    make('h3', { text: 'API keys that it made' }),
    make('ul', { className: 'keys' }, ...lines),
  ];
}

const listing = new Listing<App>('/api/me/authorizations', 'No app acts for you.', (app) =>
  draw(app),
);

async function revoke({ client_id, display_name, api_keys }: App, item: HTMLElement) {
  const keys = api_keys.length;
  const end =
    keys === 0 ? '' : ` ${countText(keys, 'API key')} that it made will stop working, too.`;
  const isMeant = await confirmed({
    title: `Disconnect ${display_name}?`,
    text: `Its access ends at once.${end}`,
    yes: 'Disconnect it',
    no: 'Keep it',
  });
  if (!isMeant) return;
  const outcome = await call('POST', '/api/me/authorizations/revoke', { client_id });
  const isGone = !outcome.ok && outcome.refusal.status === 404;
  if (!isGone && settled(outcome) === null) return;
  listing.remove(item, `${display_name} is disconnected.`);
}

if (openShell()) await listing.open();
