// What a request says: what the guard always does, what the caller adds, and credentials where they
// belong. A credential among the other headers would go to whoever a redirect names: that is a bug.
import assert from 'node:assert/strict';
import type { OutboundCall } from './contract.ts';
import type { Step } from './redirect.ts';

const own = {
  accept: '*/*',
  // What is not asked for is refused: a coded body has no bound that its bytes would tell.
  'accept-encoding': 'identity',
  'user-agent': 'tollgate',
};

/** These belong to the connection or to the guard. */
const reserved =
  /^(host|connection|keep-alive|upgrade|te|trailer|expect|transfer-encoding|content-length)$/i;
const guarded = /^(accept-encoding|cookie|proxy-.*)$/i;
const credential = /^(authorization|.*-(api-)?key|.*-token|.*-secret)$/i;

export function assertHeaders({ headers, credentials, body, method = 'GET' }: OutboundCall): void {
  const plain = Object.keys(headers ?? {});
  const secret = Object.keys(credentials?.headers ?? {});
  for (const name of [...plain, ...secret]) {
    assert.ok(!reserved.test(name) && !guarded.test(name), `${name} is no header of a caller`);
  }
  for (const name of plain) assert.ok(!credential.test(name), `${name} belongs into credentials`);
  const bodiless = method === 'GET' || method === 'HEAD';
  assert.ok(body === undefined || !bodiless, `${method} has no body`);
}

/** Without a body what describes it is left out, too. */
export function headersFor(
  { target, body, isAtHome }: Step,
  { headers, credentials }: OutboundCall,
): Record<string, string> {
  const mayKnow = isAtHome && credentials?.origin === target.url.origin;
  const all = { ...own, ...lowered(headers ?? {}), ...lowered(mayKnow ? credentials.headers : {}) };
  if (body !== null) return all;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('content-')));
}

function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
