// The daily round of domains: what is proved is asked about again, and claims whose time is over
// end. Each domain is a transaction of its own, so a round that is killed is gone on with.
import { errorFields } from '../../db/driver/sql.ts';
import { type DueDomain, listDueDomains } from '../../db/organizations/domains.ts';
import type { Logger } from '../../runtime/log.ts';
import { applyAnswer, askAboutDomain, type CheckDeps } from './domain-check.ts';
import { domainLimits } from './domain-limits.ts';

export interface RoundDeps extends CheckDeps {
  /** `ip:port`; none: the system's. */
  servers: readonly string[];
  log: Pick<Logger, 'warn'>;
  /** After the commit of what makes old what others remember of the organization. */
  changed(organizationId: number): Promise<void>;
  deadlineMs?: number;
}

const actor = { type: 'system', id: 'domain-check' } as const;
const first = { organizationId: 0, domain: '' };

/** Returns how many domains changed. Rejects when the database cannot be asked for those due. */
export async function checkDomains(deps: RoundDeps, signal: AbortSignal): Promise<number> {
  let after: Pick<DueDomain, 'organizationId' | 'domain'> = first;
  let changed = 0;
  while (!signal.aborted) {
    const { idleMs, pageLength } = domainLimits;
    const due = await listDueDomains(deps.sql, idleMs, after, pageLength);
    const last = due.at(-1);
    if (last === undefined) break;
    after = last;
    changed += await checkPage(deps, due, signal);
  }
  return changed;
}

async function checkPage(
  deps: RoundDeps,
  due: readonly DueDomain[],
  signal: AbortSignal,
): Promise<number> {
  const waiting = [...due];
  let changed = 0;
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (signal.aborted) return;
      if (await checkOne(deps, next)) changed += 1;
    }
  };
  await Promise.all(Array.from({ length: domainLimits.askedAtOnce }, work));
  return changed;
}

/** What fails for one must not keep the others from being asked about. */
async function checkOne(deps: RoundDeps, due: DueDomain): Promise<boolean> {
  const { servers, deadlineMs, log } = deps;
  const { organizationId, domain, token, isProved } = due;
  const claim = { organizationId, domain, token };
  try {
    const answer = isProved ? await askAboutDomain(claim, servers, deadlineMs) : null;
    const checked = await applyAnswer(deps, { claim, answer, actor });
    if (checked.status === 'gone' || !checked.hasChanged) return false;
    if (isProved) await deps.changed(organizationId);
    return true;
  } catch (error) {
    log.warn({ ...errorFields(error), organizationId, domain }, 'a domain waits for a round');
    return false;
  }
}
