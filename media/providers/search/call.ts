// The one call of all families of search providers. Whatever is answered becomes an outcome in our
// words. Nothing of a provider, its address or the query stands in what is told of a failure.
import type { SearchAsk, SearchOutcome } from '../../search/contract.ts';
import { CallPool, type CallPoolOptions } from '../../transport/call-pool.ts';
import { retryAfterMs } from '../../transport/refusal.ts';
import type { UpstreamTarget } from '../generation/contract.ts';
import { type ExchangeOptions, type ExchangePool, exchange } from './exchange.ts';
import { sortedExtra } from './extra.ts';
import { endpointOf, searchFamily } from './families.ts';
import type { SearchFailure, SearchFamily } from './family.ts';
import { foundIn } from './found.ts';
import { parsedRefusal, parsedReply } from './parsed.ts';

export interface SearchClient {
  /** One attempt at one target. Never rejects. */
  search(target: UpstreamTarget, ask: SearchAsk, options: ExchangeOptions): Promise<SearchOutcome>;
  /** Aborts what runs, and closes every connection. */
  close(): Promise<void>;
}

type Failed = Extract<SearchOutcome, { detail: string }>;

/** A target rests no longer, whatever its provider wishes. */
const retryAfterMsMax = 60_000;
/** Within so many a page of HTML has begun. */
const pageBytes = 256;

/** One client a thread. */
export function createSearchClient(options: CallPoolOptions): SearchClient {
  const pool: ExchangePool = new CallPool(options);
  return {
    async search(target, ask, given) {
      const fail = (
        state: Failed['state'],
        what: string,
        waitMs: number | null = null,
      ): Failed => ({
        state,
        retryAfterMs: waitMs === null ? null : Math.min(waitMs, retryAfterMsMax),
        detail: `${target.family} ${ask.surface}: ${what}`,
      });
      try {
        return await searched(pool, target, ask, given, fail);
      } catch {
        return fail('failed', 'the reply was not understood');
      }
    },
    close: () => pool.close(),
  };
}

async function searched(
  pool: ExchangePool,
  target: UpstreamTarget,
  ask: SearchAsk,
  options: ExchangeOptions,
  fail: (state: Failed['state'], what: string, waitMs?: number | null) => Failed,
): Promise<SearchOutcome> {
  const family = searchFamily(target.family);
  const endpoint = family === null ? null : endpointOf(family, ask.surface);
  if (family === null || endpoint === null) return fail('failed', 'the family does not serve it');
  const { passed, ignored } = sortedExtra(family, ask);
  const result = await exchange(pool, endpoint.encode(ask, target, passed), options);
  if ('failed' in result) return fail(result.failed, 'no reply');
  const { status, headers, body } = result;
  if (status !== 200) {
    const isMoved = status >= 300 && status < 400;
    const failure = isMoved ? 'failed' : refusalOf(family, status, body);
    if (failure === 'empty') return nothing(ignored);
    return fail(failure, `status ${status}`, retryAfterMs(headers));
  }
  if (body === null) return fail('failed', 'the reply is too long');
  const reply = await parsedReply(body, target);
  if (reply === null) return fail('failed', 'the reply is no JSON');
  const found = await foundIn(endpoint, ask, reply);
  // Whoever asked may have left while it was read.
  if (options.signal.aborted) return fail('aborted', 'no reply');
  if (found === 'empty') return nothing(ignored);
  if (typeof found === 'string') return fail(found, 'the reply says so');
  return { ...found, ignored };
}

/**
 * A wall before a provider takes some words for an attack. It says nothing of our credential, or
 * one client could have the provider rest for all.
 */
function refusalOf(family: SearchFamily, status: number, body: Buffer | null): SearchFailure {
  const isOfWall = status === 403 && family.refusesInJson && isPage(body);
  return isOfWall ? 'refused' : family.readFailure(status, parsedRefusal(body));
}

function isPage(body: Buffer | null): boolean {
  return (
    body === null || body.subarray(0, pageBytes).toString('latin1').trimStart().startsWith('<')
  );
}

function nothing(ignored: string[]): SearchOutcome {
  return { state: 'empty', items: [], related: [], dataJson: '{}', isTruncated: false, ignored };
}
