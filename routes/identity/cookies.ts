// The cookies of signing in: the session, the challenge that a code was asked for with, and what
// tells a browser that signed in before. All are out of reach of scripts.
import { newSessionEnd } from '../../actors/identity/lifetime.ts';
import { readCookie, writeCookie } from '../../runtime/http/cookie.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import type { Services } from '../services.ts';

const names = { session: 'svc_session', challenge: 'svc_otp', browser: 'svc_browser' } as const;
const challengeSeconds = 15 * 60;
const browserSeconds = 180 * 86_400;

/** What routes of identity read of a request besides its body. */
export const browserHeaders = {
  cookie: { description: '`svc_otp` names the challenge, `svc_browser` who signed in before.' },
  'user-agent': { description: 'Kept beside the session, so that its owner recognizes it.' },
  'sec-fetch-site': { description: 'Where a browser says that the request comes from.' },
};

export interface ShownCookies {
  session: string | null;
  challenge: string | null;
  browser: string | null;
}

export function shownCookies(exchange: Pick<Exchange, 'header'>): ShownCookies {
  const header = exchange.header('cookie');
  return {
    session: readCookie(header, names.session),
    challenge: readCookie(header, names.challenge),
    browser: readCookie(header, names.browser),
  };
}

type Config = Pick<Services['config'], 'baseUrl' | 'tlsCertPath' | 'webUrl'>;

/** Over https alone, where anything of us is reached so. */
function isSecure({ baseUrl, tlsCertPath, webUrl }: Config): boolean {
  return tlsCertPath !== null || webUrl.startsWith('https:') || baseUrl.startsWith('https:');
}

type Settable = Pick<Exchange, 'setHeader'>;

function set(
  exchange: Settable,
  config: Config,
  name: string,
  value: string,
  sameSite: 'Lax' | 'Strict',
  maxAgeSeconds: number,
): void {
  const cookie = { name, value, maxAgeSeconds, sameSite, isSecure: isSecure(config) };
  exchange.setHeader('set-cookie', writeCookie(cookie));
}

export function setChallengeCookie(exchange: Settable, config: Config, id: string): void {
  set(exchange, config, names.challenge, id, 'Strict', challengeSeconds);
}

/** As long as a session may last at most: the server knows when it ends before that. */
export function setSessionCookies(
  exchange: Settable,
  config: Config,
  { token, browser }: { token: string; browser: string },
): void {
  const nowMs = Date.now();
  const seconds = Math.floor((newSessionEnd('browser', nowMs).getTime() - nowMs) / 1_000);
  set(exchange, config, names.session, token, 'Lax', seconds);
  set(exchange, config, names.browser, browser, 'Strict', browserSeconds);
  set(exchange, config, names.challenge, '', 'Strict', 0);
}

export function expireSessionCookie(exchange: Settable, config: Config): void {
  set(exchange, config, names.session, '', 'Lax', 0);
}
