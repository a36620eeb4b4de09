// A legal hold that is set at any step of what erases: before each transaction, and while it runs.
// What was there when the hold was committed is there afterwards.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openAudit } from '../../../actors/audit/checkpoint.ts';
import { pruneAudit } from '../../../actors/audit/prune.ts';
import { eraseAccount } from '../../../actors/personal-data/erasing.ts';
import type { Sql, Transaction } from '../../../db/driver/sql.ts';
import { deleteAccount } from '../../../db/erasure.ts';
import { appendAudits } from '../../../db/organization-audit/append.ts';
import { closeOrganization } from '../../../db/organizations/closing.ts';
import { admitMember, endMembership } from '../../../db/organizations/members.ts';
import { createOrganization, takeSeats } from '../../../db/organizations/records.ts';
import { newId } from '../../../runtime/ids.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { sampled } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';
import { openStage, type Stage } from '../personal-data/stage.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  console.log(`# seed ${testSeed}`);
});
after(() => stage?.close());

const never = new AbortController().signal;
const sealer = createSealer(randomBytes(32).toString('base64url'));
const day = 86_400;

interface Company {
  id: number;
  accountId: string;
  ownerId: string;
  userId: string;
  memberId: string;
}

/** An organization with a member, who has content and records of the audit there. */
async function made(): Promise<Company> {
  const { sql } = stage;
  const [ownerId, userId] = [await stage.account(1), await stage.account(1)];
  const id = () => newId('acc', 0);
  const organization = await sql.begin(async (transaction) => {
    const made = await createOrganization(transaction, {
      ...{ name: 'Acme', slug: null, ownerUserId: ownerId, seatLimit: 9 },
      ...{ accountId: id(), walletId: newId('wal', 0), ownerAccountId: id() },
    });
    const { id: organizationId } = made;
    await openAudit(transaction, { organizationId, sealer, baseUrl: 'https://tollgate.example' });
    await takeSeats(transaction, organizationId, 1);
    return made;
  });
  const { id: organizationId, accountId } = organization;
  const member = { organizationId, userId, accountId: id() };
  const terms = { role: 'member', managedBy: 'manual', capMicros: null } as const;
  const memberId = await sql.begin(async (transaction) => ({
    id: await admitMember(transaction, { ...member, ...terms }),
  }));
  for (const owner of [memberId.id, accountId]) await fill(owner);
  await sql.begin((transaction) =>
    appendAudits(
      transaction,
      organizationId,
      Array.from({ length: 30 }, (_, index) => ({
        actor: { type: 'user' as const, id: userId },
        action: 'member.update',
        target: { type: 'member', id: userId },
        result: 'ok' as const,
        details: { index },
      })),
    ),
  );
  return { id: organizationId, accountId, ownerId, userId, memberId: memberId.id };
}

/** Content of an account: an answer that is stored, a conversation, a video with its bytes. */
async function fill(accountId: string): Promise<void> {
  const { sql, blobs } = stage;
  const generation = newId('req', 0);
  await sql`
    INSERT INTO generations (id, account_id, wallet_id, route, idempotency_key, fingerprint, model,
      instance_id, hold_id, status, finished_at, answer)
    SELECT ${generation}, ${accountId}, wallet_id, '/v1/chat/completions', ${generation}, 'f', 'm',
      'i', 'h', 'completed', now(), '{"text": "kept"}'
    FROM organizations WHERE id = (SELECT organization_id FROM accounts WHERE id = ${accountId})`;
  await sql`
    INSERT INTO responses (generation_id, account_id, background, request, input, input_bytes,
      expires_at, kept_until)
    VALUES (${generation}, ${accountId}, false, '{}', '"kept"', 10, now(), now())`;
  await sql`
    INSERT INTO conversations (account_id, conversation_id, route, model)
    VALUES (${accountId}, 'c', 'one', 'm')`;
  async function* once() {
    yield Buffer.from(accountId);
  }
  const stored = await blobs.put(once(), { bytesMax: 1_000, signal: never });
  await sql`
    INSERT INTO generated_videos (id, job_id, account_id, blob_id, title, mime_type,
      duration_seconds, aspect_ratio, resolution, size_bytes, sha256)
    VALUES (${newId('vid', 0)}, 'j', ${accountId}, ${stored.id}, 'kept', 'video/mp4', 4, '16:9',
      '720p', 20, ${stored.sha256})`;
}

const ofContext = 'SELECT id FROM accounts WHERE organization_id = $1';
const held: readonly [table: string, where: string][] = [
  ['generations', `account_id IN (${ofContext}) AND answer IS NOT NULL`],
  ['responses', `account_id IN (${ofContext})`],
  ['conversations', `account_id IN (${ofContext})`],
  ['generated_videos', `account_id IN (${ofContext})`],
  ['organization_audit_records', 'organization_id = $1'],
  ['organization_audit_records', 'organization_id = $1 AND details IS NOT NULL'],
  ['organization_members', 'organization_id = $1 AND erased_at IS NULL'],
  ['organizations', 'id = $1 AND erased_at IS NULL'],
];

