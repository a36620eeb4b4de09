// Many rounds of a database that goes away under load of every format: killed, shut down as an
// administrator does it, or hanging. What had begun is settled, what came meanwhile is refused.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf } from '../../bench/proc.ts';
import { progress, startLoad } from '../chaos/load.ts';
import { openRunning, settleAccounts } from '../chaos/outage.ts';
import { cleanUp, openGateway } from '../chaos/reach.ts';
import { openChance } from '../chaos/seed.ts';
import type { Gateway } from '../harness/gateway.ts';
import { recorded, roundsOf, say } from './record.ts';

const ROUNDS = 18;
const CLIENTS = 16;
const HANG_MS = 2_000;
/** A server that ends more than ten times a minute is given up, on purpose. */
const ROUND_MS = 6_500;
const outages = ['killed', 'shut down', 'hanging'] as const;
type Outage = (typeof outages)[number];

after(cleanUp);

async function bring(gateway: Gateway, outage: Outage): Promise<void> {
  const postmaster = await gateway.postmasterPid();
  if (outage === 'killed') process.kill(postmaster, 'SIGKILL');
  // A fast shutdown: PostgreSQL ends its sessions and exits.
  if (outage === 'shut down') process.kill(postmaster, 'SIGINT');
  if (outage !== 'hanging') return;
  const pids = [postmaster, ...descendantsOf(postmaster)];
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await sleep(HANG_MS);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
}

interface Round {
  outage: Outage;
  /** From the outage's beginning to the next good answer. */
  backMs: number;
  calls: number;
  refused: number;
}

test('a database that goes away many times under load of every format loses no money', async () => {
  const frame = {
    name: 'long-database',
    title: 'Outages of the database under load of every format',
    method:
      `${CLIENTS} clients call without a pause, twelve streams end while the database is away. ` +
      'After each round the streams are settled, everybody else was told 503 with Retry-After, ' +
      'their keys run again, every charge told is in the ledger once, and nothing stays held.',
  };
  await recorded(frame, async () => {
    const chance = openChance('database');
    const gateway = await openGateway();
    const main = await gateway.mainPid();
    const rounds: Round[] = [];
    const total = roundsOf(ROUNDS);
    while (rounds.length < total) {
      const next = sleep(ROUND_MS);
      const outage = outages[rounds.length % outages.length] ?? 'killed';
      const load = startLoad(gateway, chance, CLIENTS, 'every format');
      await progress(load, 20, 15_000);
      const name = `round-${rounds.length}`;
      const open = await openRunning(gateway, 12, '[[sim tokens=20 gap_ms=50]]', name);
      await sleep(chance.integer(0, 900));
      const begun = performance.now();
      await bring(gateway, outage);
      await sleep(100);
      await progress(load, 1, 20_000);
      const backMs = performance.now() - begun;
      await progress(load, 20, 20_000);
      await load.stop();
      const refused = await settleAccounts(gateway, await Promise.all(open), load);
      rounds.push({ outage, backMs, calls: load.spoken.length + open.length, refused });
      say(
        `${rounds.length} of ${total}: ${outage}, answers again after ${Math.round(backMs)} ms, ` +
          `${load.spoken.length} calls, ${refused} refused`,
      );
      await next;
    }
    assert.equal(await gateway.mainPid(), main, 'no other process was restarted');
    const sum = (read: (round: Round) => number) =>
      rounds.reduce((all, round) => all + read(round), 0).toLocaleString('en-US');
    return {
      columns: ['figure', 'value'],
      rows: [
        ['rounds', String(rounds.length)],
        ['calls', sum(({ calls }) => calls)],
        ['refused and repeated', sum(({ refused }) => refused)],
      ],
      bars: [
        {
          text: 'rounds whose books were right',
          limit: total,
          measured: rounds.length,
          unit: '',
          sense: 'least',
        },
      ],
      chart: {
        title: 'From the outage of the database to the next answer',
        unit: `milliseconds, the slowest of the rounds; hanging lasts ${HANG_MS} of them`,
        rows: outages.map((outage) => ({
          label: outage,
          value: Math.max(
            0,
            ...rounds.filter((round) => round.outage === outage).map(({ backMs }) => backMs),
          ),
        })),
      },
      notes: [],
    };
  });
});
