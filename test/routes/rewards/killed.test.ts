// Evidence over kills: whoever goes on asks again what was not answered, and credits come once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../../db/audit.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { openRewardBed, type RewardBed, taskCredits, until } from './bed.ts';

// slow: It kills real processes, and waits for leases.

const people = 4;
/** A third start would be the last one. */
const kills = sampledRuns(2, 1);
const apartMs = 600;

let stage: RewardBed;
before(async () => {
  stage = await openRewardBed('it kills the gateway');
});
after(() => stage?.bed.close());

test(`killed while models are asked, each is approved once (seed ${testSeed})`, async () => {
  const random = createRandom(testSeed);
  const all = await Promise.all(
    Array.from({ length: people }, async (_, at) => {
      const person = await stage.person();
      const begun = await stage.start(person, 'write');
      return { person, begun, url: stage.pageUrl('slow', 500 + at, begun.challenge_code) };
    }),
  );
  await Promise.all(all.map(({ person, begun, url }) => stage.handIn(person, begun, url)));
  const { sql, gateway } = stage.bed;
  for (let killed = 0; killed < kills; killed += 1) {
    await until('a model is asked', async () => {
      const rows = await sql`SELECT FROM generations g JOIN accounts a ON a.id = g.account_id
        WHERE a.kind = 'house' AND g.status = 'running'`;
      return rows.length > 0 ? rows : null;
    });
    await sleep(random() * apartMs);
    await gateway.killMain();
    // Pages are those of the simulator, which outlives it.
    await until('it is ready again', async () => {
      const answer = await fetch(`${stage.bed.url}/api/health`).catch(() => null);
      return answer?.status === 200 ? answer : null;
    });
  }
  await until('all are judged', async () => {
    const rows = await sql`SELECT FROM reward_submissions WHERE state = 'approved'`;
    return rows.length === people ? rows : null;
  });
  for (const { person } of all) {
    const { availableMicros } = await person.balance();
    assert.equal(availableMicros, BigInt(taskCredits) * 1_000_000n);
  }
  const asked = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM generations g JOIN accounts a ON a.id = g.account_id
    WHERE a.kind = 'house' AND g.charge_micros > 0 GROUP BY g.idempotency_key`;
  assert.equal(asked.length, 2 * people);
  assert.ok(
    asked.every(({ count }) => count === 1),
    'no round is paid for twice',
  );
  const broken = (await auditLedger(sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
