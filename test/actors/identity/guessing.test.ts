// How often a code is guessed at, whoever guesses and however many do at once; and which codes are
// good.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Guess } from '../../../actors/identity/guessing.ts';
import { finishChallenge } from '../../../db/challenges.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { type CodeStage, openStage, wrongCode } from './stage.ts';

let stage: CodeStage;
let count = 0;
before(async () => {
  stage = await openStage();
});
after(() => stage.close());

function someone(): string {
  count += 1;
  return `guessed${count}@example.com`;
}

async function outcome(guess: Promise<Guess>): Promise<string> {
  const made = await guess;
  return made.isRight ? 'right' : made.problem.code;
}

function tally(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const each of outcomes) counts[each] = (counts[each] ?? 0) + 1;
  return counts;
}

async function asked(address = someone()) {
  const challengeId = await stage.ask(address);
  return { address, challengeId, code: stage.codeTo(address) };
}

test('a challenge has five wrong guesses, at once as one after the other', async () => {
  const { address, challengeId, code } = await asked();
  const guesses = Array.from({ length: 40 }, (_, index) =>
    outcome(stage.signIn(address, challengeId, wrongCode(code, index + 1))),
  );
  assert.deepEqual(tally(await Promise.all(guesses)), { unauthenticated: 5, rate_limited: 35 });
  assert.equal(await outcome(stage.signIn(address, challengeId, code)), 'rate_limited');
});

test('right guesses cost nothing, and a code is used up once', async () => {
  const { address, challengeId, code } = await asked();
  for (let index = 0; index < 8; index += 1) {
    assert.equal(await outcome(stage.signIn(address, challengeId, code)), 'right');
  }
  const uses = await Promise.all(
    Array.from({ length: 8 }, () =>
      stage.sql.begin((transaction) => finishChallenge(transaction, challengeId, 5)),
    ),
  );
  assert.equal(uses.filter((isFirst) => isFirst).length, 1);
  assert.equal(await outcome(stage.signIn(address, challengeId, code)), 'unauthenticated');
});

test('who names no challenge has 10 guesses an hour and 30 a day, at once as well', async () => {
  const address = someone();
  let wrong = 0;
  for (let hours = 0; hours < 4; hours += 1) {
    await stage.ask(address);
    const code = stage.codeTo(address);
    const guesses = Array.from({ length: 25 }, (_, index) =>
      outcome(stage.signIn(address, null, wrongCode(code, index + 1))),
    );
    const counts = tally(await Promise.all(guesses));
    assert.equal(counts.unauthenticated ?? 0, hours < 3 ? 10 : 0, `hour ${hours}`);
    wrong += counts.unauthenticated ?? 0;
    assert.equal(await outcome(stage.signIn(address, null, code)), 'rate_limited');
    await stage.pass(3_601);
  }
  assert.equal(wrong, 30);
});

test('of a million guesses in an hour ten are looked at', async () => {
  console.log(`# guesses: seed ${testSeed}`);
  const random = createRandom(testSeed);
  const address = someone();
  await stage.ask(address);
  const anyCode = () => String(Math.floor(random() * 1_000_000)).padStart(6, '0');
  const total = sampledRuns(1_000_000, 2_000);
  const atOnce = 50;
  let looked = 0;
  for (let made = 0; made < total; made += atOnce) {
    const guesses = Array.from({ length: atOnce }, () =>
      outcome(stage.signIn(address, null, anyCode())),
    );
    const { rate_limited: refused = 0 } = tally(await Promise.all(guesses));
    looked += atOnce - refused;
  }
  assert.equal(looked, 10);
});

test('a stranger uses up neither the tries of a challenge nor those of a cookie', async () => {
  const { address, challengeId, code } = await asked();
  for (let index = 0; index < 12; index += 1) {
    await stage.signIn(address, null, wrongCode(code, index + 1));
  }
  await stage.pass(61);
  const strangers = await stage.ask(address, { network: '203.0.113.99' });
  for (let index = 0; index < 6; index += 1) {
    await stage.signIn(address, strangers, wrongCode(code, index + 20));
  }
  assert.equal(await outcome(stage.signIn(address, null, code)), 'rate_limited');
  const byCookie = {
    aim: 'sign_in',
    address,
    challengeId: null,
    cookieChallengeId: challengeId,
  } as const;
  assert.equal(await outcome(stage.guess(byCookie, code)), 'right');
  assert.equal(await outcome(stage.signIn(address, challengeId, code)), 'right');
});

