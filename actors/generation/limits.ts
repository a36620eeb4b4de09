// The bounds of a generation, with the arithmetic behind them, and what they must be to others.
import assert from 'node:assert/strict';
import { idempotencyMs } from '../../db/generations.ts';
import type { Config } from '../../runtime/config.ts';
import type { KernelLimits, Widened } from '../../runtime/limits.ts';
import type { LedgerLimits } from '../wallet/limits.ts';

const MIB = 1_024 * 1_024;

/** Bounds that no variable changes. */
export const generationLimits = {
  /** Upstream calls for one generation: the first and two failovers. */
  attemptsMax: 3,
  /**
   * No further attempt is begun this long after the request: behind a search (10 s) and its queue
   * the first provider may say nothing until its deadline, and another is still asked.
   */
  failoverWithinMs: 150_000,
  mailboxLengthMax: 1_024,
  /** Of one answer: 128,000 output tokens of 60 characters. What is longer is nonsense. */
  answerCharactersMax: 8 * MIB,
  /** What is told of its native items before their ends: images of 2 MiB, each a few times. */
  answerStagesCharactersMax: 32 * MIB,
  /** Deltas of one background answer, which are kept: eight times those of the longest one. */
  answerCutsMax: MIB,
  /** 50 attached clients must fit; each costs one encoder. */
  subscribersMax: 128,
  /** Running at once on one shard; above it new ones get `overloaded`. */
  runningMax: 16_384,
  idempotencyMs,
  /** How long a stored response can be read and continued. */
  storedMs: 24 * 3_600_000,
  /** Whoever comes back to a conversation later has its model chosen anew. */
  conversationMs: 30 * 86_400_000,
  /** Of a conversation that `previous_response_id` continues; read in one query. */
  chainTurnsMax: 200,
  chainBytesMax: 16 * MIB,
  /** How long seals that are bound to no account are taken: as long as a conversation is kept. */
  unboundSealsMs: 30 * 86_400_000,
  /** In one request. Each takes 6 µs or more, and 8 MiB of requests have no more than these. */
  sealsOpenedMax: 8_192,
  /** How long a cancel waits for its settlement to be durable. */
  cancelWaitMs: 10_000,
} as const;

export type GenerationLimits = Widened<typeof generationLimits> & {
  /** Output tokens covered by one slice of a hold. */
  readonly sliceTokens: number;
  /** Detached generations of the whole process. */
  readonly detachedMax: number;
  /** Input tokens that a key may leave unpaid within a minute. */
  readonly giveawayTokensMax: number;
};

/** The bounds of generations in this process. Throws where one breaks a relation to others. */
export function createGenerationLimits(
  config: Config,
  { upstream }: KernelLimits,
  ledger: LedgerLimits,
): GenerationLimits {
  const { attemptsMax, failoverWithinMs, runningMax } = generationLimits;
  const failoversMs = (attemptsMax - 1) * (upstream.connectMs + upstream.firstEventMs);
  assert.ok(
    failoversMs + attemptsMax * upstream.queueMs + upstream.totalMs + 2 * ledger.askTimeoutMs <
      ledger.holdExpiryMs,
    'a hold outlives failovers, queues, the longest answer and its settlement; repairs renew it',
  );
  assert.ok(
    upstream.queueMs + upstream.firstEventMs < failoverWithinMs,
    'a provider that says nothing is followed by another',
  );
  assert.ok(
    upstream.connectionsPerOriginMax >= runningMax,
    'no call that may run waits for the connection of another one',
  );
  const { sliceTokens, detachedMax, giveawayTokensMax } = config;
  return { ...generationLimits, sliceTokens, detachedMax, giveawayTokensMax };
}
