// The bounds of what apps tell and are told (customer.md, sections 8 and 10), with the reasons.
import assert from 'node:assert/strict';
import type { FailureRule } from '../../runtime/failure-limiter.ts';
import type { Widened } from '../../runtime/limits.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How often each may tell something. A network is an address, or the 64 bits of IPv6. */
export const appRules = {
  network: { name: 'app-network', limit: 60, periodMs: MINUTE },
  installation: { name: 'app-installation', limit: 20, periodMs: MINUTE },
  /** Counted by the account; else by the installation and by the network. */
  feedback: { name: 'app-feedback', limit: 5, periodMs: HOUR },
} as const satisfies Record<string, FailureRule>;

export const appLimits = {
  activity: {
    /** A crash loses no more than this. */
    flushMs: 10 * SECOND,
    /** Rows of one statement: 2 ms of the server. */
    batchMax: 500,
    /** Counts of one shard that wait: half a kilobyte each. Beyond them nobody new is counted. */
    pendingMax: 20_000,
    /** While the shard ends, a statement that failed is tried again so soon. */
    retryMs: 200,
  },
  errors: {
    /** Groups in the whole deployment. */
    groupsMax: 10_000,
    /** Errors of one statement, and those of one shard that wait for theirs: 30 KB each. */
    batchMax: 64,
    pendingMax: 512,
  },
  /** The same words of the same person are one row for so long. */
  feedbackSameMs: DAY,
  board: {
    /** How often it is looked whether another process, or one that died, changed it. */
    lookMs: 5 * SECOND,
  },
  accountNotices: {
    /** Notices of billing are written by others: they are seen at most so late. */
    freshMs: 10 * SECOND,
    /** Without a database what was read before is good for so long. */
    staleMs: 10 * MINUTE,
    /** Accounts that a shard remembers, twice as many at most: 2 KB each. */
    accountsMin: 2_000,
  },
  archive: {
    bytesMax: 32 * 2 ** 20,
    storeMs: 60 * SECOND,
  },
  mcp: {
    /** An account has so many. */
    serversMax: 32,
  },
  retention: {
    everyMs: HOUR,
    errorsMs: 90 * DAY,
    noticesMs: 90 * DAY,
    feedbackMs: 400 * DAY,
    installationsMs: 400 * DAY,
    activityMs: 400 * DAY,
    emailsMs: 180 * DAY,
    /** Rows of one statement, and statements of one round: 200,000 rows an hour of each kind. */
    pageMax: 1_000,
    pagesMax: 200,
  },
} as const;

export type AppLimits = Readonly<Widened<typeof appLimits>>;

assert.ok(appLimits.activity.batchMax < appLimits.activity.pendingMax, 'a batch is a part');
assert.ok(appLimits.errors.batchMax <= appLimits.errors.pendingMax, 'a batch has room');
assert.ok(appLimits.retention.emailsMs < appLimits.retention.feedbackMs, 'an email goes first');
