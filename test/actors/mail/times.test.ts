// Mails and time: codes that expire, a server that is away for an hour, stops, sweeps, and what is
// kept of them afterwards.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readMailCounts } from '../../../db/mails.ts';
import { type MailBed, type MailProcess, minutesFromNow, openMailBed } from './bed.ts';

let bed: MailBed;
let process: MailProcess;
before(async () => {
  bed = await openMailBed();
  process = bed.process();
});
after(() => bed?.close());

let count = 0;
const someone = (fault = '') => {
  count += 1;
  return `${fault === '' ? '' : `${fault}+`}bert${count}@example.com`;
};
const receivedFor = (to: string) => bed.smtp.received.filter((mail) => mail.to === to);

test('a mail whose code has expired is not sent', async () => {
  const to = someone();
  const id = await bed.write(to, { expiresAt: minutesFromNow(10) });
  await bed.pass(id, 601);
  await process.deliver(id);
  assert.equal((await bed.row(id)).attempts, 0);
  await process.sweep();
  const row = await bed.row(id);
  assert.deepEqual([row.state, row.last_error, row.sealed], ['failed', 'expired', null]);
  assert.equal(receivedFor(to).length, 0);
});

test('a mail is not kept for a try that would come after its code', async () => {
  const id = await bed.write(someone('defer'), { expiresAt: minutesFromNow(10) });
  let tries = 0;
  while ((await bed.row(id)).state === 'queued') {
    await process.deliver(id);
    tries += 1;
    await bed.pass(id, (await bed.row(id)).waits_s + 0.001);
  }
  const row = await bed.row(id);
  assert.deepEqual([tries, row.state, row.last_error], [6, 'failed', 'deferred 451 4.3.0']);
});

test('an attempt ends with its code: what is told late is not told at all', async () => {
  const to = someone('stall');
  const id = await bed.write(to, { expiresAt: new Date(Date.now() + 300) });
  const before = performance.now();
  await process.deliver(id);
  assert.ok(performance.now() - before < 5_000, 'long before the deadline of an attempt');
  const row = await bed.row(id);
  assert.deepEqual([row.state, row.last_error], ['failed', 'timeout']);
  assert.equal(receivedFor(to).length, 0);
});

/** Sweeps through so many seconds, in steps from one due time to the next. */
async function sweepThrough(ids: string[], seconds: number): Promise<void> {
  for (let left = seconds; left > 0; ) {
    await process.sweep();
    const rows = await Promise.all(ids.map((id) => bed.row(id)));
    const waits = rows.filter(({ state }) => state === 'queued').map(({ waits_s }) => waits_s);
    const step = Math.max(0.01, Math.min(...waits, left));
    for (const id of ids) await bed.pass(id, step);
    left -= step;
  }
}

test('a server that is away most of an hour: notices come late, codes do not come', async () => {
  await bed.smtp.away();
  const [code, notice] = [someone(), someone()];
  const codeId = await bed.write(code, { expiresAt: minutesFromNow(10) });
  const noticeId = await bed.write(notice, { mail: { template: 'password_changed' } });
  await sweepThrough([codeId, noticeId], 3_000);
  assert.equal((await bed.row(codeId)).state, 'failed');
  assert.equal((await bed.row(noticeId)).last_error, 'unreachable');
  await bed.smtp.back();
  await sweepThrough([noticeId], 600);
  assert.equal((await bed.row(noticeId)).state, 'sent');
  assert.equal(receivedFor(code).length, 0);
  assert.equal(receivedFor(notice).length, 1);
});

test('after an hour without a server a mail is given up', async () => {
  await bed.smtp.away();
  const id = await bed.write(someone(), { mail: { template: 'password_changed' } });
  await sweepThrough([id], 3_600);
  await bed.smtp.back();
  const row = await bed.row(id);
  assert.deepEqual([row.state, row.attempts, row.last_error], ['failed', 8, 'unreachable']);
});

test('the round finds mails that nobody was told of, and those whose wait is over', async () => {
  const [lost, put, off] = await Promise.all([
    bed.write(someone()),
    bed.write(someone('defer')),
    bed.write(someone('defer')),
  ]);
  await process.deliver(put);
  await process.deliver(off);
  await bed.pass(put, 6);
  const due = await process.sweep();
  assert.deepEqual(due.sort(), [lost, put].sort());
  assert.equal((await bed.row(lost)).state, 'sent');
  assert.equal((await bed.row(put)).attempts, 2);
});

test('a stop calls off what the server cannot have taken, as if it never was', async () => {
  const to = someone('stall');
  const id = await bed.write(to);
  const stopping = new AbortController();
  const delivered = process.deliver(id, stopping.signal);
  while (!bed.smtp.asked.has(to)) await new Promise((resolve) => setTimeout(resolve, 5));
  stopping.abort();
  await delivered;
  const row = await bed.row(id);
  assert.deepEqual([row.state, row.attempts, row.doubts], ['queued', 0, 0]);
  assert.ok(row.waits_s <= 0, 'it is due at once');
  await bed.sql`DELETE FROM mails WHERE id = ${id}`;
});

test('a stop waits for the answer to a mail that is told whole', async () => {
  const to = someone('hold');
  const id = await bed.write(to);
  const stopping = new AbortController();
  const delivered = process.deliver(id, stopping.signal);
  await bed.smtp.receivedFor(to);
  stopping.abort();
  bed.smtp.letGo();
  await delivered;
  assert.equal((await bed.row(id)).state, 'sent');
});

test('mails are kept a day, failed ones a week', async () => {
  const sent = await bed.write(someone());
  const failed = await bed.write(someone('refuse'));
  await process.deliver(sent);
  await process.deliver(failed);
  const before = await readMailCounts(bed.sql);
  assert.match(before.lastError?.text ?? '', /^refused 550/);
  const left = async () => {
    await bed.forget();
    const rows = await bed.sql<{ id: string }[]>`SELECT id FROM mails`;
    return [sent, failed].map((id) => rows.some((row) => row.id === id));
  };
  const day = 86_400;
  for (const id of [sent, failed]) await bed.pass(id, day - 60);
  assert.deepEqual(await left(), [true, true]);
  for (const id of [sent, failed]) await bed.pass(id, 120);
  assert.deepEqual(await left(), [false, true]);
  await bed.pass(failed, 6 * day - 120);
  assert.deepEqual(await left(), [false, true]);
  await bed.pass(failed, 120);
  assert.deepEqual(await left(), [false, false]);
});

test('nothing that was logged names whom a mail is for, or what is in it', () => {
  const text = bed.logged.join('\n');
  assert.match(text, /deferred 451/);
  assert.doesNotMatch(text, /bert|example\.com|482913|Try again|Nobody/);
});
