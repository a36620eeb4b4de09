// A maintenance queue whose database goes away in the moment in which it is stopped.
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { parseDatabaseUrl } from '../../db/driver/sql.ts';
import { startDatabase } from '../../runtime/embedded/database.ts';
import { createQueue } from '../../runtime/work/queue.ts';

const log = pino({ level: 'silent' });

interface Ending {
  emit(event: 'error', error: Error): boolean;
  end(...given: unknown[]): unknown;
}

/** What a server that is shut down says last comes to each client right after its `end` began. */
function sayGoodbyeToClients(): { said: number } {
  const require = createRequire(import.meta.url);
  const { prototype } = (require('pg') as { Client: { prototype: Ending } }).Client;
  const { end } = prototype;
  const goodbyes = { said: 0 };
  prototype.end = function endLate(this: Ending, ...given: unknown[]) {
    setImmediate(() => {
      goodbyes.said += 1;
      this.emit('error', new Error('terminating connection due to administrator command'));
    });
    return end.apply(this, given);
  };
  return goodbyes;
}

test('a server that says goodbye to a client that is being ended does not end us', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-queue-end-'));
  await chmod(folder, 0o711);
  const database = await startDatabase({ dataDir: join(folder, 'data'), log });
  t.after(async () => {
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const goodbyes = sayGoodbyeToClients();
  const queue = createQueue({ database: parseDatabaseUrl(database.url), log });
  let rounds = 0;
  queue.schedule('tick', 100, async () => {
    rounds += 1;
  });
  queue.start();
  const deadline = performance.now() + 30_000;
  while (rounds === 0 && performance.now() < deadline) await sleep(20);
  assert.ok(rounds > 0, 'it works');
  await queue.stop(1_000);
  await sleep(50);
  assert.ok(goodbyes.said >= 2, `${goodbyes.said} clients were ended`);
});
