// A legal hold over what goes by itself. It stays while the hold is there, and a hold that is set
// waits for what has begun to go.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../db/accounts.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { listOldVideos } from '../../../db/generated-videos.ts';
import { awaitErasing, erasing, isHeld } from '../../../db/organizations/hold.ts';
import { writeSettings } from '../../../db/organizations/settings.ts';
import { insertResponse, sweepResponses } from '../../../db/responses.ts';
import { forgetAnalyses } from '../../../db/video-analyses/moves.ts';
import { createVideoAnalysis } from '../../../db/video-analyses.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { addMember, makeOrganization, type TestOrganization } from '../../harness/organization.ts';

let database: TestDatabase;
let sql: Sql;
let organization: TestOrganization;
let member: string;
let person: string;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 6);
  person = newId('acc', 0);
  await createAccount(sql, { id: person, role: 'user' });
  organization = await makeOrganization(sql, person);
  member = await addMember(sql, organization, person, 'owner');
});
after(() => database?.close());

/** As the route of settings does. */
function setHold(isOn: boolean): Promise<unknown> {
  return sql.begin(async (transaction) => {
    await transaction`SELECT FROM organizations WHERE id = ${organization.id} FOR UPDATE`;
    await awaitErasing(transaction);
    await writeSettings(transaction, organization.id, isOn ? { legal_hold: true } : {});
  });
}

async function storeResponse(accountId: string): Promise<void> {
  const generationId = newId('req', 0);
  await sql`
    INSERT INTO generations (id, account_id, wallet_id, route, fingerprint, model, instance_id,
      hold_id, status, finished_at, answer)
    VALUES (${generationId}, ${accountId}, 'wal', '/v1/responses', '', 'm', 'i', 'h', 'completed',
      now(), '{}')`;
  const texts = { requestJson: '{}', inputJson: '[]' };
  const kept = { previousId: null, background: false, keptMs: 60_000 };
  await insertResponse(sql, { generationId, accountId, ...texts, ...kept });
}

async function storeAnalysis(accountId: string): Promise<void> {
  const asked = {
    ...{ id: newId('va', 0), accountId, walletId: 'wal', apiKeyId: null },
    ...{ requestId: newId('req', 0), fingerprint: 'f', videoId: null, model: 'm', prompt: null },
    ...{ sourceUrl: 'https://a.example/x.mp4', startSeconds: null, endSeconds: null, framesMax: 4 },
  };
  await createVideoAnalysis(sql, asked, { openMax: 5, queuedMax: 40, keyKeptMs: 60_000 });
  await sql`
    UPDATE video_analyses SET completed_at = now() - interval '2 hours', status = 'failed',
      error_code = 'internal', error_message = 'x'
    WHERE id = ${asked.id}`;
}

async function owners(table: 'responses' | 'video_analyses'): Promise<string[]> {
  const rows = await sql<{ account_id: string }[]>`
    SELECT account_id FROM ${sql(table)} ORDER BY account_id`;
  return rows.map((row) => row.account_id);
}

test('what is due goes, and stays where it is on hold until that is lifted', async () => {
  for (const accountId of [member, person]) {
    await storeResponse(accountId);
    await storeAnalysis(accountId);
  }
  const expire = () =>
    sql`UPDATE responses SET expires_at = now(), kept_until = now() - interval '1 s'`;
  await setHold(true);
  assert.deepEqual([await isHeld(sql, member), await isHeld(sql, person)], [true, false]);
  await expire();
  assert.equal(await sweepResponses(sql, 100), 2);
  assert.equal(await sweepResponses(sql, 100), 0, 'what is held is not looked at again at once');
  assert.equal(await forgetAnalyses(sql, 0, 100), 1);
  assert.deepEqual(await owners('responses'), [member]);
  assert.deepEqual(await owners('video_analyses'), [member]);
  await setHold(false);
  await expire();
  assert.equal(await sweepResponses(sql, 100), 1);
  assert.equal(await forgetAnalyses(sql, 0, 100), 1);
  assert.deepEqual([...(await owners('responses')), ...(await owners('video_analyses'))], []);
});

test('old videos are listed, but those on hold', async () => {
  for (const accountId of [member, person]) {
    await sql`
      INSERT INTO generated_videos (id, job_id, account_id, blob_id, title, mime_type,
        duration_seconds, aspect_ratio, resolution, size_bytes, sha256, created_at)
      VALUES (${newId('vid', 0)}, ${newId('req', 0)}, ${accountId}, ${newId('blob', 0)}, 't',
        'video/mp4', 4, '16:9', '720p', 10, ${'a'.repeat(64)}, now() - interval '2 days')`;
  }
  const listed = async () => (await listOldVideos(sql, 1_000, 10)).map((row) => row.accountId);
  await setHold(true);
  assert.deepEqual(await listed(), [person]);
  await setHold(false);
  assert.deepEqual((await listed()).sort(), [member, person].sort());
});

test('a hold waits for what erases, and what comes behind it sees the hold', async () => {
  let go = () => {};
  const paused = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isSet = false;
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const first = erasing(sql, async (transaction) => {
    const held = await isHeld(transaction, member);
    begun();
    await paused;
    assert.equal(isSet, false, 'the hold is not there while something goes');
    return held;
  });
  await hasBegun;
  const setting = setHold(true).then(() => {
    isSet = true;
  });
  // The hold asks for its lock by now; whoever comes later waits behind it.
  for (let waits = 0; waits < 500; waits += 1) {
    const rows = await sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    if (rows.length > 0) break;
  }
  const second = erasing(sql, (transaction) => isHeld(transaction, member));
  go();
  assert.equal(await first, false);
  await setting;
  assert.equal(await second, true);
  await setHold(false);
});
