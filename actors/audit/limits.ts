// The bounds of an organization's audit (the contract of organizations, sections 2 and 6).

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const auditLimits = {
  /** Many new records want a checkpoint at once, a few after a while. */
  checkpointRecords: 1_000,
  checkpointAgeMs: 10 * MINUTE,
  checkpointRoundMs: MINUTE,
  /** A new key signs beside the one before for so long. */
  keyOverlapMs: 90 * DAY,
  retentionRoundMs: DAY,
  /** Records of one anchor: two seconds of a transaction. */
  pruneBatchMax: 10_000,
  /** Organizations that a round reads at a time. */
  organizationsPage: 100,
  /** On request, of one organization. */
  checkpointsPerHour: 10,
  exportsPerHour: 4,
  hourMs: HOUR,
  /** Decisions that wait for one organization, and of one commit: about 200 KB of records. */
  mailboxLengthMax: 4_096,
  batchLengthMax: 256,
  overlapFrom: 16,
  idleTimeoutMs: MINUTE,
  /** Whoever asks waits so long; then nothing is done. */
  decideMs: 5 * SECOND,
  /** Blocks that are counted before they are recorded, and how many differ at most. */
  blockedMs: MINUTE,
  blockedMax: 1_000,
  /** Records that an export reads at a time: at most 5 MB. */
  exportPage: 500,
} as const;

export type AuditLimits = typeof auditLimits;
