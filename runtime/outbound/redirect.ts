// What follows an answer that leads elsewhere (RFC 9110, 15.4; the methods as the Fetch Standard
// has them). Credentials and bodies stay with the origin that they were given for. Pure.
import type { OutboundCall, OutboundUse } from './contract.ts';
import type { Head } from './exchange.ts';
import { readTarget, refused, type Target } from './target.ts';

export interface Step {
  readonly target: Target;
  readonly method: NonNullable<OutboundCall['method']>;
  readonly body: string | Buffer | null;
  /** No redirect has left the origin of the first URL, or come back to it. */
  readonly isAtHome: boolean;
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where an answer leads; null: nowhere, it is the answer. */
export function locationOf({ status, headers }: Head): string | null {
  const location = redirects.has(status) ? headers.get('location') : undefined;
  // Servers write it in UTF-8; undici reads all headers as Latin-1.
  return location === undefined ? null : Buffer.from(location, 'latin1').toString();
}

/** @throws OutboundFault source_refused */
export function nextStep(step: Step, status: number, location: string, use: OutboundUse): Step {
  const target = readTarget(location, step.target.url);
  const isSame = target.url.origin === step.target.url.origin;
  if (step.target.isSecure && !target.isSecure) throw refused('a redirect from https to http');
  if (use.redirectsTo === 'same_origin' && !isSame) throw refused('a redirect to another origin');
  const isAtHome = step.isAtHome && isSame;
  if (!becomesGet(step.method, status)) {
    if (step.body !== null && !isSame) throw refused('a redirect would take the body elsewhere');
    return { target, method: step.method, body: step.body, isAtHome };
  }
  return { target, method: 'GET', body: null, isAtHome };
}

function becomesGet(method: Step['method'], status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}
