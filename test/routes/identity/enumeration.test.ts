// What is answered tells nothing of an address: known, unknown, typed only, disabled or being
// deleted, it has the same status, headers and shape. How long it takes: test/long.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Reply } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { IdentityBed, someone } from './bed.ts';

let bed: Testbed;
let identity: IdentityBed;
let addresses: Record<string, string>;
before(async () => {
  bed = await openTestbed();
  identity = await IdentityBed.over(bed);
  const [known, disabled, leaving] = [
    await identity.signUp(),
    await identity.signUp(),
    await identity.signUp(),
  ];
  await bed.sql`UPDATE accounts SET disabled_at = now() WHERE id = ${disabled.accountId}`;
  await bed.sql`UPDATE accounts SET deleting_at = now() WHERE id = ${leaving.accountId}`;
  addresses = {
    known: known.email,
    unknown: someone(),
    unverified: (await identity.register()).email,
    disabled: disabled.email,
    deleting: leaving.email,
  };
});
after(() => bed.close());

/** All that tells replies apart but ids and times. */
function shapeOf({ status, headers, json }: Reply): string {
  const told = [...headers]
    .filter(([name]) => !['date', 'x-request-id'].includes(name))
    .map(([name, value]) => [name, name === 'set-cookie' ? value.replace(/=otp_\w+/, '') : value]);
  const error = json.error as Record<string, unknown> | undefined;
  const body = { ...json, ...(error === undefined ? {} : { error: { ...error, request_id: '' } }) };
  const members = Object.entries(body).map(([name, value]) => [
    name,
    name === 'challenge_id' ? String(value).length : value,
  ]);
  return JSON.stringify([status, told, members]);
}

const calls: Record<string, (email: string) => Promise<Reply>> = {
  'a code to sign in': (email) =>
    identity.post('/api/auth/otp/request', { email, purpose: 'login' }),
  'a code to sign up': (email) =>
    identity.post('/api/auth/otp/request', { email, purpose: 'signup' }),
  'a guess': (email) =>
    identity.post('/api/auth/otp/verify', { email, purpose: 'login', code: '000000' }),
  'a password': (email) =>
    identity.post('/api/app/auth/login', { email, password: 'not anybody has this' }),
  'a reset': (email) => identity.post('/api/app/auth/password/reset', { email }),
  'the code of a reset': (email) =>
    identity.post('/api/app/auth/password/reset/confirm', {
      email,
      code: '000000',
      new_password: 'not anybody has this',
    }),
};

for (const [name, call] of Object.entries(calls)) {
  test(`${name} is answered alike for every address`, async () => {
    const shapes = new Map<string, string[]>();
    for (const [kind, email] of Object.entries(addresses)) {
      const shape = shapeOf(await call(email));
      shapes.set(shape, [...(shapes.get(shape) ?? []), kind]);
    }
    assert.equal(shapes.size, 1, JSON.stringify([...shapes], null, 2));
  });
}

test('too many guesses are refused alike for every address', async () => {
  const shapes = new Set<string>();
  for (const email of Object.values(addresses)) {
    const statuses: number[] = [];
    for (let count = 0; count < 14; count += 1) {
      const body = { email, purpose: 'login', code: String(100_000 + count) };
      const { status } = await identity.post('/api/auth/otp/verify', body);
      statuses.push(status);
    }
    shapes.add(statuses.join(' '));
  }
  assert.equal(shapes.size, 1, [...shapes].join('\n'));
  assert.match([...shapes][0] ?? '', /429$/);
});
