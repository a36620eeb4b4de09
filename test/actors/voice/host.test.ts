// The host of a shard's sessions, with sessions that are nothing but their money: which usage is
// written down, how often, and what becomes of what could not be written.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { VoiceHost } from '../../../actors/voice/host.ts';
import { voiceLimits } from '../../../actors/voice/limits.ts';
import type { VoiceSession } from '../../../actors/voice/state.ts';
import type { SessionCheckpoint } from '../../../db/voice/sessions.ts';
import { createLog } from '../../../runtime/log.ts';

type Write = (rows: readonly SessionCheckpoint[]) => ReadonlyMap<string, boolean>;

const log = createLog({ level: 'silent', base: {}, sync: true });
const allWritten: Write = (rows) => new Map(rows.map(({ id }) => [id, true]));

interface Stand {
  host: VoiceHost;
  /** Ids of each statement. */
  written: string[][];
  lost: VoiceSession[];
  /** What the next statements do. */
  answers: Write[];
}

function stand(t: TestContext): Stand {
  const written: string[][] = [];
  const lost: VoiceSession[] = [];
  const answers: Write[] = [];
  const host = new VoiceHost({
    sessionsMax: 10_000,
    pace: () => false,
    watch: () => {},
    stoodStill: () => {},
    fault: () => {},
    async checkpoint(rows) {
      written.push(rows.map(({ id }) => id));
      return (answers.shift() ?? allWritten)(rows);
    },
    lost: (session) => void lost.push(session),
    log,
  });
  // Written when the test says so, not by the clock.
  host.stop();
  t.after(() => host.stop());
  return { host, written, lost, answers };
}

function add({ host }: Stand, id: string, state = 'held', phase = 'live'): VoiceSession {
  const usage = {};
  const funds = { state, dirty: true, usage, dueMicros: 5n, dueProviderMicros: 4n };
  const session = { spec: { id }, phase, funds } as unknown as VoiceSession;
  host.add(session);
  return session;
}

test('usage is written once for each change, of sessions that hold something', async (t) => {
  const at = stand(t);
  const session = add(at, 'one');
  add(at, 'asks', 'asked');
  add(at, 'is over', 'held', 'over');
  await at.host.checkpoint();
  await at.host.checkpoint();
  session.funds.dirty = true;
  await at.host.checkpoint();
  assert.deepEqual(at.written, [['one'], ['one']]);
  at.host.remove(session);
  session.funds.dirty = true;
  await at.host.checkpoint();
  assert.equal(at.written.length, 2);
});

test('many sessions are written in several statements, none of them twice', async (t) => {
  const at = stand(t);
  const { checkpointRowsMax } = voiceLimits;
  const ids = Array.from({ length: 2 * checkpointRowsMax + 1 }, (_, index) => `vs_${index}`);
  for (const id of ids) add(at, id);
  await at.host.checkpoint();
  assert.deepEqual(at.written.flat(), ids);
  assert.deepEqual(
    at.written.map(({ length }) => length),
    [checkpointRowsMax, checkpointRowsMax, 1],
  );
});

test('what others are writing, and what failed, is written the next time', async (t) => {
  const at = stand(t);
  const [one, two] = [add(at, 'one'), add(at, 'two')];
  at.answers.push(
    () =>
      new Map([
        ['one', true],
        ['two', false],
      ]),
    () => {
      throw new Error('the database is away');
    },
  );
  for (let time = 0; time < 4; time += 1) await at.host.checkpoint();
  assert.deepEqual(at.written, [['one', 'two'], ['two'], ['two']]);
  assert.deepEqual([one.funds.dirty, two.funds.dirty, at.lost.length], [false, false, 0]);
});

test('a session whose row has ended is told, and no other', async (t) => {
  const at = stand(t);
  add(at, 'one');
  const two = add(at, 'two');
  at.answers.push(() => new Map([['one', true]]));
  await at.host.checkpoint();
  assert.deepEqual(at.lost, [two]);
});

test('a shard that ends has a place for nobody, also not for who was being let in', (t) => {
  const { host } = stand(t);
  assert.deepEqual([host.admit(), host.isFull], [true, false]);
  host.finishAll('server_draining');
  assert.deepEqual([host.admit(), host.isFull], [false, true]);
  host.leave();
  assert.equal(host.admit(), false);
});

test('two who write at once write once', async (t) => {
  const at = stand(t);
  add(at, 'one');
  await Promise.all([at.host.checkpoint(), at.host.checkpoint()]);
  assert.deepEqual(at.written, [['one']]);
});
