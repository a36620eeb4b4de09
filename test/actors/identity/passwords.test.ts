// Passwords through the actor of tasks and their own pool, with real threads and hashes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashSync, parseOptions, verifySync } from '@node-rs/argon2';
import pino from 'pino';
import { createHashing, passwordTask } from '../../../actors/identity/hashing.ts';
import { createPasswordLimits } from '../../../actors/identity/password-limits.ts';
import { createPasswords, passwordProblem } from '../../../actors/identity/passwords.ts';
import { createTasksKind, tasksId } from '../../../actors/tasks/tasks.ts';
import { renderProblem } from '../../../routes/problems.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { Problem } from '../../../runtime/problem.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { countTurns } from '../../harness/turns.ts';

const address = 'ada@example.com';
const good = 'correct horse battery';
const isOverloaded = (error: unknown) => error instanceof Problem && error.code === 'overloaded';

/** As the main thread and a shard have it, on one thread. */
function open(overrides: Partial<ReturnType<typeof createPasswordLimits>> = {}) {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const limits = { ...createPasswordLimits({ passwordThreads: 1 }), ...overrides };
  const hashing = createHashing(limits, log);
  const kind = createTasksKind({
    run: ({ name, payload }) => {
      assert.equal(name, passwordTask);
      return hashing.run(payload);
    },
  });
  const system = createActorSystem({ node: 0, kinds: [kind], log });
  const passwords = createPasswords(() => system.ref(kind, tasksId), limits);
  const close = async () => {
    await hashing.stop();
    await system.stop(100);
  };
  return { passwords, lines, close };
}

let shared: ReturnType<typeof open>;
let hash: string;
before(async () => {
  shared = open();
  const made = await shared.passwords.make(good, address);
  assert.ok(made.status === 'made');
  hash = made.hash;
});
after(() => shared.close());

test('a new password is hashed as the contract has it, each under its own salt', async () => {
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  const again = await shared.passwords.make(good, address);
  assert.ok(again.status === 'made' && again.hash !== hash);
  assert.equal(verifySync(again.hash, good), true);
});

test('what the rules forbid is told, and not hashed', async () => {
  const { passwords } = shared;
  assert.deepEqual(await passwords.make('too short', address), { status: 'too_short' });
  assert.deepEqual(await passwords.make('x'.repeat(129), address), { status: 'too_long' });
  assert.deepEqual(await passwords.make('Password123', address), { status: 'too_common' });
  assert.deepEqual(await passwords.make('where ADA lives', address), { status: 'too_common' });
});

test('a password is checked in every spelling of it, and in no other letters', async () => {
  const { passwords } = shared;
  const yes = { isRight: true, rehashed: null };
  const no = { isRight: false, rehashed: null };
  const made = await passwords.make('Zürich by night', address);
  assert.ok(made.status === 'made');
  for (const form of ['NFC', 'NFD', 'NFKD'] as const) {
    assert.deepEqual(await passwords.check('Zürich by night'.normalize(form), made.hash), yes);
  }
  assert.deepEqual(await passwords.check('Ｚürich by night', made.hash), yes);
  assert.deepEqual(await passwords.check('zürich by night', made.hash), no);
  assert.deepEqual(await passwords.check('', made.hash), no);
  assert.deepEqual(await passwords.check('Z'.repeat(2_000), made.hash), no);
  assert.deepEqual(await passwords.check('Zürich by night', null), no);
});

test('a hash with other parameters is made anew by the right password alone', async () => {
  const { passwords } = shared;
  const others = [{ memoryCost: 8_192 }, { timeCost: 3 }, { parallelism: 2 }, { algorithm: 1 }];
  for (const other of [...others, { outputLen: 24 }, { version: 0 }]) {
    const old = hashSync(good, { memoryCost: 19_456, timeCost: 2, parallelism: 1, ...other });
    const wrong = await passwords.check('wrong horse battery', old);
    assert.deepEqual(wrong, { isRight: false, rehashed: null });
    const { isRight, rehashed } = await passwords.check(good, old);
    assert.ok(isRight && rehashed !== null, JSON.stringify(other));
    const { saltLen, ...found } = parseOptions(rehashed);
    assert.equal(saltLen, 16);
    assert.deepEqual(found, parametersOf(hash));
    assert.deepEqual(await passwords.check(good, rehashed), { isRight: true, rehashed: null });
  }
});

function parametersOf(text: string) {
  const { saltLen: _, ...found } = parseOptions(text);
  return found;
}

