// Makes the audit of an organization, and checkpoints of it: signed notes of size and root.
import type { Transaction } from '../../db/driver/sql.ts';
import { putCheckpoint, type StoredCheckpoint } from '../../db/organization-audit/checkpoints.ts';
import { insertHead, lockHead } from '../../db/organization-audit/head.ts';
import type { Sealer } from '../../runtime/seal.ts';
import { type AuditSealers, makeAuditKey, signersOf } from './keys.ts';
import { foldRoot } from './merkle.ts';
import { checkpointText, signNote } from './note.ts';

export interface OpenAuditOptions {
  organizationId: number;
  sealer: Sealer;
  /** Its host names the log for ever, whatever it is later. */
  baseUrl: string;
}

/** Head and first key of an organization that is being created, before its first record. */
export async function openAudit(
  transaction: Transaction,
  { organizationId, sealer, baseUrl }: OpenAuditOptions,
): Promise<void> {
  const origin = `${new URL(baseUrl).host}/audit/${organizationId}`;
  await insertHead(transaction, organizationId, origin);
  await makeAuditKey(transaction, { organizationId, origin }, sealer);
}

/** A checkpoint has all records that there are. Null: there are none. The head is locked for it. */
export async function makeCheckpoint(
  transaction: Transaction,
  organizationId: number,
  sealers: AuditSealers,
): Promise<StoredCheckpoint | null> {
  const head = await lockHead(transaction, organizationId);
  if (head === null || head.seq === 0) return null;
  const { origin, seq: size, edge } = head;
  const root = foldRoot(edge);
  const signers = await signersOf(transaction, head, sealers);
  const note = signNote(checkpointText({ origin, size, root }), signers);
  return putCheckpoint(transaction, organizationId, { size, root, note });
}
