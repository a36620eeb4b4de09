// Who asks for a code, a session or an account, as far as the request tells. It is read before the
// first wait: an exchange that is over tells nothing.

import { randomBytes } from 'node:crypto';
import { parseAddress } from '../../actors/identity/address.ts';
import { type Places, placesOf } from '../../actors/identity/codes.ts';
import { findKnownPlaces } from '../../db/accounts/known-places.ts';
import type { Transaction } from '../../db/driver/sql.ts';
import { networkOf } from '../../runtime/http/address.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { Problem } from '../../runtime/problem.ts';
import { isFromForeignPage } from '../own-origin.ts';
import type { Services } from '../services.ts';
import { type ShownCookies, shownCookies } from './cookies.ts';
import { type ClientFacts, clientOf } from './sign-in.ts';

export interface Asker {
  client: ClientFacts;
  cookies: ShownCookies;
  network: string;
  places: Places;
}

export function askerOf(
  exchange: Pick<Exchange, 'clientAddress' | 'header'>,
  { sealer }: Pick<Services, 'sealer'>,
): Asker {
  const cookies = shownCookies(exchange);
  const network = networkOf(exchange.clientAddress);
  const places = placesOf(sealer, { network, browser: cookies.browser });
  return { client: clientOf(exchange), cookies, network, places };
}

/**
 * A page of somebody else must not sign its visitor in or out.
 * @throws Problem forbidden
 */
export function refuseForeignPage(
  exchange: Pick<Exchange, 'header'>,
  { config }: Pick<Services, 'config'>,
): void {
  if (!isFromForeignPage(exchange, config.webUrl)) return;
  throw new Problem('forbidden', { message: 'The request does not come from the web origin.' });
}

/** The address in its one form. @throws Problem invalid_request */
export function requireAddress(email: string): string {
  const address = parseAddress(email);
  if (address !== null) return address;
  throw fieldProblem('email', 'This is not an address of mail.');
}

/** The browser's name if the account knows it, else a new one: a foreign one may be planted. */
export async function browserOf(
  transaction: Transaction,
  { cookies, places }: Asker,
  accountId: string,
): Promise<string> {
  const { browser } = cookies;
  if (browser !== null && places.browser !== null) {
    const known = await findKnownPlaces(transaction, accountId, [places.browser]);
    if (known.has(places.browser)) return browser;
  }
  return randomBytes(32).toString('base64url');
}
