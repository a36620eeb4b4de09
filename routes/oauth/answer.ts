// Where a browser is sent from the authorization endpoint: back to the app, or to sign in.
import { answerTo } from '../../actors/oauth/redirect.ts';
import { answerMembers, type Refusal } from '../../actors/oauth/request.ts';
import type { Reply } from '../../runtime/http/route.ts';

/** An answer to the app: its code, or why there is none (RFC 6749, 4.1.2). */
export interface Answer {
  redirectUri: string;
  state: string | null;
  result: { code: string } | Refusal;
}

/** The whole address that the answer is told at. */
export function answerUrl({ redirectUri, state, result }: Answer, issuer: string): string {
  return answerTo(redirectUri, answerMembers(result, state, issuer));
}

/** No other redirect is sure never to repeat a body elsewhere (RFC 9700, 4.12). */
export function seeOther(location: string): Reply {
  const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
  return { status: 303, text: '', mediaType: '', headers };
}

/** The page for signing in, and what comes after it; `again`: also for who is signed in. */
export function signInPath(target: string, { again }: { again: boolean }): string {
  const path = `/signin?return_to=${encodeURIComponent(target)}`;
  return again ? `${path}&reauthenticate=1` : path;
}