/** How much of each there is, with the bytes of the videos. */
async function contentOf(sql: Sql | Transaction, { id }: Company): Promise<number[]> {
  const counts: number[] = [];
  for (const [table, where] of held) {
    const text = `SELECT count(*)::integer AS count FROM ${table} WHERE ${where}`;
    const [row] = await sql.unsafe<{ count: number }[]>(text, [id]);
    counts.push(row?.count ?? 0);
  }
  const videos = await sql<{ blob_id: string }[]>`
    SELECT blob_id FROM generated_videos v JOIN accounts a ON a.id = v.account_id
    WHERE a.organization_id = ${id}`;
  let objects = 0;
  const known = new Set(videos.map((row) => row.blob_id));
  for await (const each of stage.blobs.list()) if (known.has(each.id)) objects += 1;
  return [...counts, objects];
}

/** Sets the hold as its route does; resolves with what there was at its commit. */
function setHold(company: Company): Promise<number[]> {
  return stage.sql.begin(async (transaction) => {
    await transaction`SELECT 1 FROM organizations WHERE id = ${company.id} FOR UPDATE`;
    await transaction`
      UPDATE organizations SET settings = '{"legal_hold": true}' WHERE id = ${company.id}`;
    return contentOf(transaction, company);
  });
}

type When = 'before' | 'during';

/** The database of an eraser that is met by the hold at its transaction number `at`, from 0. */
function met(at: number, when: When, hold: () => Promise<number[]>) {
  let begun = 0;
  let setting: Promise<number[]> | null = null;
  const { sql } = stage;
  const begin = async (work: (transaction: Transaction) => Promise<unknown>) => {
    const isMet = begun === at;
    begun += 1;
    if (isMet && when === 'before') {
      setting = hold();
      await setting;
    }
    return sql.begin(async (transaction) => {
      const result = await work(transaction);
      // It has locked, read the hold and deleted; the commit is to come.
      if (isMet && when === 'during') {
        setting = hold();
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      return result;
    });
  };
  const proxied = new Proxy(sql, {
    get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
  });
  return { sql: proxied, begun: () => begun, setting: () => setting };
}

interface Eraser {
  name: string;
  /** What makes it due. */
  due(company: Company): Promise<unknown>;
  erase(sql: Sql, company: Company): Promise<unknown>;
}

const erase = (sql: Sql, id: string) => eraseAccount({ ...stage.deps, sql }, id, never);

const erasers: readonly Eraser[] = [
  {
    name: 'a prune of the audit',
    due: ({ id }) =>
      stage.sql.begin(async (transaction) => {
        await transaction`SET LOCAL session_replication_role = replica`;
        await transaction`
          UPDATE organization_audit_records SET at = now() - interval '366 days'
          WHERE organization_id = ${id}`;
      }),
    async erase(sql, { id }) {
      for (let batch = 0; batch < 4; batch += 1) await pruneAudit(sql, id, 10);
    },
  },
  {
    name: 'the erasing of an ended membership',
    async due({ id, userId, memberId: accountId }) {
      await stage.sql.begin((sql) => endMembership(sql, id, { userId, accountId }, 'removed'));
      await stage.sql`
        UPDATE organization_members
        SET ended_at = now() - make_interval(secs => ${31 * day}::float8)
        WHERE account_id = ${accountId}`;
    },
    erase: (sql, { memberId }) => erase(sql, memberId),
  },
  {
    name: 'the erasing of a closed organization',
    async due({ id }) {
      await stage.sql.begin((sql) => closeOrganization(sql, id));
      await stage.sql`
        UPDATE organizations SET closed_at = now() - make_interval(secs => ${31 * day}::float8)
        WHERE id = ${id}`;
    },
    erase: (sql, { accountId }) => erase(sql, accountId),
  },
  {
    name: 'the erasing of a person',
    due: ({ userId }) => stage.deleted(userId, 15),
    erase: (sql, { userId }) => erase(sql, userId),
  },
];

for (const { name, due, erase } of erasers) {
  test(`${name}: nothing goes once a hold is committed`, async () => {
    const whole = await made();
    await due(whole);
    const counting = met(-1, 'before', () => setHold(whole));
    const content = await contentOf(stage.sql, whole);
    await erase(counting.sql, whole);
    assert.notDeepEqual(await contentOf(stage.sql, whole), content, 'without a hold it goes');
    const steps = Array.from({ length: counting.begun() }, (_, at) => at);
    const cases = steps.flatMap((at) => [[at, 'before'] as const, [at, 'during'] as const]);
    for (const [at, when] of sampled(cases, 6)) {
      const company = await made();
      await due(company);
      const { sql, setting } = met(at, when, () => setHold(company));
      await erase(sql, company);
      const committed = setting();
      // A step that nobody comes to any more.
      if (committed === null) continue;
      const kept = await committed;
      assert.deepEqual(await contentOf(stage.sql, company), kept, `${when} step ${at}`);
      // And nothing goes when it is tried again.
      await erase(stage.sql, company);
      assert.deepEqual(await contentOf(stage.sql, company), kept, `after ${when} step ${at}`);
    }
    console.log(`# ${steps.length} steps`);
  });
}

test('the deletion of an account that meets a hold is refused, or came first', async () => {
  for (const when of ['before', 'during'] as const) {
    const company = await made();
    const { sql, setting } = met(0, when, () => setHold(company));
    const deletion = await sql.begin((transaction) => deleteAccount(transaction, company.userId));
    await setting();
    assert.equal(deletion.status, when === 'before' ? 'barred' : 'deleting');
    await stage.deleted(company.userId, 15);
    const kept = await contentOf(stage.sql, company);
    assert.equal(await erase(stage.sql, company.userId), 'waits');
    assert.deepEqual(await contentOf(stage.sql, company), kept);
  }
});
