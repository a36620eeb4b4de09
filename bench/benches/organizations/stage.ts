// A database of its own with one organization, whose owner is a member.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAudit } from '../../../actors/audit/checkpoint.ts';
import { createAccount } from '../../../db/accounts.ts';
import { migrate } from '../../../db/driver/migrate.ts';
import { openPool, type Sql } from '../../../db/driver/sql.ts';
import { createWallet } from '../../../db/wallets.ts';
import { startDatabase } from '../../../runtime/embedded/database.ts';
import { createLog, type Logger } from '../../../runtime/log.ts';
import { createSealer } from '../../../runtime/seal.ts';

const log = createLog({ level: 'silent', base: {}, sync: true });
const ID = 100_042;
const OWNER = 'acc_000000000000000000000007';

interface AuditStage {
  sql: Sql;
  organization: { id: number; ownerId: string };
  log: Logger;
}

async function makeOrganization(sql: Sql): Promise<void> {
  await createAccount(sql, { id: OWNER, role: 'user' });
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO accounts (id, role, kind, person_id, organization_id)
      VALUES ('acc_own', 'user', 'organization', NULL, ${ID}),
        ('acc_member', 'user', 'member', ${OWNER}, ${ID})`;
    await createWallet(transaction, { id: 'wal_own', accountId: 'acc_own', type: 'organization' });
    await transaction`
      INSERT INTO organizations (id, account_id, wallet_id, name, owner_user_id, seat_limit)
      VALUES (${ID}, 'acc_own', 'wal_own', 'Bench', ${OWNER}, 25)`;
    await transaction`
      INSERT INTO organization_members (organization_id, user_id, account_id, role)
      VALUES (${ID}, ${OWNER}, 'acc_member', 'owner')`;
    const sealer = createSealer(Buffer.alloc(32, 1).toString('base64url'));
    await openAudit(transaction, {
      organizationId: ID,
      sealer,
      baseUrl: 'https://tollgate.example',
    });
  });
}

export async function withAuditStage<T>(work: (stage: AuditStage) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  await chmod(dataDir, 0o711);
  const database = await startDatabase({ dataDir, log });
  const { url } = database;
  try {
    await migrate(url);
    const options = { purpose: 'general', connectionsMax: 4, statementTimeoutMs: 10_000 } as const;
    const sql = openPool({ url, ...options });
    try {
      await makeOrganization(sql);
      return await work({ sql, organization: { id: ID, ownerId: OWNER }, log });
    } finally {
      await sql.end({ timeout: 1 });
    }
  } finally {
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
