// The page /account: who a person is here, a copy of what it keeps, and the end of the account.
import { call } from './call.ts';
import { element } from './dom.ts';
import { Erase } from './erase.ts';
import { Export } from './export.ts';
import { NewAddress } from './new-address.ts';
import { pageData, settled, signInFirst } from './page.ts';
import { Profile, type User } from './profile.ts';
import { openShell } from './shell.ts';

/** As long as the server takes a sign-in for fresh, less the time to fill in a form. */
const freshMs = 8 * 60_000;

/** What a thief would want to do takes a fresh sign-in: asked before anything is typed for it. */
async function isFresh(): Promise<boolean> {
  type Signed = { session?: { authenticated_at: string } };
  const body = settled(await call<Signed>('GET', '/api/auth/session'));
  if (body === null) return false;
  const { session } = body;
  const atMs = Date.parse(session?.authenticated_at ?? '');
  if (Date.now() - atMs < freshMs) return true;
  signInFirst({ again: session !== undefined });
  return false;
}

async function open(): Promise<void> {
  const body = settled(await call<{ user: User }>('GET', '/api/me/account'));
  if (body === null) return;
  let { user } = body;
  const profile = new Profile();
  const show = (changed: User) => {
    user = changed;
    profile.show(changed);
  };
  show(user);
  new NewAddress({ isFresh, changed: show });
  new Export(isFresh);
  new Erase({ isFresh, address: () => user.email ?? '' });
  document.body.dataset.phase = 'ready';
}

if (pageData().mailbox !== null) element('mailbox', HTMLElement).hidden = false;
if (openShell()) await open();
