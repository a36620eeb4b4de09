// A blob store beside a database whose rows of speech name its objects, and any age of both.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blobFolder, openBlobStore, prepareBlobStore } from '../../../actors/blobs/store.ts';
import { createAccount } from '../../../db/accounts.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { createWallet } from '../../../db/wallets.ts';
import type { BlobStore } from '../../../media/blobs/contract.ts';
import { firstIdAt, siblingId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { boundsOf, inChunks } from '../../media/blobs/store-bed.ts';

export interface BlobBed {
  database: TestDatabase;
  sql: Sql;
  dataDir: string;
  folder: string;
  masterKey: string;
  blobs: BlobStore;
  /** An object that was stored so many hours ago; its id. */
  store(hoursAgo: number, bytes?: Buffer): Promise<string>;
  /** The row of a speech that names it, or what else it says. */
  name(blobId: string, answer?: object): Promise<string>;
  forget(rowId: string): Promise<void>;
  close(): Promise<void>;
}

export const hourMs = 3_600_000;

export async function openBlobBed(): Promise<BlobBed> {
  const database = await openTestDatabase();
  const sql = database.pool('general', 2);
  await createAccount(sql, { id: 'acc_a', role: 'user' });
  await createWallet(sql, { id: 'wal_a', accountId: 'acc_a', type: 'personal' });
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-upkeep-'));
  const folder = blobFolder(dataDir);
  const masterKey = randomBytes(32).toString('base64url');
  const blobs = openBlobStore({ config: { dataDir, previousSecret: null }, masterKey, node: 1 });
  await prepareBlobStore(dataDir, blobs, true);
  return {
    database,
    sql,
    dataDir,
    folder,
    masterKey,
    blobs,
    async store(hoursAgo, bytes = randomBytes(1_000)) {
      const storedAtMs = Date.now() - hoursAgo * hourMs;
      const id = firstIdAt('blob', storedAtMs) + randomBytes(6).toString('hex');
      await blobs.put(inChunks(bytes), boundsOf({ id }));
      await utimes(join(folder, id), storedAtMs / 1_000, storedAtMs / 1_000);
      return id;
    },
    async name(blobId, answer = { type: 'speech', file: blobId, bytes: 1_000 }) {
      const id = siblingId(blobId, 'req');
      await sql`INSERT INTO generations (id, account_id, wallet_id, route, fingerprint, model,
          instance_id, hold_id, status, finished_at, answer)
        VALUES (${id}, 'acc_a', 'wal_a', '/v1/audio/speech', 'f', 'm', 'i', 'h', 'completed',
          now(), ${JSON.stringify(answer)})`;
      return id;
    },
    async forget(rowId) {
      await sql`UPDATE generations SET answer = NULL WHERE id = ${rowId}`;
    },
    async close() {
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
