// Mails against a server that does what servers do: what it takes, puts off, refuses, forgets to
// answer, and how often each mail comes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freeMails } from '../../../db/mails.ts';
import {
  type MailBed,
  type MailProcess,
  minutesFromNow,
  newMasterKey,
  openMailBed,
} from './bed.ts';

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
  return `${fault === '' ? '' : `${fault}+`}anna${count}@example.com`;
};
const receivedFor = (to: string) => bed.smtp.received.filter((mail) => mail.to === to);

/** Tries and waits until the mail is over; returns how long the waits were, in seconds. */
async function untilOver(id: string, by = process): Promise<number[]> {
  const waits: number[] = [];
  for (;;) {
    await by.deliver(id);
    const { state, waits_s } = await bed.row(id);
    if (state !== 'queued') return waits;
    waits.push(Math.round(waits_s));
    await bed.pass(id, waits_s + 0.001);
    assert.ok(waits.length < 20, 'it ends');
  }
}

test('a mail comes as text and HTML, and its row forgets what was in it', async () => {
  const to = someone();
  const id = await bed.write(to, { expiresAt: minutesFromNow(10) });
  await process.deliver(id);
  const [mail] = receivedFor(to);
  assert.ok(mail !== undefined);
  assert.equal(mail.from, 'mail@tollgate.test');
  assert.deepEqual(mail.parsed.from, { name: 'Tollgäte, Inc.', address: 'mail@tollgate.test' });
  assert.equal(mail.parsed.to?.[0]?.address, to);
  assert.equal(mail.parsed.messageId, `<${id}@tollgate.test>`);
  assert.match(mail.parsed.text ?? '', /^ {4}482913$/m);
  assert.match(mail.parsed.html ?? '', />482913</);
  assert.doesNotMatch(mail.parsed.subject ?? '', /482913/);
  const headers = new Map(mail.parsed.headers.map(({ key, value }) => [key, value]));
  assert.equal(headers.get('auto-submitted'), 'auto-generated');
  const row = await bed.row(id);
  assert.equal(row.state, 'sent');
  assert.equal(row.sealed, null);
  assert.equal(row.doubts, 0);
  await process.deliver(id);
  assert.equal(receivedFor(to).length, 1, 'once');
});

test('what waits is sealed, for its own row alone', async () => {
  const to = someone();
  const id = await bed.write(to);
  const dump = JSON.stringify(await bed.sql`SELECT mails::text AS text FROM mails`);
  assert.doesNotMatch(dump, /482913|anna|example/);
  const other = await bed.write(someone());
  await bed.sql`UPDATE mails SET sealed = (SELECT sealed FROM mails WHERE id = ${id})
    WHERE id = ${other}`;
  await process.deliver(other);
  assert.equal((await bed.row(other)).last_error, 'unreadable');
});

test('a mail under the key before it goes out, one under another does not', async () => {
  const newer = newMasterKey();
  const first = await bed.write(someone());
  await bed.process({ masterKeys: [newer, bed.masterKey] }).deliver(first);
  assert.equal((await bed.row(first)).state, 'sent');
  const second = await bed.write(someone());
  await bed.process({ masterKeys: [newer] }).deliver(second);
  const { state, last_error } = await bed.row(second);
  assert.deepEqual([state, last_error], ['failed', 'unreadable']);
});

for (const [fault, error] of [
  ['defer', 'deferred 451 4.3.0'],
  ['defer-data', 'deferred 452 4.2.2'],
  ['cut', 'lost'],
]) {
  test(`a server that says ${fault} is asked eight times in an hour`, async () => {
    const to = someone(fault);
    const id = await bed.write(to);
    const waits = await untilOver(id);
    assert.deepEqual(waits, [5, 15, 45, 120, 300, 900, 1_800]);
    const row = await bed.row(id);
    assert.equal(row.state, 'failed');
    assert.equal(row.attempts, 8);
    assert.equal(row.last_error, error);
    assert.equal(row.sealed, null);
    assert.equal(bed.smtp.asked.get(to), 8);
  });
}

for (const [fault, error] of [
  ['refuse', 'refused 550 5.1.1'],
  ['refuse-data', 'refused 554 5.7.1'],
]) {
  test(`a server that says ${fault} is asked once`, async () => {
    const to = someone(fault);
    const id = await bed.write(to);
    assert.deepEqual(await untilOver(id), []);
    const row = await bed.row(id);
    assert.deepEqual([row.state, row.last_error], ['failed', error]);
    assert.equal(bed.smtp.asked.get(to), 1);
  });
}

test('a server that falls silent is given up in time, and tried again', async () => {
  const hasty = bed.process({ limits: { silenceMs: 150, attemptMs: 300 } });
  const id = await bed.write(someone('stall'));
  await hasty.deliver(id);
  const row = await bed.row(id);
  assert.deepEqual([row.state, row.last_error, row.doubts], ['queued', 'timeout', 0]);
});

for (const fault of ['cut-after-data', 'stall-after-data']) {
  test(`${fault}: one extra copy at most, with the same id`, async () => {
    const hasty = bed.process({ limits: { silenceMs: 150, attemptMs: 300 } });
    const to = someone(fault);
    const id = await bed.write(to);
    assert.deepEqual(await untilOver(id, hasty), [5]);
    const row = await bed.row(id);
    assert.deepEqual([row.state, row.last_error], ['failed', 'unanswered']);
    const [first, second, ...more] = receivedFor(to);
    assert.equal(more.length, 0);
    assert.equal(first?.parsed.messageId, second?.parsed.messageId);
  });
}

test('a process that died in its attempts leaves one extra copy at most', async () => {
  const id = await bed.write(someone());
  // A transport that never comes back is a process that is gone.
  const dying = (name: string) => {
    return bed.process({
      name,
      transport: { send: () => new Promise(() => undefined), close: () => undefined },
    });
  };
  void dying('first').deliver(id);
  while ((await bed.row(id)).attempts < 1);
  await process.deliver(id);
  assert.equal((await bed.row(id)).attempts, 1, 'nobody else tries meanwhile');
  await freeMails(bed.sql, ['another']);
  await process.deliver(id);
  assert.equal((await bed.row(id)).attempts, 1, 'nor for the death of others');
  await freeMails(bed.sql, ['first']);
  void dying('second').deliver(id);
  while ((await bed.row(id)).attempts < 2);
  await freeMails(bed.sql, null);
  await process.sweep();
  const row = await bed.row(id);
  assert.deepEqual([row.state, row.last_error, row.attempts], ['failed', 'crashed', 2]);
});
