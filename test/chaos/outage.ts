// What an outage of the database must not do to clients and books, for the short test and for the
// rounds of the long one.
import assert from 'node:assert/strict';
import type { Gateway } from '../harness/gateway.ts';
import { assertChargesTold, assertNothingHeld } from './books.ts';
import { chat, type Told } from './client.ts';
import { isGood, type Load, repeatLost } from './load.ts';
import { assertLedger, until } from './reach.ts';

/** In the words of every format. */
const unavailable: ReadonlySet<string> = new Set(['dependency_unavailable', 'overloaded_error']);

/** Whoever comes meanwhile is answered, and told to come back. */
function assertOnlyUnavailable({ spoken, watch }: Load): number {
  const allowedMs = 8_000 * watch.busyFactor();
  let refused = 0;
  for (const { told } of spoken) {
    if (isGood(told)) continue;
    assert.equal(told.status, 503, JSON.stringify(told));
    assert.ok(unavailable.has(told.code ?? ''), JSON.stringify(told));
    assert.match(String(told.headers['retry-after']), /^[1-9]\d*$/);
    assert.ok(told.durationMs < allowedMs, `refused after ${told.durationMs} ms`);
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
  await until('every stream runs', 10_000, () => begun === count);
  return running;
}

/** The books after an outage: what was begun is settled, what was refused runs again. */
export async function settleAccounts(gateway: Gateway, running: Told[], load: Load) {
  for (const told of running) assert.ok(isGood(told), `settled later: ${JSON.stringify(told)}`);
  const refused = assertOnlyUnavailable(load);
  await assertNothingHeld(gateway, 8_000);
  const again = await repeatLost(gateway, load.spoken);
  const all = [...running, ...[...load.spoken, ...again].map(({ told }) => told)];
  await assertChargesTold(gateway, all);
  await assertLedger(gateway);
  return refused;
}
