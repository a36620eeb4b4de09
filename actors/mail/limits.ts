// The bounds of mail: tries, waits between them, and how long rows are kept.
import assert from 'node:assert/strict';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const mailLimits = {
  attemptsMax: 8,
  /** The waits behind each attempt but the last. A code of ten minutes has six tries. */
  waitsMs: [5, 15, 45, 120, 300, 900, 1_800].map((seconds) => seconds * SECOND),
  triedForMs: HOUR,
  /** Attempts that may each have left a copy: the mail itself, and one more. */
  doubtsMax: 2,
  /** One attempt, from the connection to the reply. */
  attemptMs: 40 * SECOND,
  /** Nobody else tries meanwhile: the attempt, and writing down what came of it. */
  leaseMs: 60 * SECOND,
  connectMs: 10 * SECOND,
  /** Without a byte of the server. */
  silenceMs: 20 * SECOND,
  /** Servers drop connections that rest, some after 30 s. */
  restMs: 15 * SECOND,
  connectionsMax: 5,
  /** Mails of one process that are under way; those without a connection wait for one. */
  runningMax: 10,
  /** Entries that wait for the queue; the rows know the others. */
  pendingMax: 10_000,
  /** How often it is looked for mails that are due. */
  sweepMs: 5 * SECOND,
  dueMax: 500,
  /** How often what is over is forgotten, and how much of it at once. */
  forgetMs: MINUTE,
  forgottenMax: 5_000,
  sentKeptMs: DAY,
  failedKeptMs: 7 * DAY,
  /** In a text that somebody else chose. */
  variableCharactersMax: 300,
  /** In development mode: 500 mails of 4 KB are 2 MB. */
  mailboxLengthMax: 500,
  /** How long a route waits for the main thread. */
  askMs: 5 * SECOND,
  /** Between two tries to write down what came of an attempt. */
  noteRetryMs: SECOND,
} as const;

export type MailLimits = typeof mailLimits;

/** How long the next attempt waits behind this one. */
export function waitAfter({ waitsMs }: Pick<MailLimits, 'waitsMs'>, attempt: number): number {
  return waitsMs[attempt - 1] ?? 0;
}

const { attemptsMax, waitsMs, attemptMs, sweepMs, triedForMs, leaseMs, connectMs } = mailLimits;
const waitedMs = waitsMs.reduce((sum, ms) => sum + ms, 0);
assert.equal(waitsMs.length, attemptsMax - 1, 'each wait has an attempt behind it');
assert.ok(waitedMs + waitsMs.length * (attemptMs + sweepMs) <= triedForMs, 'all within the hour');
assert.ok(attemptMs < leaseMs, 'nobody begins another attempt before this one is over');
assert.ok(connectMs < attemptMs, 'connecting is part of an attempt');
