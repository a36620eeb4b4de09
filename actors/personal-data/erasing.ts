// Erases an account step by step. Every step finds for itself what is left: whoever goes on after a
// crash begins with the first one again. The account's own row is the last.
import { insertAuditEvent } from '../../db/audit-events.ts';
import type { Sql, Transaction } from '../../db/driver/sql.ts';
import { beginErasing, finishErasing, lockErasing } from '../../db/erasure.ts';
import { forgetPerson } from '../../db/organizations/erasure.ts';
import type { ErasingStep, PersonalDomain } from '../../db/personal-data/contract.ts';
import { type ErasedPage, erasePage, personalData } from '../../db/personal-data.ts';
import { BlobFault, type BlobStore } from '../../media/blobs/contract.ts';
import { newAuditId } from '../../runtime/ids.ts';
import {
  type EraseRows,
  eraseContext,
  erasePersonsContexts,
  type Lock,
} from '../organization/erasing.ts';
import type { PersonalDataLimits } from './limits.ts';

export interface ErasureDeps {
  sql: Sql;
  blobs: Pick<BlobStore, 'remove'>;
  limits: Pick<PersonalDataLimits, 'graceMs' | 'pageRowsMax'>;
  node: number;
  domains?: readonly PersonalDomain[];
}

/** `waits`: it is not due, something of it still runs, or a bar has come up. */
export type ErasureOutcome = 'erased' | 'waits';

/** The signal: the process ends, and another goes on. */
export async function eraseAccount(
  deps: ErasureDeps,
  accountId: string,
  signal: AbortSignal,
): Promise<ErasureOutcome> {
  const { sql, limits } = deps;
  const inContext = await eraseContext(sql, accountId, (id, lock) =>
    eraseAccountRows(deps, id, lock, signal),
  );
  if (inContext !== null) return inContext;
  const begun = await sql.begin((transaction) =>
    beginErasing(transaction, accountId, limits.graceMs),
  );
  if (!begun) return 'waits';
  const lock: Lock = (transaction) => lockErasing(transaction, accountId);
  const eraseRows: EraseRows = (id, held) => eraseAccountRows(deps, id, held, signal);
  if (!(await erasePersonsContexts(sql, accountId, lock, eraseRows))) return 'waits';
  if (!(await eraseRows(accountId, lock))) return 'waits';
  return await locked(deps, accountId, (transaction) => finish(deps, transaction, accountId));
}

/** All domains of one account. False: it must stay. */
async function eraseAccountRows(
  deps: ErasureDeps,
  accountId: string,
  lock: Lock,
  signal: AbortSignal,
): Promise<boolean> {
  const { domains = personalData } = deps;
  for (const { erasing } of domains) {
    for (const step of erasing) {
      if (!(await eraseAll(deps, accountId, { step, lock }, signal))) return false;
    }
  }
  return true;
}

/** False: the account must stay, or somebody else has finished. */
async function eraseAll(
  deps: ErasureDeps,
  accountId: string,
  { step, lock }: { step: ErasingStep; lock: Lock },
  signal: AbortSignal,
): Promise<boolean> {
  for (let after: string | null = ''; after !== null; ) {
    signal.throwIfAborted();
    const place: string = after;
    const page = await deps.sql.begin(async (transaction): Promise<ErasedPage | null> => {
      if (!(await lock(transaction))) return null;
      const { pageRowsMax } = deps.limits;
      const erased = await erasePage(transaction, step, accountId, place, pageRowsMax);
      // Before the commit: an object whose row is gone would be found by nobody for a day.
      for (const id of erased.blobIds) await removeObject(deps, id);
      return erased;
    });
    if (page === null) return false;
    after = page.after;
  }
  return true;
}

/** One that is gone or was never whole is as good as removed. */
async function removeObject({ blobs }: ErasureDeps, id: string): Promise<void> {
  try {
    await blobs.remove(id);
  } catch (error) {
    if (!(error instanceof BlobFault) || error.reason !== 'missing') throw error;
  }
}

async function locked(
  { sql }: ErasureDeps,
  accountId: string,
  work: (transaction: Transaction) => Promise<void>,
): Promise<ErasureOutcome> {
  return await sql.begin(async (transaction): Promise<ErasureOutcome> => {
    if (!(await lockErasing(transaction, accountId))) return 'waits';
    await work(transaction);
    return 'erased';
  });
}

async function finish(
  { node }: ErasureDeps,
  transaction: Transaction,
  accountId: string,
): Promise<void> {
  // Not before: what is forgotten of a membership says no more that a legal hold keeps it.
  await forgetPerson(transaction, accountId);
  await finishErasing(transaction, accountId);
  await insertAuditEvent(transaction, {
    id: newAuditId(node),
    accountId,
    actor: 'sweep',
    action: 'account.erase',
    subject: `account:${accountId}`,
    details: {},
    operationId: `erase.${accountId}`,
  });
}
