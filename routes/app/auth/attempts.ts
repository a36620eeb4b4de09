// Attempts with passwords, counted before any is hashed. Those that were right are taken back: only
// wrong ones are bounded, however many come at once.
import type { IdentityLimits } from '../../../actors/identity/limits.ts';
import type { FailureRule } from '../../../runtime/failure-limiter.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';

type Needed = Pick<Services, 'access' | 'identity' | 'limits'>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export interface Attempt {
  /** The address in its one form, or what else names whose password is tried. */
  name: string;
  network: string;
}

/** What is said of an attempt once its password was hashed. */
interface Attempted {
  wasRight(): void;
  wasWrong(): void;
}

type Counted = readonly [rule: FailureRule, name: string];

function countedBy({ failures }: IdentityLimits, { name, network }: Attempt): Counted[] {
  const pair = {
    name: 'password-pair',
    limit: failures.addressNetworkMax,
    periodMs: 15 * minuteMs,
  };
  const fromNetwork = { name: 'password-network', limit: failures.networkMax, periodMs: hourMs };
  return [
    [pair, `${name}\n${network}`],
    [fromNetwork, network],
  ];
}

/**
 * Refuses what its network has tried too often, before anything is looked up.
 * @throws Problem rate_limited
 */
export function refuseSpentAttempt(services: Needed, attempt: Attempt): void {
  refuse(services, 'peek', countedBy(services.limits.identity, attempt));
}

/**
 * Counts an attempt as a failure until it is told to be right. A network that is new to the account
 * has a part in what all of these have together.
 * @throws Problem rate_limited
 */
export function countAttempt(
  services: Needed,
  attempt: Attempt & { isKnownPlace: boolean },
): Attempted {
  const { access, identity, limits } = services;
  const counted = countedBy(limits.identity, attempt);
  if (!attempt.isKnownPlace) {
    const limit = limits.identity.failures.addressMax;
    counted.push([{ name: 'password-address', limit, periodMs: dayMs }, attempt.name]);
  }
  // All are asked first: who is refused by one has not used up another.
  refuse(services, 'peek', counted);
  refuse(services, 'take', counted);
  return {
    wasWrong: () => identity.count('password_wrong'),
    wasRight() {
      identity.count('password_right');
      for (const [rule, name] of counted) access.failures.forgive(rule, name);
    },
  };
}

/** @throws Problem rate_limited */
function refuse(
  { access, identity }: Needed,
  act: 'peek' | 'take',
  counted: readonly Counted[],
): void {
  const nowMs = Date.now();
  const waits = counted.flatMap(([rule, name]) => {
    const refusal = access.failures[act](rule, name, nowMs);
    return refusal === null ? [] : [refusal.retryAfterSeconds];
  });
  if (waits.length === 0) return;
  identity.count('password_refused');
  throw tooManyFailures(Math.max(...waits));
}

function tooManyFailures(seconds: number): Problem {
  return new Problem('rate_limited', {
    message: 'Too many wrong passwords. Wait, or use a code instead.',
    headers: { 'retry-after': `${seconds}` },
  });
}

/**
 * Counts one more account of a network; the function that it returns takes that back.
 * @throws Problem rate_limited
 */
export function countRegistration(
  { access, identity, limits }: Needed,
  network: string,
): () => void {
  const rule = { name: 'register', limit: limits.identity.registrationsMax, periodMs: hourMs };
  const refusal = access.failures.take(rule, network, Date.now());
  if (refusal === null) return () => access.failures.forgive(rule, network);
  identity.count('registration_refused');
  throw new Problem('rate_limited', {
    message: 'Too many accounts were made from this network.',
    headers: { 'retry-after': `${refusal.retryAfterSeconds}` },
  });
}
