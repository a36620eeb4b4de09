// The mailbox of development mode: newest first, bounded, and one message for one mail.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMailbox } from '../../../actors/mail/mailbox.ts';

const message = (index: number, to = `u${index % 2}@example.com`) => ({
  id: `mail_${index}`,
  to,
  subject: 'S',
  text: 'T',
  html: 'H',
  at: new Date(index).toISOString(),
});
const ids = (messages: { id: string }[]) => messages.map(({ id }) => id);

test('it keeps the newest 500, newest first, and tells those of one address', () => {
  const mailbox = createMailbox(500);
  for (let index = 0; index < 600; index += 1) mailbox.put(message(index));
  const all = mailbox.list(null);
  assert.equal(all.length, 500);
  assert.deepEqual([all[0]?.id, all.at(-1)?.id], ['mail_599', 'mail_100']);
  assert.deepEqual(ids(mailbox.list('u1@example.com')).slice(0, 2), ['mail_599', 'mail_597']);
  assert.deepEqual(mailbox.list('u2@example.com'), []);
  mailbox.clear();
  assert.deepEqual(mailbox.list(null), []);
});

test('a mail that is sent again stands there once', () => {
  const mailbox = createMailbox(500);
  for (const index of [1, 2, 1]) mailbox.put(message(index));
  assert.deepEqual(ids(mailbox.list(null)), ['mail_1', 'mail_2']);
});
