// Accounts with rows of every kind on a database of their own, and a blob store beside it.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBlobStore, prepareBlobStore } from '../../../actors/blobs/store.ts';
import type { MailServices, MailToWrite } from '../../../actors/mail/services.ts';
import { personalDataLimits } from '../../../actors/personal-data/limits.ts';
import { createAccount } from '../../../db/accounts.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { createWallet } from '../../../db/wallets.ts';
import type { BlobStore } from '../../../media/blobs/contract.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestDatabase } from '../../harness/database.ts';

export interface Stage {
  sql: Sql;
  blobs: BlobStore;
  deps: {
    sql: Sql;
    blobs: BlobStore;
    limits: typeof personalDataLimits;
    node: number;
    mail: Pick<MailServices, 'write' | 'send'>;
    log: { info(): void; warn(): void };
  };
  /** Written by it, in order; those that were sent are marked. */
  mails: { mail: MailToWrite; isSent: boolean }[];
  /** An account with `count` rows of each kind, all with its id as a mark. */
  account(count: number): Promise<string>;
  /** As if the account had been deleted so long ago. */
  deleted(accountId: string, daysAgo: number): Promise<void>;
  /** Tables that have the account's mark in a row, with how many rows. */
  rowsWith(mark: string): Promise<Record<string, number>>;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const database = await openTestDatabase();
  const sql = database.pool('general', 4);
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-personal-'));
  const masterKey = randomBytes(32).toString('base64url');
  const blobs = openBlobStore({ config: { dataDir, previousSecret: null }, masterKey, node: 1 });
  await prepareBlobStore(dataDir, blobs, true);
  const log = { info() {}, warn() {} };
  const mails: Stage['mails'] = [];
  const mail: Stage['deps']['mail'] = {
    async write(_transaction, written) {
      return String(mails.push({ mail: written, isSent: false }) - 1);
    },
    send(id) {
      const written = mails[Number(id)];
      if (written !== undefined) written.isSent = true;
    },
  };
  return {
    sql,
    blobs,
    deps: { sql, blobs, limits: personalDataLimits, node: 0, mail, log },
    mails,
    account: (count) => makeAccount(sql, blobs, count),
    async deleted(accountId, daysAgo) {
      await sql`
        UPDATE accounts SET deleting_at = now() - make_interval(secs => ${daysAgo * 86_400}::float8)
        WHERE id = ${accountId}`;
    },
    rowsWith: (mark) => rowsWith(sql, mark),
    async close() {
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function makeAccount(sql: Sql, blobs: BlobStore, count: number): Promise<string> {
  const id = newId('acc', 0);
  const walletId = newId('wal', 0);
  await createAccount(sql, { id, role: 'user', label: `label of ${id}` });
  await createWallet(sql, { id: walletId, accountId: id, type: 'personal' });
  await sql`
    UPDATE accounts SET email = ${`${id}@example.test`}, email_owned = true,
      full_name = ${`name of ${id}`} WHERE id = ${id}`;
  await sql`
    INSERT INTO generations (id, account_id, wallet_id, route, idempotency_key, fingerprint, model,
      instance_id, hold_id, status, finished_at, answer)
    SELECT 'req_' || i || right(${id}, 12), ${id}, ${walletId}, '/v1/chat/completions',
      ${id} || i, ${id}, 'm', 'i', 'h', 'completed', now(), json_build_object('text', ${id}::text)
    FROM generate_series(1, ${count}) AS s (i)`;
  await sql`
    INSERT INTO responses (generation_id, account_id, background, request, input, input_bytes,
      expires_at, kept_until)
    SELECT 'req_' || i || right(${id}, 12), ${id}, false, '{}', to_json(${id}::text)::text, 10,
      now(), now()
    FROM generate_series(1, ${count}) AS s (i)`;
  await sql`
    INSERT INTO conversations (account_id, conversation_id, route, model)
    SELECT ${id}, 'c' || i, r, 'm'
    FROM generate_series(1, ${count}) AS s (i), unnest(ARRAY['one', 'two']) AS t (r)`;
  for (let index = 0; index < Math.min(count, 5); index += 1) {
    const bounds = { bytesMax: 1_000, signal: new AbortController().signal };
    const stored = await blobs.put(once(Buffer.from(id)), bounds);
    await sql`
      INSERT INTO generated_videos (id, job_id, account_id, blob_id, title, mime_type,
        duration_seconds, aspect_ratio, resolution, size_bytes, sha256)
      VALUES (${newId('vid', 0)}, 'j', ${id}, ${stored.id}, ${`title of ${id}`}, 'video/mp4', 4,
        '16:9', '720p', 20, ${stored.sha256})`;
  }
  return id;
}

/** Every table that there is, those of the queues as well. */
export async function rowsWith(sql: Sql, mark: string): Promise<Record<string, number>> {
  const tables = await sql<{ name: string; text: string }[]>`
    SELECT c.relname AS name, format('%I.%I', n.nspname, c.relname) AS text
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND n.nspname NOT LIKE 'pg_toast%'`;
  const found: Record<string, number> = {};
  for (const { name, text } of tables) {
    const query = `SELECT count(*)::integer AS rows FROM ${text} t WHERE strpos(t::text, $1) > 0`;
    const [row] = await sql.unsafe<{ rows: number }[]>(query, [mark]);
    if (row !== undefined && row.rows > 0) found[name] = row.rows;
  }
  return found;
}

export async function listBlobs(blobs: BlobStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of blobs.list()) ids.push(id);
  return ids;
}
