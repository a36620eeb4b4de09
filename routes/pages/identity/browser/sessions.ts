// The page /account/sessions: where a person is signed in, and how to end that.
import { onClick, once } from './act.ts';
import { call } from './call.ts';
import { confirmed } from './confirm.ts';
import { announce, button, element, make, moment } from './dom.ts';
import { Listing } from './listing.ts';
import { settled } from './page.ts';
import { openShell } from './shell.ts';
import { agoText, momentText, networkText, programText } from './words.ts';

interface Session {
  id: string;
  kind: 'browser' | 'app' | 'oauth';
  method: 'otp' | 'password' | 'command';
  created_at: string;
  last_used_at: string;
  user_agent: string | null;
  network: string | null;
  current: boolean;
}

const methods = {
  otp: 'with a code',
  password: 'with a password',
  command: 'by a command on the server',
} as const;

function draw(session: Session): HTMLElement {
  const name = programText(session.user_agent);
  const title = make('h2', { text: name });
  if (session.current) title.append(' ', make('span', { className: 'tag', text: 'This browser' }));
  else if (session.kind === 'app')
    title.append(' ', make('span', { className: 'tag', text: 'App' }));
  const { last_used_at, created_at, network, method } = session;
  const used = session.current ? 'In use now' : `Last used ${agoText(last_used_at)}`;
  const from = network === null ? '' : ` from the network ${networkText(network)}`;
  const item = make(
    'li',
    { className: 'card' },
    title,
    make('p', {}, moment(last_used_at, used)),
    make(
      'p',
      { className: 'hint' },
      `Signed in ${methods[method]}${from}, `,
      moment(created_at, momentText(created_at)),
    ),
  );
  if (session.current) return item;
  const end = button('Sign out', () => void once(item, () => revoke(session, item)));
  end.setAttribute('aria-label', `Sign out ${name}, last used ${agoText(last_used_at)}`);
  item.append(make('div', { className: 'actions' }, end));
  item.dataset.other = '';
  return item;
}

const listing = new Listing<Session>('/api/me/sessions', 'There is none.', (session) =>
  draw(session),
);

async function revoke({ id, user_agent }: Session, item: HTMLElement): Promise<void> {
  const outcome = await call('POST', '/api/me/sessions/revoke', { session_id: id });
  // Somebody else was quicker: it is over all the same.
  const isGone = !outcome.ok && outcome.refusal.status === 404;
  if (!isGone && settled(outcome) === null) return;
  listing.remove(item, `${programText(user_agent)} is signed out.`);
  showAll();
}

/** Nothing to press where there is no other. */
function showAll(): void {
  const others = listing.items.filter((item) => item.dataset.other !== undefined);
  element('all-actions', HTMLElement).hidden = others.length === 0;
}

async function revokeAll(): Promise<void> {
  const isMeant = await confirmed({
    title: 'Sign out everywhere else?',
    text: 'Every other browser and app session ends at once. You stay signed in here.',
    yes: 'Sign them out',
    no: 'Leave them',
  });
  if (!isMeant) return;
  const outcome = await call('POST', '/api/me/sessions/revoke', { all_others: true });
  if (settled(outcome) === null) return;
  for (const item of listing.items) if (item.dataset.other !== undefined) item.remove();
  element('more', HTMLElement).hidden = true;
  showAll();
  element('list-title', HTMLElement).focus();
  announce('You are signed out everywhere else.');
}

if (openShell()) {
  onClick(element('revoke-all', HTMLElement), revokeAll);
  await listing.open();
  showAll();
}
