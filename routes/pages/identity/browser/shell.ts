// What all pages of the account have: the way out of it.
import { onClick } from './act.ts';
import { call } from './call.ts';
import { element } from './dom.ts';
import { isElsewhere, pageData, settled } from './page.ts';

async function signOut(): Promise<void> {
  if (settled(await call('POST', '/api/auth/logout')) !== null) location.assign('/signin');
}

/** False: the page is under a foreign address, where nothing can be done. */
export function openShell(): boolean {
  onClick(element('sign-out', HTMLElement), signOut);
  return !isElsewhere(pageData().web);
}
