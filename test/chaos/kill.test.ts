// kill -9 under load: of the main process, and of everything at once. Money is as clients were
// told.
import { after, test } from 'node:test';
import { cleanUp } from './reach.ts';
import { killRounds, slowestMs } from './rounds.ts';

// slow: It kills and restarts real processes.

after(cleanUp);

test('kill -9 under load: the books are right, and no charge that was told is lost', async () => {
  const rounds = await killRounds(['main', 'everything']);
  console.log(`# ready again after at most ${Math.round(slowestMs(rounds))} ms`);
});
