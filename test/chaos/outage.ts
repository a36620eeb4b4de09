// What an outage of the database must not do to clients and books, for the short test and for the
// rounds of the long one.
import assert from 'node:assert/strict';
import type { Gateway } from '../harness/gateway.ts';
import { assertChargesTold, assertNothingHeld } from './books.ts';
import { chat, type Told } from './client.ts';
import { isGood, repeatLost, type Spoken } from './load.ts';
import { assertLedger, until } from './reach.ts';

/** In the words of every format. */
const unavailable: ReadonlySet<string> = new Set(['dependency_unavailable', 'overloaded_error']);

/** Whoever comes meanwhile is answered, and told to come back. */
function assertOnlyUnavailable(spoken: readonly Told[]): number {
  let refused = 0;
  for (const told of spoken) {
    if (isGood(told)) continue;
    assert.equal(told.status, 503, JSON.stringify(told));
    assert.ok(unavailable.has(told.code ?? ''), JSON.stringify(told));
    assert.match(String(told.headers['retry-after']), /^[1-9]\d*$/);
    assert.ok(told.durationMs < 30_000, `refused after ${told.durationMs} ms`);
    refused += 1;
  }
  return refused;
}

/** Streams that hold already and end while the database is away. */
export async function openRunning(
  gateway: Gateway,
  count: number,
  directive: string,
  name = 'running',
): Promise<Promise<Told>[]> {
  let begun = 0;
  const running = Array.from({ length: count }, (_, index) => {
    let first = true;
    const onDelta = () => {
      if (first) begun += 1;
      first = false;
    };
    const text = `${name} ${index} ${directive}`;
    return chat(gateway, { text, stream: true, key: `${name}-${index}`, onDelta });
  });
  await until('every stream runs', 60_000, () => begun === count);
  return running;
}

/** The books after an outage: what was begun is settled, what was refused runs again. */
export async function settleAccounts(gateway: Gateway, running: Told[], spoken: Spoken[]) {
  for (const told of running) assert.ok(isGood(told), `settled later: ${JSON.stringify(told)}`);
  const refused = assertOnlyUnavailable(spoken.map(({ told }) => told));
  await assertNothingHeld(gateway, 60_000);
  const again = await repeatLost(gateway, spoken);
  const all = [...running, ...[...spoken, ...again].map(({ told }) => told)];
  await assertChargesTold(gateway, all);
  await assertLedger(gateway);
  return refused;
}
