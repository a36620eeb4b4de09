// Erasing: not before its time, not while something runs, to the end whatever breaks on the way,
// and nothing of anybody else.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eraseAccount } from '../../../actors/personal-data/erasing.ts';
import { sweepErasures } from '../../../actors/personal-data/rounds.ts';
import { deleteAccount, restoreAccount } from '../../../db/erasure.ts';
import { BlobFault } from '../../../media/blobs/contract.ts';
import { listBlobs, openStage, type Stage } from './stage.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(() => stage?.close());

const never = new AbortController().signal;
const erase = (id: string, change: object = {}, signal = never) =>
  eraseAccount({ ...stage.deps, ...change }, id, signal);
const restore = (id: string) =>
  stage.sql.begin((transaction) => restoreAccount(transaction, id)) as Promise<boolean>;

async function standing(id: string) {
  const [row] = await stage.sql<{ erasing: boolean; erased: boolean; email: string | null }[]>`
    SELECT erasing_at IS NOT NULL AS erasing, erased_at IS NOT NULL AS erased, email
    FROM accounts WHERE id = ${id}`;
  return row;
}

/** What is left of an erased account: its id, where the books and the trail are. */
async function assertErased(id: string, generations: number): Promise<void> {
  assert.deepEqual(await standing(id), { erasing: true, erased: true, email: null });
  const rows = await stage.rowsWith(id);
  assert.deepEqual(rows, { accounts: 1, wallets: 1, generations, audit_events: 1 });
  for (const words of [`name of ${id}`, `label of ${id}`, `title of ${id}`, `${id}@`, `"${id}"`]) {
    assert.deepEqual(await stage.rowsWith(words), {}, words);
  }
}

test('an account is erased when its time is over, and can be restored until then', async () => {
  const id = await stage.account(3);
  const due: string[] = [];
  const look = () => sweepErasures(stage.sql, (each) => due.push(each), stage.deps.limits);
  assert.equal(await erase(id), 'waits', 'nobody deleted it');
  await stage.deleted(id, 13.99);
  await look();
  assert.equal(await erase(id), 'waits');
  assert.ok(!due.includes(id));
  assert.equal(await restore(id), true);
  assert.equal(await restore(id), false, 'it is restored');
  await stage.deleted(id, 14);
  await look();
  assert.ok(due.includes(id));
  assert.equal(await erase(id), 'erased');
  await assertErased(id, 3);
  assert.equal(await erase(id), 'waits', 'it is over');
  assert.equal(await restore(id), false);
});

test('an end between any two steps is gone on from, and others keep all of theirs', async () => {
  const [id, other] = [await stage.account(5), await stage.account(5)];
  const before = await stage.rowsWith(other);
  const blobsBefore = await listBlobs(stage.blobs);
  await stage.deleted(id, 15);
  let ends = 0;
  for (let turns = 1; ; turns += 1) {
    // Two rows a page: each run gets a little further than the one before, then it is cut.
    let left = turns;
    const signal = {
      throwIfAborted() {
        left -= 1;
        if (left < 0) throw new Error('killed');
      },
    } as AbortSignal;
    const limits = { ...stage.deps.limits, pageRowsMax: 2 };
    try {
      assert.equal(await erase(id, { limits }, signal), 'erased');
      break;
    } catch (error) {
      assert.equal((error as Error).message, 'killed');
      assert.equal((await standing(id))?.erased, false);
      assert.equal(await restore(id), false, 'the erasing has begun');
      ends += 1;
    }
  }
  assert.ok(ends >= 10, `${ends} ends`);
  await assertErased(id, 5);
  assert.deepEqual(await stage.rowsWith(other), before);
  assert.equal((await listBlobs(stage.blobs)).length, blobsBefore.length - 5);
});

test('several erase one account at once, and it is told once', async () => {
  const id = await stage.account(20);
  await stage.deleted(id, 15);
  const limits = { ...stage.deps.limits, pageRowsMax: 3 };
  await Promise.all([1, 2, 3].map(() => erase(id, { limits })));
  await assertErased(id, 20);
});

test('a file that cannot be removed keeps its row, and the account is not erased', async () => {
  const id = await stage.account(2);
  await stage.deleted(id, 15);
  const remove = async () => {
    throw new BlobFault('unreachable', 'the disk is away');
  };
  await assert.rejects(erase(id, { blobs: { remove } }), BlobFault);
  assert.equal((await stage.rowsWith(`title of ${id}`)).generated_videos, 2);
  assert.equal((await standing(id))?.erased, false);
  assert.equal(await erase(id), 'erased');
  await assertErased(id, 2);
});

test('nothing is erased while something of the account still runs', async () => {
  const id = await stage.account(1);
  await stage.deleted(id, 15);
  const [wallet] = await stage.sql<{ id: string }[]>`
    SELECT id FROM wallets WHERE account_id = ${id}`;
  await stage.sql`
    INSERT INTO holds (wallet_id, id, amount_micros, legs, owner_kind, owner_id, instance_id,
      claimed, expires_at)
    VALUES (${wallet?.id ?? ''}, ${`hold of ${id}`}, 0, '[]', 'generation', 'x', 'i', false,
      now())`;
  assert.equal(await erase(id), 'waits');
  assert.equal((await standing(id))?.erasing, false);
  assert.equal(await restore(id), true, 'and it can be undone meanwhile');
  await stage.deleted(id, 15);
  await stage.sql`DELETE FROM holds WHERE id = ${`hold of ${id}`}`;
  assert.equal(await erase(id), 'erased');
});

test('the last administrator stays one, and of two one may go', async () => {
  const [first, second] = [await stage.account(0), await stage.account(0)];
  await stage.sql`UPDATE accounts SET role = 'admin' WHERE id IN (${first}, ${second})`;
  const remove = (id: string) =>
    stage.sql.begin(async (transaction) => (await deleteAccount(transaction, id)).status);
  const both = await Promise.all([remove(first), remove(second)]);
  assert.deepEqual(both.sort(), ['barred', 'deleting']);
  assert.equal(await remove('acc_nobody'), 'not_found');
});
