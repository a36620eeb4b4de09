// A crowd of background responses with readers that come, leave, resume, cancel and delete at
// random: every reader's bytes are right, and nothing is left behind.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import { type Chance, openChance } from '../../chaos/seed.ts';
import type { TestAccount } from '../../harness/account.ts';
import {
  askResponses,
  callResponses,
  endOf,
  eventsOf,
  firstEvents,
  startBackground,
  streamOf,
} from '../../harness/responses.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

const crowd = 60;
let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ own: 'it counts all that runs' });
  account = await bed.account();
});
after(() => bed?.close());

async function detachedCount(): Promise<number> {
  const headers = { 'x-svc-session': bed.dev.admin_session_token };
  const status = (await (await fetch(`${bed.url}/api/admin/status`, { headers })).json()) as {
    detached_generations: number;
  };
  return status.detached_generations;
}

/** What one reader saw, and which event it began behind. */
interface Seen {
  after: number;
  events: string[];
}

/** Reads some events, leaves, and comes back behind the last one, until the end. */
async function readInPieces(id: string, chance: Chance): Promise<Seen> {
  const start = chance.integer(0, 5);
  const events: string[] = [];
  for (let visit = chance.integer(0, 3); visit > 0; visit -= 1) {
    const from = start + events.length;
    const response = await callResponses(account, `/${id}?stream=true&starting_after=${from}`);
    const wanted = chance.integer(1, 4);
    events.push(...(await firstEvents(response, wanted, { mayEnd: true })));
  }
  events.push(...eventsOf(await streamOf(account, id, start + events.length)));
  return { after: start, events };
}

async function one(chance: Chance): Promise<void> {
  const tokens = chance.integer(1, 60);
  const gapMs = chance.integer(0, 8);
  const fault = chance.pick(['', '', '', ` fault=cut at=${chance.integer(0, 20)}`]);
  const text = `[[sim tokens=${tokens} gap_ms=${gapMs} first_ms=${chance.integer(0, 30)}${fault}]]`;
  const { id } = await startBackground(account, text);
  const readers = Array.from({ length: chance.integer(0, 3) }, () => readInPieces(id, chance));
  if (chance.integer(0, 3) === 0) {
    await new Promise((resolve) => setTimeout(resolve, chance.integer(0, 200)));
    await askResponses(account, `/${id}/cancel`, {});
  }
  const seen = await Promise.all(readers);
  const ended = await endOf(account, id);
  assert.ok(['completed', 'failed', 'cancelled'].includes(ended.status), ended.status);
  const whole = eventsOf(await streamOf(account, id));
  for (const { after: number, events } of seen) {
    assert.deepEqual(events, whole.slice(number + 1), `${id} after ${number}`);
  }
  if (chance.integer(0, 1) === 0) {
    const deleted = await askResponses(account, `/${id}`, undefined, { method: 'DELETE' });
    assert.equal(deleted.status, 200);
  }
}

test('a crowd of readers, leavers and cancels', async () => {
  const chance = openChance('a crowd of background responses');
  await Promise.all(Array.from({ length: crowd }, () => one(chance)));
  await account.quiet();
  assert.equal(await detachedCount(), 0);
  await bed.simulator.expect({ open: 0 });
  const broken = (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
  const running = await bed.sql`SELECT id FROM generations WHERE status = 'running'`;
  assert.equal(running.length, 0);
});
