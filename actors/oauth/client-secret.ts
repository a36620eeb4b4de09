// How an app says who it is where no person is with it (RFC 6749, section 2.3). A public one has
// its name alone. A confidential one shows a secret, in one of two places.
import { hash, timingSafeEqual } from 'node:crypto';
import type { OAuthClient } from './client.ts';

/** What a request shows. An empty secret is none (RFC 6749, section 3.2). */
export interface ShownClient {
  clientId: string;
  secret: string | null;
}

const basicPattern = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/**
 * Reads the header and the form's parameters. Null: nothing is said, or twice, or in a form that
 * nobody can read. Other schemes than Basic say nothing here.
 */
export function readClient(
  authorization: string | undefined,
  form: { client_id?: string | undefined; client_secret?: string | undefined },
): ShownClient | null {
  const { client_id: named = '', client_secret: posted = '' } = form;
  if (authorization === undefined || !/^basic(?: |$)/i.test(authorization)) {
    return named === '' ? null : { clientId: named, secret: posted === '' ? null : posted };
  }
  const basic = readBasic(authorization);
  if (basic === null || posted !== '') return null;
  return named === '' || named === basic.clientId ? basic : null;
}

/** Both parts are encoded as in a form before they are joined (RFC 6749, section 2.3.1). */
function readBasic(authorization: string): ShownClient | null {
  const encoded = basicPattern.exec(authorization)?.[1];
  if (encoded === undefined) return null;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon === -1) return null;
  const clientId = formDecoded(pair.slice(0, colon));
  const secret = formDecoded(pair.slice(colon + 1));
  if (clientId === null || clientId === '' || secret === null) return null;
  return { clientId, secret: secret === '' ? null : secret };
}

function formDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** Whether the client is who it says. A public one has no secret to show. */
export function isAuthentic(
  { type, secrets }: Pick<OAuthClient, 'type' | 'secrets'>,
  secret: string | null,
  nowMs: number,
): boolean {
  if (type === 'public') return secret === null;
  if (secret === null) return false;
  const shown = hash('sha256', secret, 'buffer');
  const good = secrets.filter(({ untilMs }) => untilMs === null || untilMs > nowMs);
  return good.map((each) => isEqual(shown, Buffer.from(each.hash, 'base64'))).includes(true);
}

function isEqual(shown: Buffer, kept: Buffer): boolean {
  return kept.length === shown.length && timingSafeEqual(shown, kept);
}
