// The wallet is asked before what is dear is done for a request. A retry needs nothing of it: it
// gets the answer that it is a retry of.
import { withDeadline } from '../../db/driver/sql.ts';
import { failedUncharged, findGenerationByKey } from '../../db/generations.ts';
import type { KeyCaller, Services } from '../services.ts';

/** A request with the key that may have an answer already. */
export interface Keyed {
  services: Pick<Services, 'sql'>;
  caller: Pick<KeyCaller, 'accountId'>;
  /** Canonical path of the route, and the idempotency key on it. */
  route: string;
  idempotencyKey: string | null;
}

/** Whether its key has an answer, or is about to. */
export async function isRetry({
  services,
  caller,
  route,
  idempotencyKey,
}: Keyed): Promise<boolean> {
  if (idempotencyKey === null) return false;
  const { sql } = services;
  const row = await withDeadline(findGenerationByKey(sql, caller.accountId, route, idempotencyKey));
  return row !== null && !failedUncharged(row);
}

/** Waits for the wallet's answer; its refusal counts unless the request is a retry. */
export async function fundedOrRetry(keyed: Keyed, look: Promise<void>): Promise<void> {
  try {
    await look;
  } catch (error) {
    if (!(await isRetry(keyed))) throw error;
  }
}
