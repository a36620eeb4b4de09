// The notices of single accounts, and what each has read, as a shard remembers them for a moment.
// Without a database what was read before is good for longer.
import type { AccountNotices } from '../../db/app/notices.ts';
import { RecentMap } from '../../runtime/transient.ts';
import type { AppLimits } from './limits.ts';

/** Bus topic: the payload is the id of an account whose notices or readings have changed. */
export const accountNoticesTopic = 'account-notices-changed';

export interface AccountNoticeCache {
  /** Rejects when the database fails and nothing is remembered. */
  of(accountId: string): Promise<AccountNotices>;
  forget(accountId: string): void;
}

interface Options {
  read(accountId: string): Promise<AccountNotices>;
  clock(): number;
  limits: AppLimits['accountNotices'];
}

interface Remembered {
  notices: AccountNotices;
  readAtMs: number;
  isFresh: boolean;
}

export function createAccountNotices({ read, clock, limits }: Options): AccountNoticeCache {
  const remembered = new RecentMap<string, Remembered>(limits.accountsMin);
  /** Readings under way; one that was begun before a change is nobody's. */
  const reading = new Map<string, Promise<AccountNotices>>();

  function isWithin(entry: Remembered, ageMs: number): boolean {
    const age = clock() - entry.readAtMs;
    return age >= 0 && age < ageMs;
  }

  async function readAnew(accountId: string, begun: () => Promise<AccountNotices>) {
    const readAtMs = clock();
    const notices = await read(accountId);
    if (reading.get(accountId) === begun()) {
      remembered.set(accountId, { notices, readAtMs, isFresh: true });
    }
    return notices;
  }

  function begin(accountId: string): Promise<AccountNotices> {
    const promise: Promise<AccountNotices> = readAnew(accountId, () => promise).finally(() => {
      if (reading.get(accountId) === promise) reading.delete(accountId);
    });
    reading.set(accountId, promise);
    return promise;
  }

  return {
    async of(accountId) {
      const entry = remembered.get(accountId);
      if (entry?.isFresh === true && isWithin(entry, limits.freshMs)) return entry.notices;
      try {
        return await (reading.get(accountId) ?? begin(accountId));
      } catch (error) {
        if (entry !== undefined && isWithin(entry, limits.staleMs)) return entry.notices;
        throw error;
      }
    },
    forget(accountId) {
      reading.delete(accountId);
      const entry = remembered.get(accountId);
      if (entry !== undefined) entry.isFresh = false;
    },
  };
}
