// How long an answer takes tells nothing of an address: medians of 500 of each kind, in turn, lie
// within 10 % of each other.
// slow: 500 rounds of 16 requests, of which 4 hash a password.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRandom, testSeed } from '../harness/seed.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { IdentityBed, someone } from '../routes/identity/bed.ts';

const rounds = 500;
const random = createRandom(testSeed);
const kinds = ['known', 'unknown', 'unverified', 'disabled'] as const;
type Kind = (typeof kinds)[number];

let bed: Testbed;
let identity: IdentityBed;
before(async () => {
  // Each request comes from a network of its own: no bound of one is met.
  const env = { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' };
  bed = await openTestbed({ own: 'it measures times, and removes codes', env });
  identity = await IdentityBed.over(bed);
});
after(() => bed.close());

async function addressOf(kind: Kind): Promise<string> {
  if (kind === 'unknown') return someone();
  if (kind === 'unverified') return (await identity.register()).email;
  const { accountId, email } = await identity.signUp();
  if (kind === 'disabled') {
    await bed.sql`UPDATE accounts SET disabled_at = now() WHERE id = ${accountId}`;
  }
  return email;
}

const calls: Record<string, (email: string) => [path: string, body: Record<string, unknown>]> = {
  request: (email) => ['/api/auth/otp/request', { email, purpose: 'login' }],
  login: (email) => ['/api/app/auth/login', { email, password: 'not anybody has this' }],
  register: (email) => ['/api/app/auth/register', { email, password: 'violet tractor seven' }],
  reset: (email) => ['/api/app/auth/password/reset', { email }],
};

/** Sends a request from the network, and waits for the whole reply. */
async function send(network: string, path: string, body: Record<string, unknown>): Promise<number> {
  const reply = await fetch(bed.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': network },
    body: JSON.stringify(body),
  });
  await reply.arrayBuffer();
  return reply.status;
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

for (const [name, callOf] of Object.entries(calls)) {
  test(`${name} takes as long for every address`, async (context) => {
    const leader = (await identity.signUp()).email;
    const addresses = new Map<Kind, string>();
    for (const kind of kinds) addresses.set(kind, await addressOf(kind));
    const times = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]));
    for (let round = 0; round < rounds; round += 1) {
      // Nothing is refused for what the rounds before it sent, and what is due stays due.
      if (round % 20 === 0) await bed.sql`TRUNCATE challenges, codes, code_guesses`;
      const order = [...kinds].sort(() => random() - 0.5);
      for (const [turn, kind] of order.entries()) {
        // A mail of the request before is still on its way: it is the same for all.
        await send('10.9.9.9', '/api/auth/otp/request', { email: leader, purpose: 'login' });
        const [path, body] = callOf(addresses.get(kind) ?? '');
        const begun = performance.now();
        const status = await send(`10.${turn}.${round >> 8}.${round & 255}`, path, body);
        times.get(kind)?.push(performance.now() - begun);
        assert.ok([200, 201, 401].includes(status), `${name} ${kind} ${status}`);
      }
    }
    const medians = [...times].map(([kind, values]) => [kind, median(values)] as const);
    context.diagnostic(medians.map(([kind, ms]) => `${kind} ${ms.toFixed(2)} ms`).join(', '));
    const values = medians.map(([, ms]) => ms);
    assert.ok(Math.max(...values) <= 1.1 * Math.min(...values), JSON.stringify(medians));
  });
}
