// Rounds of kill -9 under load on one data folder; the short test runs a few, the long one many
// with every format.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gateway } from '../harness/gateway.ts';
import { assertChargesTold, assertNothingHeld, limitKey, spentOf } from './books.ts';
import type { Told } from './client.ts';
import { type Kind, progress, repeatLost, startLoad } from './load.ts';
import { assertLedger, openGateway } from './reach.ts';
import { type Chance, openChance } from './seed.ts';

/** `main`: the parent starts it again. `everything`: as if the machine had lost its power. */
export type Victim = 'main' | 'everything';

export interface Round {
  /** From the kill to the next ready line. */
  readyMs: number;
  calls: number;
  /** Calls whose clients lost their answer and asked again. */
  repeated: number;
  /** Receipts of all rounds so far, compared with the ledger. */
  receipts: number;
}

const CLIENTS = 24;
/** The key is watched all the same, and the ledger check compares its counter. */
const neverMet = 1_000_000_000_000_000n;

async function killOnce(gateway: Gateway, victim: Victim): Promise<number> {
  const begun = performance.now();
  if (victim === 'main') await gateway.killMain();
  else {
    await gateway.killAll();
    await gateway.start();
  }
  return performance.now() - begun;
}

async function round(
  gateway: Gateway,
  victim: Victim,
  chance: Chance,
  told: Told[],
  kind: Kind,
): Promise<Round> {
  const load = startLoad(gateway, chance, CLIENTS, kind);
  await progress(load, 20, 15_000);
  await sleep(chance.integer(0, 700));
  const readyMs = await killOnce(gateway, victim);
  await progress(load, 20, 15_000);
  await load.stop();
  await assertNothingHeld(gateway, 5_000);
  const again = await repeatLost(gateway, load.spoken);
  told.push(...load.spoken.map((one) => one.told), ...again.map((one) => one.told));
  const receipts = await assertChargesTold(gateway, told);
  await assertLedger(gateway);
  console.log(
    `# ${victim} killed: ready after ${Math.round(readyMs)} ms, ${load.spoken.length} calls, ` +
      `${again.length} repeated, ${receipts} receipts`,
  );
  return { readyMs, calls: load.spoken.length, repeated: again.length, receipts };
}

/** Kills as often as there are victims, on the same data. */
export async function killRounds(
  victims: readonly Victim[],
  kind: Kind = 'chat',
): Promise<Round[]> {
  const chance = openChance('kill -9');
  const gateway = await openGateway();
  const { api_key: apiKey } = gateway.dev;
  const keyId = await limitKey(gateway, apiKey, neverMet);
  const told: Told[] = [];
  const rounds: Round[] = [];
  for (const victim of victims) {
    rounds.push(await round(gateway, victim, chance, told, kind));
    assert.equal(gateway.dev.api_key, apiKey, 'the account is the same');
  }
  assert.ok((await spentOf(gateway, keyId)) > 0n, 'what the check compares was counted');
  return rounds;
}

/** The longest time from a kill to the next ready line. */
export function slowestMs(rounds: readonly Round[]): number {
  return Math.max(0, ...rounds.map(({ readyMs }) => readyMs));
}