test('a resend keeps the code before it, and the one before that is over', async () => {
  const { address, challengeId, code: first } = await asked();
  const codes = [first];
  for (let index = 0; index < 2; index += 1) {
    await stage.pass(61);
    assert.equal(await stage.ask(address, { challengeId }), challengeId);
    codes.push(stage.codeTo(address));
  }
  const [oldest = '', former = '', newest = ''] = codes;
  assert.equal(new Set(codes).size, 3, 'chance made two codes alike: run it again');
  for (const named of [challengeId, null]) {
    assert.equal(await outcome(stage.signIn(address, named, oldest)), 'unauthenticated');
    assert.equal(await outcome(stage.signIn(address, named, former)), 'right');
    assert.equal(await outcome(stage.signIn(address, named, newest)), 'right');
  }
});

test('whoever asks without the challenge gets one of its own, and both are good', async () => {
  const { address, challengeId, code } = await asked();
  await stage.pass(61);
  const other = await stage.ask(address, { network: '203.0.113.5' });
  const otherCode = stage.codeTo(address);
  assert.notEqual(other, challengeId);
  assert.equal(await outcome(stage.signIn(address, other, code)), 'unauthenticated');
  assert.equal(await outcome(stage.signIn(address, challengeId, otherCode)), 'unauthenticated');
  assert.equal(await outcome(stage.signIn(address, null, code)), 'right');
  assert.equal(await outcome(stage.signIn(address, null, otherCode)), 'right');
});

test('a challenge of somebody else, another address or another aim is not added to', async () => {
  const { challengeId } = await asked();
  assert.notEqual(await stage.ask(someone(), { challengeId }), challengeId);
  const { address, challengeId: own } = await asked();
  await stage.pass(61);
  assert.notEqual(await stage.ask(address, { challengeId: own, aim: 'reset' }), own);
  assert.equal(await outcome(stage.signIn(address, challengeId, '000000')), 'unauthenticated');
});

test('a challenge whose guesses are spent gets no further code', async () => {
  const { address, challengeId, code } = await asked();
  for (let index = 0; index < 5; index += 1) {
    await stage.signIn(address, challengeId, wrongCode(code, index + 1));
  }
  await stage.pass(61);
  assert.notEqual(await stage.ask(address, { challengeId }), challengeId);
});

test('a code is good for ten minutes', async () => {
  const { address, challengeId, code } = await asked();
  await stage.pass(595);
  assert.equal(await outcome(stage.signIn(address, challengeId, code)), 'right');
  await stage.pass(6);
  assert.equal(await outcome(stage.signIn(address, challengeId, code)), 'unauthenticated');
  assert.equal(await outcome(stage.signIn(address, null, code)), 'unauthenticated');
});

test('a code that verifies is of its account alone, and of no sign-in', async () => {
  const address = someone();
  const [mine, other] = ['acc_mine', 'acc_other'];
  await stage.ask(address, { aim: 'verify', accountId: mine });
  const code = stage.codeTo(address);
  const byAccount = (accountId: string) => outcome(stage.guess({ aim: 'verify', accountId }, code));
  assert.equal(await byAccount(other), 'unauthenticated');
  assert.equal(await outcome(stage.signIn(address, null, code)), 'unauthenticated');
  assert.equal(await byAccount(mine), 'right');
  const wrong = wrongCode(code);
  for (let index = 0; index < 5; index += 1) {
    const guess = stage.guess({ aim: 'verify', accountId: mine }, wrong);
    assert.equal(await outcome(guess), 'unauthenticated');
  }
  assert.equal(await byAccount(mine), 'rate_limited');
});
