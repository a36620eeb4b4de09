// Two hundred rounds of kill -9 under queries with keys. Most of them take everything down at once.
// The parent gives a process up that ends too often.
import { after, test } from 'node:test';
import { queryRounds } from '../chaos/query-rounds.ts';
import { cleanUp } from '../chaos/reach.ts';
import type { Victim } from '../chaos/rounds.ts';
import { recorded, roundsOf } from './record.ts';

const ROUNDS = 200;

after(cleanUp);

test('kill -9 under queries leaves right books and loses no charge', async () => {
  const victims = Array.from(
    { length: roundsOf(ROUNDS) },
    (_, round): Victim => (round % 3 === 2 ? 'main' : 'everything'),
  );
  const frame = {
    name: 'long-query',
    title: 'kill -9 under queries with idempotency keys',
    method:
      '16 clients ask four surfaces without a pause, found, empty, partial and failing. After ' +
      'each kill nothing stays held, every lost key is answered, every charge told is in the ' +
      'ledger once, what was answered is told again, the books are right.',
  };
  await recorded(frame, async () => {
    const rounds = await queryRounds(victims);
    const sum = (read: (round: (typeof rounds)[number]) => number) =>
      rounds.reduce((total, round) => total + read(round), 0).toLocaleString('en-US');
    return {
      columns: ['figure', 'value'],
      rows: [
        ['rounds', String(rounds.length)],
        ['queries', sum(({ asked }) => asked)],
        ['queries lost and asked again', sum(({ lost }) => lost)],
        ['receipts compared with the ledger', String(rounds.at(-1)?.receipts ?? 0)],
      ],
      bars: [
        {
          text: 'rounds whose books were right',
          limit: victims.length,
          measured: rounds.length,
          unit: '',
          sense: 'least' as const,
        },
      ],
      chart: null,
      notes: [],
    };
  });
});
