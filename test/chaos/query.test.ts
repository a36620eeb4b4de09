// kill -9 under queries: no key is charged twice, and every charge that was told is in the ledger.
import { after, test } from 'node:test';
import { queryRounds } from './query-rounds.ts';
import { cleanUp } from './reach.ts';

// slow: It kills and restarts real processes.

after(cleanUp);

test('kill -9 under queries with keys: none is charged twice, no told charge is lost', async () => {
  const rounds = await queryRounds(['main', 'everything']);
  console.log(`# ${rounds.at(-1)?.receipts} receipts`);
});