test('of 70 at once some are refused in time, and all others answered', async () => {
  const { passwords, close } = open();
  const watch = startStopwatch();
  const outcomes = await Promise.all(
    Array.from({ length: 70 }, async (_, at) => {
      const checked = passwords.check(at % 2 === 0 ? good : 'wrong horse', hash);
      return await checked.then(
        ({ isRight }) => ({ isRight, tookMs: watch.elapsedMs() }),
        (error: unknown) => {
          assert.ok(isOverloaded(error), String(error));
          watch.assertWithin(3_500, 'a refusal');
          return null;
        },
      );
    }),
  );
  const refused = outcomes.filter((each) => each === null).length;
  // One runs, and 64 wait; on a slow machine some of them do so in vain.
  assert.ok(refused >= 5 && refused < 70, `${refused} refused`);
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome !== null) assert.equal(outcome.isRight, at % 2 === 0);
  }
  assert.equal((await passwords.check(good, hash)).isRight, true, 'there is room again');
  await close();
});

test('who waited too long is refused, and the hash that runs is finished', async () => {
  const { passwords, close } = open({ waitMs: 40 });
  const first = passwords.check(good, hash);
  const others = await Promise.allSettled(
    Array.from({ length: 60 }, () => passwords.check(good, hash)),
  );
  assert.equal((await first).isRight, true);
  const refused = others.filter((each) => each.status === 'rejected');
  assert.ok(refused.length > 0 && refused.every(({ reason }) => isOverloaded(reason)));
  await close();
});

test('a refusal is a 503 that says when to come again', async () => {
  const { passwords, close } = open({ queueLengthMax: 0 });
  const first = passwords.check(good, hash);
  const error = await passwords.check(good, hash).catch((refused: unknown) => refused);
  assert.ok(isOverloaded(error));
  const { status, headers } = renderProblem('/api/app/auth/login', error as Problem, 'req');
  assert.deepEqual([status, headers['retry-after']], [503, '1']);
  assert.equal((await first).isRight, true);
  await close();
  await assert.rejects(passwords.check(good, hash), isOverloaded, 'after the stop');
});

test('behind a refusal others are refused before anything is looked up, for a moment', async () => {
  const { passwords, close } = open({ queueLengthMax: 0, restMs: 50 });
  passwords.requireRoom();
  const first = passwords.check(good, hash);
  await assert.rejects(passwords.check(good, hash), isOverloaded);
  assert.throws(() => passwords.requireRoom(), isOverloaded);
  await first;
  await sleep(60);
  passwords.requireRoom();
  await close();
});

test('an unknown account takes as long as a wrong password', async () => {
  const { passwords } = shared;
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  const timed = async (name: keyof typeof times, stored: string | null) => {
    const startedAt = performance.now();
    await passwords.check('wrong horse battery', stored);
    times[name].push(performance.now() - startedAt);
  };
  for (let round = 0; round < 40; round += 1) {
    await timed('known', hash);
    await timed('unknown', null);
  }
  // The slower ones have what the rest of the machine takes.
  const quick = (all: number[]) => all.sort((one, other) => one - other)[all.length >> 2] ?? 0;
  const ratio = quick(times.known) / quick(times.unknown);
  assert.ok(ratio > 0.7 && ratio < 1.4, `known ${ratio.toFixed(2)} times unknown`);
});

test('no log and no error tells a password or a hash', async () => {
  const { passwords, lines, close } = open();
  const secrets = ['canary of a password', '$argon2id$v=19$m=19456,t=2,p=1$canary$canary'];
  const [password = '', broken = ''] = secrets;
  const error = await passwords.check(password, broken).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof Error && !(error instanceof Problem), 'a bug, not a refusal');
  await passwords.make('canary', address);
  await passwords.make(password, 'canary@example.com');
  assert.equal(lines.length, 1, 'the task that failed');
  assert.match(lines[0] ?? '', /password\.js.*a stored hash of a password cannot be read/);
  for (const told of [...lines, `${error.stack}`, JSON.stringify(error)]) {
    assert.ok(!told.includes('canary') && !told.includes('argon2id$'), told);
  }
  assert.equal((await passwords.check(good, hash)).isRight, true, 'the thread goes on');
  await close();
});

test('the thread that asks goes on meanwhile', async () => {
  const count = 10;
  const all = () =>
    Promise.all(Array.from({ length: count }, () => shared.passwords.check(good, hash)));
  const { turns } = await countTurns(all);
  assert.ok(turns > 20 * count, `${turns} turns`);
});

test('a refusal of the rules names the field and why', () => {
  for (const fault of ['too_short', 'too_long', 'too_common'] as const) {
    const problem = passwordProblem(fault, 'new_password');
    const { status, body } = renderProblem('/api/app/auth/register', problem, 'req');
    assert.equal(status, 400);
    const { error } = body as { error: { code: string; details: unknown } };
    assert.equal(error.code, 'invalid_request');
    assert.deepEqual(error.details, { path: 'new_password', reason: fault });
  }
});
