// Makes one export: under an epoch that is renewed, from the first page to the file in the store.
// Whoever goes on after a crash begins anew; what was stored half is removed by the store itself.
import {
  finishExport,
  leaveExport,
  renewExport,
  type TakenExport,
  takeExport,
} from '../../db/accounts/exports.ts';
import { findPerson } from '../../db/accounts/person.ts';
import { errorFields, type Sql, type Transaction } from '../../db/driver/sql.ts';
import type { BlobStore, StoredBlob } from '../../media/blobs/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import { repeat } from '../../runtime/work/repeat.ts';
import type { MailServices } from '../mail/services.ts';
import { archiveOf } from './archive.ts';
import type { PersonalDataLimits } from './limits.ts';
import { untilText } from './until.ts';

export interface ExportDeps {
  sql: Sql;
  blobs: BlobStore;
  limits: PersonalDataLimits;
  mail: Pick<MailServices, 'write' | 'send'>;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** `left`: another, or a round, goes on. `taken`: it is another's, or over. */
export type ExportOutcome = 'ready' | 'left' | 'taken';

/** The signal: the process ends. */
export async function makeExport(
  deps: ExportDeps,
  id: string,
  signal: AbortSignal,
): Promise<ExportOutcome> {
  const { sql, limits, log } = deps;
  const taken = await takeExport(sql, id, limits);
  if (taken === null) return 'taken';
  const lost = new AbortController();
  const renew = async () => {
    if (!(await renewExport(sql, taken, limits.leaseMs))) lost.abort();
  };
  const endRenewal = repeat('the lease of an export', limits.renewMs, renew, log);
  const late = AbortSignal.timeout(limits.exportForMs);
  try {
    const stored = await store(deps, taken, AbortSignal.any([signal, lost.signal, late]));
    return await conclude(deps, taken, stored);
  } catch (error) {
    log.warn({ ...errorFields(error), export: id }, 'an export broke');
    // It lapses by itself where this fails.
    await leaveExport(sql, taken).catch(() => undefined);
    return 'left';
  } finally {
    endRenewal();
  }
}

function store(
  { sql, blobs, limits }: ExportDeps,
  { accountId }: TakenExport,
  signal: AbortSignal,
): Promise<StoredBlob> {
  const bytesMax = limits.archiveBytesMax;
  return blobs.put(archiveOf({ sql, accountId, limits }), { bytesMax, signal });
}

async function conclude(
  deps: ExportDeps,
  taken: TakenExport,
  { id: blobId, bytes, sha256 }: StoredBlob,
): Promise<ExportOutcome> {
  const { sql, blobs, limits, mail, log } = deps;
  const file = { blobId, bytes, sha256 };
  const concluded = await sql.begin(
    async (transaction): Promise<{ mailId: string | null } | null> => {
      const expiresAt = await finishExport(transaction, taken, file, limits.exportKeptMs);
      return expiresAt === null
        ? null
        : { mailId: await write(deps, transaction, taken, expiresAt) };
    },
  );
  if (concluded === null) {
    await blobs.remove(blobId);
    return 'taken';
  }
  if (concluded.mailId !== null) mail.send(concluded.mailId);
  log.info({ export: taken.id, bytes }, 'an export is ready');
  return 'ready';
}

/** Null: nobody owns an address to write to. */
async function write(
  { mail }: ExportDeps,
  transaction: Transaction,
  { accountId }: TakenExport,
  expiresAt: Date,
): Promise<string | null> {
  const person = await findPerson(transaction, accountId);
  if (person === null || !person.emailOwned || person.email === null) return null;
  return await mail.write(transaction, {
    to: person.email,
    accountId,
    expiresAt,
    mail: { template: 'export_ready', untilText: untilText(expiresAt) },
  });
}
