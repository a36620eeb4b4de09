// The rounds beside exports and erasings: what nobody works on goes into the queue, and copies that
// have expired go.
import { forgetExport, listLeftExports, listOldExports } from '../../db/accounts/exports.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { listDueErasures } from '../../db/erasure.ts';
import { listDueContexts } from '../../db/organizations/erasure.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import { organizationLimits } from '../organization/limits.ts';
import type { PersonalDataDesk } from './desk.ts';
import type { PersonalDataLimits } from './limits.ts';

export async function sweepExports(
  sql: Sql,
  addExport: PersonalDataDesk['addExport'],
  { dueMax }: Pick<PersonalDataLimits, 'dueMax'>,
): Promise<void> {
  for (const left of await listLeftExports(sql, dueMax)) addExport(left);
}

/** Removes copies whose time is over; returns how many. */
export async function sweepOldExports(
  sql: Sql,
  blobs: Pick<BlobStore, 'remove'>,
  { dueMax }: Pick<PersonalDataLimits, 'dueMax'>,
): Promise<number> {
  const old = await listOldExports(sql, dueMax);
  for (const { id, blobId } of old) {
    // First the row: an object that no row names is removed in any case.
    await forgetExport(sql, id);
    if (blobId !== null) await blobs.remove(blobId);
  }
  return old.length;
}

export async function sweepErasures(
  sql: Sql,
  addErasure: (accountId: string) => void,
  { graceMs, dueMax }: Pick<PersonalDataLimits, 'graceMs' | 'dueMax'>,
): Promise<void> {
  for (const id of await listDueErasures(sql, graceMs, dueMax)) addErasure(id);
  const { keptMs } = organizationLimits;
  for (const id of await listDueContexts(sql, keptMs, dueMax)) addErasure(id);
}
