// An organization with an audit, made directly in the database, and its exports as lines.
import { randomInt } from 'node:crypto';
import { makeCheckpoint, openAudit } from '../../../actors/audit/checkpoint.ts';
import { exportLines } from '../../../actors/audit/export.ts';
import type { AuditSealers } from '../../../actors/audit/keys.ts';
import { AuditVerifier } from '../../../actors/audit/verify.ts';
import { createAccount } from '../../../db/accounts.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { appendAudits } from '../../../db/organization-audit/append.ts';
import {
  findCheckpoint,
  findNewestCheckpoint,
} from '../../../db/organization-audit/checkpoints.ts';
import { listAuditKeys } from '../../../db/organization-audit/keys.ts';
import type { NewRecord } from '../../../db/organization-audit/record.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newId } from '../../../runtime/ids.ts';
import { createSealer } from '../../../runtime/seal.ts';

export const sealers: AuditSealers = {
  now: createSealer(Buffer.alloc(32, 1).toString('base64url')),
  before: null,
};

export interface Organization {
  id: number;
  ownerId: string;
}

/** Nobody else's: other files may make organizations in the same database. */
let nextId = 100_000 + randomInt(2 ** 30);

/** A new organization, its owner and its audit, which has no record yet. */
export async function makeOrganization(sql: Sql, ownerId = newId('acc', 0)): Promise<Organization> {
  const id = nextId;
  nextId += 1;
  const [accountId, walletId] = [newId('acc', 0), newId('wal', 0)];
  const [owner] = await sql`SELECT 1 FROM accounts WHERE id = ${ownerId}`;
  if (owner === undefined) await createAccount(sql, { id: ownerId, role: 'user' });
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO accounts (id, role, kind, organization_id)
      VALUES (${accountId}, 'user', 'organization', ${id})`;
    await createWallet(transaction, { id: walletId, accountId, type: 'personal' });
    await transaction`
      INSERT INTO organizations (id, account_id, wallet_id, name, owner_user_id, seat_limit)
      VALUES (${id}, ${accountId}, ${walletId}, 'Example', ${ownerId}, 25)`;
    await openAudit(transaction, {
      organizationId: id,
      sealer: sealers.now,
      baseUrl: 'https://tollgate.example',
    });
  });
  return { id, ownerId };
}

export function act(index: number, ownerId: string): NewRecord {
  return {
    actor: { type: 'user', id: ownerId },
    action: index % 3 === 0 ? 'settings.update' : 'member.join',
    target: { type: 'member', id: `acc_${index}` },
    result: 'ok',
    details: { index, text: `ünïcode "${index}" \\ \u0001`, list: [null, index] },
  };
}

/** Appends so many records in one transaction; returns the last seq. */
export async function appendMany(
  sql: Sql,
  { id, ownerId }: Organization,
  count: number,
  first = 1,
): Promise<number> {
  const records = Array.from({ length: count }, (_, index) => act(first + index, ownerId));
  return sql.begin((transaction) => appendAudits(transaction, id, records));
}

export async function checkpoint(sql: Sql, { id }: Organization, by = sealers) {
  const made = await sql.begin((transaction) => makeCheckpoint(transaction, id, by));
  if (made === null) throw new Error('there is nothing to make a checkpoint of');
  return made;
}

export interface Range {
  from?: number;
  to?: number;
  checkpointSize?: number;
}

/** The lines of an export under the newest checkpoint. */
export async function exportOf(
  sql: Sql,
  { id }: Organization,
  { from = 1, to, checkpointSize }: Range = {},
): Promise<string[]> {
  const end = await findNewestCheckpoint(sql, id, 1);
  if (end === null) throw new Error('there is no checkpoint');
  const kept = checkpointSize === undefined ? null : await findCheckpoint(sql, id, checkpointSize);
  const order = { organizationId: id, fromSeq: from, toSeq: to ?? end.size, checkpoint: kept, end };
  let text = '';
  for await (const lines of exportLines(sql, order)) text += lines;
  return text.split('\n').slice(0, -1);
}

export async function vkeysOf(sql: Sql, { id }: Organization): Promise<string[]> {
  return (await listAuditKeys(sql, id)).map(({ vkey }) => vkey);
}

export function verifyLines(
  lines: readonly string[],
  vkeys: readonly string[],
  notes: string[] = [],
) {
  const verifier = new AuditVerifier({ vkeys, notes });
  for (const line of lines) verifier.line(line);
  return verifier.finish();
}
