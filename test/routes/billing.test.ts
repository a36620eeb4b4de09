// The billing summary of an account that has much to add up, beside everybody else's requests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

const path = '/api/me/billing/summary';

test('summaries that take long leave others a connection, and all are answered', async () => {
  const { sessionToken } = await bed.account();
  const { apiKey } = await bed.account();
  const read = () => contract.call('GET', path, { headers: { 'x-svc-session': sessionToken } });
  assert.equal((await read()).status, 200);
  const { first, summaries } = await bed.sql.begin(async (lock) => {
    // What a summary reads last.
    await lock`LOCK TABLE purchases IN ACCESS EXCLUSIVE MODE`;
    const summaries = [read(), read(), read(), read()];
    // Nobody has looked this key up yet.
    const headers = { authorization: `Bearer ${apiKey}` };
    const other = contract.call('GET', '/v1/models', { headers });
    const named = (name: string) => () => name;
    const all = [other.then(named('other')), ...summaries.map((each) => each.then(named('own')))];
    return { first: await Promise.race(all), summaries };
  });
  assert.equal(first, 'other');
  for (const summary of summaries) assert.equal((await summary).status, 200);
});

test('a summary that waits for one shows what was done before it was asked for', async () => {
  const { sessionToken, walletId } = await bed.account();
  const read = () => contract.call('GET', path, { headers: { 'x-svc-session': sessionToken } });
  const noteOf = async (summary: ReturnType<typeof read>) => {
    const { grants } = (await summary).json as { grants: { note: string }[] };
    return grants[0]?.note;
  };
  const before = await noteOf(read());
  const summaries = await bed.sql.begin(async (lock) => {
    await lock`LOCK TABLE purchases IN ACCESS EXCLUSIVE MODE`;
    const first = read();
    for (let waiting = 0; waiting === 0; ) {
      const rows = await lock`SELECT 1 FROM pg_locks
        WHERE NOT granted AND relation = 'purchases'::regclass`;
      waiting = rows.length;
    }
    await bed.sql`UPDATE grants SET note = 'done since' WHERE wallet_id = ${walletId}`;
    return { first, others: [read(), read()] };
  });
  assert.equal(await noteOf(summaries.first), before);
  for (const other of summaries.others) assert.equal(await noteOf(other), 'done since');
});
