// Twenty rounds of kill -9 under load of every format and of background responses; every third one
// takes everything down at once, as if the machine had lost its power.
import { after, test } from 'node:test';
import { cleanUp } from '../chaos/reach.ts';
import { killRounds, slowestMs, type Victim } from '../chaos/rounds.ts';
import { recorded, roundsOf } from './record.ts';

const ROUNDS = 20;

after(cleanUp);

test('kill -9 under load of every format leaves right books and loses no charge', async () => {
  const victims = Array.from(
    { length: roundsOf(ROUNDS) },
    (_, round): Victim => (round % 3 === 2 ? 'everything' : 'main'),
  );
  const frame = {
    name: 'long-kill',
    title: 'kill -9 under load of every format',
    method:
      '24 clients call without a pause: four formats, streamed and whole, background responses, ' +
      'four families and a managed route. After each kill nothing stays held, every lost key ' +
      'runs again or is replayed, every charge told is in the ledger once, the books are right.',
  };
  await recorded(frame, async () => {
    const rounds = await killRounds(victims, 'every format');
    const sum = (read: (round: (typeof rounds)[number]) => number) =>
      rounds.reduce((total, round) => total + read(round), 0).toLocaleString('en-US');
    return {
      columns: ['figure', 'value'],
      rows: [
        ['rounds', String(rounds.length)],
        ['calls', sum(({ calls }) => calls)],
        ['calls lost and repeated', sum(({ repeated }) => repeated)],
        ['receipts compared with the ledger', String(rounds.at(-1)?.receipts ?? 0)],
      ],
      bars: [
        {
          text: 'rounds whose books were right',
          limit: victims.length,
          measured: rounds.length,
          unit: '',
          sense: 'least',
        },
      ],
      chart: {
        title: 'From kill -9 to ready again',
        unit: 'milliseconds, the slowest of the rounds',
        rows: (['main', 'everything'] as const).map((victim) => ({
          label: victim === 'main' ? 'main process' : 'everything at once',
          value: slowestMs(rounds.filter((_, index) => victims[index] === victim)),
        })),
      },
      notes: [],
    };
  });
});
