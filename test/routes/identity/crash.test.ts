// What was guessed stays guessed when the process is killed, and no new budget comes of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { IdentityBed, someone, wrong } from './bed.ts';

let bed: Testbed;
let identity: IdentityBed;
before(async () => {
  bed = await openTestbed({ own: 'it kills it' });
  identity = await IdentityBed.over(bed);
});
after(() => bed.close());

const verify = '/api/auth/otp/verify';

/** How the guesses were answered, by status. A reply that was cut is none. */
async function tally(guesses: Promise<{ status: number }>[]): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (const outcome of await Promise.allSettled(guesses)) {
    const status = outcome.status === 'fulfilled' ? outcome.value.status : 0;
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

test('a budget of guesses is what it was before the process was killed', async () => {
  const email = someone();
  const asked = await identity.post('/api/auth/otp/request', { email, purpose: 'signup' });
  const challenge_id = String(asked.json.challenge_id);
  const code = await identity.code(email);
  const guess = (from: number, count: number, named: boolean) =>
    Array.from({ length: count }, (_, index) =>
      identity.post(verify, {
        email,
        purpose: 'signup',
        code: wrong(code, from + index),
        ...(named ? { challenge_id } : {}),
      }),
    );
  const before = await tally([...guess(1, 3, true), ...guess(1, 6, false)]);
  assert.deepEqual([...before], [[401, 9]]);
  // Some are answered, some are cut.
  const cut = [...guess(10, 20, true), ...guess(10, 30, false)];
  const killed = bed.gateway.killMain();
  const during = await tally(cut);
  await killed;
  const after = await tally([...guess(40, 20, true), ...guess(40, 30, false)]);
  const wrongs = [before, during, after].reduce((sum, each) => sum + (each.get(401) ?? 0), 0);
  assert.ok(wrongs <= 5 + 10, `${wrongs} wrong guesses were answered`);
  const [counted] = await bed.sql<{ named: number; unnamed: bigint }[]>`
    SELECT (SELECT guesses FROM challenges WHERE id = ${challenge_id}) AS named,
      (SELECT count(*) FROM code_guesses WHERE address = ${email}) AS unnamed`;
  assert.deepEqual(counted, { named: 5, unnamed: 10n });
  for (const named of [{}, { challenge_id }]) {
    const right = { email, code, purpose: 'signup', ...named };
    const reply = await identity.post(verify, { ...right, full_name: 'D', terms_accepted: true });
    assert.equal(reply.status, 429);
  }
});

test("the owner's own browser gets in whatever strangers have guessed", async () => {
  const { email, browser } = await identity.signUp();
  await browser.post('/api/auth/otp/request', { email, purpose: 'login' });
  const code = await identity.code(email);
  const strangers = Array.from({ length: 40 }, (_, index) =>
    identity.post(verify, { email, purpose: 'login', code: wrong(code, index + 1) }),
  );
  assert.equal((await tally(strangers)).get(401), 10);
  await bed.gateway.killMain();
  const reply = await browser.post(verify, { email, code, purpose: 'login' });
  assert.equal(reply.status, 200, reply.text);
});
