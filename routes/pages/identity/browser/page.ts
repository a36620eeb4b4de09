// What the pages know of the server and of where they are.
import type { Outcome, Refusal } from './call.ts';
import { complain, element } from './dom.ts';
import { signInPath } from './return-to.ts';
import { refusalText } from './words.ts';

/** What the server told the page. */
export interface PageData {
  /** Its own origin: no other may change anything. */
  web: string;
  /** Where mails are read in development mode. */
  mailbox: string | null;
  terms_url: string | null;
  signup: 'open' | 'closed' | 'invited';
}

export function pageData<T = PageData>(): T {
  return JSON.parse(element('data', HTMLScriptElement).textContent ?? '') as T;
}

const here = () => `${location.pathname}${location.search}${location.hash}`;

/** Leaves for the page to sign in, and comes back from there. */
export function signInFirst({ again = false, target = here() } = {}): void {
  location.assign(signInPath(target, { again }));
}

/** Where pages have another origin than this one, nothing can be changed: says where it can be. */
export function isElsewhere(web: string): boolean {
  if (location.origin === web) return false;
  complain(`Nothing can be done under this address. Open ${web}${location.pathname} instead.`);
  return true;
}

/** What the answer holds; a refusal that is the same on every page is dealt with: null. */
export function settled<T>(outcome: Outcome<T>, say: (text: string) => void = complain): T | null {
  if (outcome.ok) return outcome.body;
  if (!needsSignIn(outcome.refusal)) say(refusalText(outcome.refusal));
  return null;
}

/** Whether the person has to sign in, or to do so again; the page is being left then. */
export function needsSignIn({ status, reason }: Refusal): boolean {
  const again = reason === 'reauthenticate';
  if (status !== 401 && !again) return false;
  signInFirst({ again });
  return true;
}
