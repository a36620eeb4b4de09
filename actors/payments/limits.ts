// The bounds of payments: waits, tries, and how often what is open is looked at.
import assert from 'node:assert/strict';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const paymentLimits = {
  /** One call of a provider. */
  callMs: 15 * SECOND,
  /** What a client waits for, at most: a call, and what follows from its answer. */
  askMs: 20 * SECOND,
  /** Answers of one purchase that came to late, one after the other. */
  staleMax: 5,
  openFor: HOUR,
  openMax: 10,
  /** A checkout without a provider's answer is tried again under its key. */
  retryMs: MINUTE,
  /** So long a charge that is found nowhere may still have been made. */
  unknownForMs: 10 * MINUTE,
  /** When the provider of a purchase is asked without a call of it, by the age of the purchase. */
  lookAgesMs: [2 * MINUTE, 10 * MINUTE, HOUR + 10 * SECOND, 6 * HOUR, 24 * HOUR, 72 * HOUR],
  paymentsRoundMs: 5 * SECOND,
  reconcileMs: MINUTE,
  topUpMs: 15 * SECOND,
  retentionMs: HOUR,
  /** How many of each are worked on in a round, and how many at once. */
  perRound: 200,
  atOnce: 8,
  /** Nobody else works on what is taken meanwhile. */
  leaseMs: MINUTE,
  /** Waits behind each try of an event or a refund. The last one is repeated. */
  triesMs: [5, 15, 60, 300, 1_800, 3_600].map((seconds) => seconds * SECOND),
  /** How often a provider's lists are read, and by how much two readings overlap. */
  listMs: HOUR,
  listOverlapMs: 10 * MINUTE,
  /** The first reading of a list begins so long ago. */
  listFirstMs: 72 * HOUR,
  /** Pages of a list in one reading. */
  listPagesMax: 40,
  eventsKeptDays: 90,
  perHour: 20,
  webhookBytesMax: 256 * 1_024,
  /** Between two charges of a wallet without the person. */
  topUpApartMs: MINUTE,
  /** Waits behind charges that may go through another time; then the charges are paused. */
  topUpTriesMs: [HOUR, 6 * HOUR, 24 * HOUR],
} as const;

export type PaymentLimits = typeof paymentLimits;

/** The wait behind the given try, from 1. */
export function waitAfterTry({ triesMs }: Pick<PaymentLimits, 'triesMs'>, tries: number): number {
  return triesMs[Math.min(tries, triesMs.length) - 1] ?? HOUR;
}

/** When a purchase of that age is asked about next; null: not without a call any more. */
export function nextLookAt(
  { lookAgesMs }: Pick<PaymentLimits, 'lookAgesMs'>,
  createdMs: number,
  nowMs: number,
): Date | null {
  const age = lookAgesMs.find((each) => createdMs + each > nowMs);
  return age === undefined ? null : new Date(createdMs + age);
}

const { callMs, askMs, leaseMs, openFor, lookAgesMs } = paymentLimits;
assert.ok(callMs < askMs && askMs < leaseMs, 'nobody takes over what is still being asked');
assert.ok(
  lookAgesMs.some((age) => age >= openFor && age < openFor + MINUTE),
  'a checkout that ends is closed at its provider soon after',
);
