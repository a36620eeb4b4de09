// Rounds of kill -9 under queries with idempotency keys; the short test runs a few, the long one
// many. A client whose answer was lost asks again under its key.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import type { Gateway } from '../harness/gateway.ts';
import { assertChargesTold, assertNothingHeld, type Receipt } from './books.ts';
import { assertLedger, onCleanUp, openGateway, until } from './reach.ts';
import type { Victim } from './rounds.ts';
import { type Chance, openChance } from './seed.ts';

const CLIENTS = 16;
const lostPauseMs = 200;

/** One query, and what its client was told of it. */
interface Asked {
  key: string;
  body: string;
  told: Told | null;
  /** An answer was lost with the process. */
  lost: boolean;
}

interface Told {
  status: number;
  charge: number;
  requestId: string | null;
  text: string;
}

export interface QueryRound {
  asked: number;
  /** Their answers were lost with the process. */
  lost: number;
  /** Receipts of all rounds so far, compared with the ledger. */
  receipts: number;
}

async function ask(
  gateway: Gateway,
  dispatcher: Agent,
  { key, body }: Asked,
): Promise<Told | null> {
  try {
    const reply = await fetch(`${gateway.url}/api/v1/query`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.dev.api_key}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body,
      dispatcher,
      signal: AbortSignal.timeout(20_000),
    });
    const text = await reply.text();
    const { request_id, charge_microcredits } = JSON.parse(text) as Record<string, unknown>;
    return {
      status: reply.status,
      charge: Number(charge_microcredits ?? 0),
      requestId: reply.status === 200 ? String(request_id) : null,
      text,
    };
  } catch {
    return null;
  }
}

/** Its steps take different times, so that a kill meets each of them. */
function newAsked(chance: Chance, key: string): Asked {
  const pause = chance.pick([0, 0, 5, 20, 60]);
  const outcome = chance.pick(['', '', '', 'empty=1', 'only=serper status=500', 'partial=1']);
  const surface = chance.pick(['web_search', 'engine_news', 'engine_flights', 'ai_search']);
  const query = `${key} [[search first_ms=${pause} ${outcome}]]`;
  const flights = surface === 'engine_flights';
  const params = flights ? { departure_id: 'ZRH', arrival_id: 'JFK' } : {};
  return { key, body: JSON.stringify({ surface, query, params }), told: null, lost: false };
}

interface Crowd {
  asked: Asked[];
  stop(): Promise<void>;
}

function startCrowd(gateway: Gateway, chance: Chance, name: string, agent: Agent): Crowd {
  const asked: Asked[] = [];
  let going = true;
  onCleanUp(() => {
    going = false;
  });
  const one = async (client: number) => {
    for (let number = 0; going; number += 1) {
      const each = newAsked(chance, `${name}-${client}-${number}`);
      asked.push(each);
      await insist(gateway, agent, each, () => going);
      if (each.told !== null && each.told.status >= 500) await sleep(50);
    }
  };
  const all = Promise.all(Array.from({ length: CLIENTS }, (_, client) => one(client)));
  return {
    asked,
    async stop() {
      going = false;
      await all;
    },
  };
}

/** Asks under its key until it is answered: the process may be away. */
async function insist(
  gateway: Gateway,
  agent: Agent,
  each: Asked,
  isGoing: () => boolean,
): Promise<void> {
  for (;;) {
    each.told = await ask(gateway, agent, each);
    if (each.told !== null || !isGoing()) return;
    each.lost = true;
    await sleep(lostPauseMs);
  }
}

const isGood = ({ told }: Asked) => told?.status === 200;

async function kill(gateway: Gateway, victim: Victim): Promise<void> {
  if (victim === 'main') await gateway.killMain();
  else {
    await gateway.killAll();
    await gateway.start();
  }
}

async function round(
  gateway: Gateway,
  victim: Victim,
  chance: Chance,
  name: string,
  receipts: Receipt[],
): Promise<QueryRound> {
  const agent = new Agent({ connections: 2 * CLIENTS });
  const crowd = startCrowd(gateway, chance, name, agent);
  await until('some answers', 15_000, () => crowd.asked.filter(isGood).length >= 20);
  await sleep(chance.integer(0, 300));
  await kill(gateway, victim);
  const before = crowd.asked.filter(isGood).length;
  await until('answers again', 15_000, () => crowd.asked.filter(isGood).length >= before + 20);
  await crowd.stop();
  await assertNothingHeld(gateway, 5_000);
  for (const each of crowd.asked.filter(({ told }) => told === null)) {
    each.lost = true;
    await insist(gateway, agent, each, () => false);
    assert.ok(each.told !== null, 'a lost query is answered under its key');
  }
  const lost = crowd.asked.filter((each) => each.lost).length;
  // What was answered is told again: the same charge under the same id.
  for (const each of crowd.asked.filter(isGood).slice(-20)) {
    const again = await ask(gateway, agent, each);
    assert.equal(again?.requestId, each.told?.requestId, again?.text);
    assert.equal(again?.charge, each.told?.charge, again?.text);
  }
  await agent.close();
  await assertNothingHeld(gateway, 5_000);
  receipts.push(...crowd.asked.flatMap(receiptOf));
  const compared = await assertChargesTold(gateway, receipts);
  await assertLedger(gateway);
  console.log(`# ${victim} killed: ${crowd.asked.length} queries, ${lost} lost`);
  return { asked: crowd.asked.length, lost, receipts: compared };
}

function receiptOf({ told }: Asked): Receipt[] {
  if (told === null || told.requestId === null) return [];
  return [{ usage: { request_id: told.requestId, charge_microcredits: told.charge } }];
}

/** Kills as often as there are victims, on the same data. */
export async function queryRounds(victims: readonly Victim[]): Promise<QueryRound[]> {
  const chance = openChance('kill -9 under queries');
  const gateway = await openGateway();
  const receipts: Receipt[] = [];
  const rounds: QueryRound[] = [];
  for (const [index, victim] of victims.entries()) {
    rounds.push(await round(gateway, victim, chance, `${chance.seed}-${index}`, receipts));
  }
  return rounds;
}
