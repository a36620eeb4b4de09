// Work of a start that the database did not do at once: repeated within its budget, and only that
// which may pass.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionError } from '../../../db/driver/connection.ts';
import { patiently } from '../../../db/driver/patience.ts';

const log = { warn: () => {} };
const options = { waitMs: 1 };

function failing(times: number, error: Error): { calls: number; work: () => Promise<string> } {
  const counted = {
    calls: 0,
    work: async () => {
      counted.calls += 1;
      if (counted.calls <= times) throw error;
      return 'done';
    },
  };
  return counted;
}

const coded = (code: string) => Object.assign(new Error(code), { code });

test('what a stalled server did not do is asked for again', async () => {
  for (const error of [connectionError('CONNECTION_CLOSED'), coded('57014'), coded('57P03')]) {
    const counted = failing(2, error);
    assert.equal(await patiently(counted.work, log, options), 'done');
    assert.equal(counted.calls, 3);
  }
});

test('what stays is thrown: after five times, or at once where it is no use', async () => {
  const lost = failing(9, connectionError('CONNECTION_CLOSED'));
  await assert.rejects(patiently(lost.work, log, options), /CONNECTION_CLOSED/);
  assert.equal(lost.calls, 5);
  for (const error of [coded('42P01'), coded('28P01'), new Error('the document is wrong')]) {
    const wrong = failing(9, error);
    await assert.rejects(patiently(wrong.work, log, options), error);
    assert.equal(wrong.calls, 1);
  }
});
