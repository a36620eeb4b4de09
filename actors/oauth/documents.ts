// Apps that describe themselves in a document at their client id, an https URL (draft-ietf-oauth-
// client-id-metadata-document). It is fetched through the outbound guard, and kept for a while.
import type { Outbound, OutboundReply } from '../../runtime/outbound/contract.ts';
import { outboundUses } from '../../runtime/outbound/uses.ts';
import { Problem } from '../../runtime/problem.ts';
import { RecentMap, TransientMap } from '../../runtime/transient.ts';
import type { OAuthClient } from './client.ts';
import { isDocumentUrl, readDocument } from './document.ts';
import { documentLimits } from './limits.ts';

export interface ClientDocuments {
  /**
   * The client that the document describes; null: there is none, or it describes no client.
   * @throws Problem overloaded: too many are being fetched
   */
  find(url: string): Promise<OAuthClient | null>;
}

interface Kept {
  client: OAuthClient | null;
  /** It is fetched again then. */
  freshUntilMs: number;
  /** Where its server does not answer, it counts for so long. */
  staleUntilMs: number;
}

/** `away`: nobody knows what the document says now; `null`: it says nothing that is good. */
type Fetched = { client: OAuthClient | null; freshMs: number } | 'away';

const { keptMax, fetchesMax, freshMsMin, freshMsMax, wrongMs, awayMs } = documentLimits;

export function createClientDocuments(given: {
  outbound: Pick<Outbound, 'fetch'>;
  clock: () => number;
}): ClientDocuments {
  const { clock } = given;
  const kept = new RecentMap<string, Kept>(keptMax / 2);
  const pending = new TransientMap<string, Promise<OAuthClient | null>>();

  async function load(url: string): Promise<OAuthClient | null> {
    const fetched = await fetchDocument(given.outbound, url);
    const nowMs = clock();
    const known = kept.get(url);
    if (fetched !== 'away') {
      const { client, freshMs } = fetched;
      const staleUntilMs = nowMs + (client === null ? freshMs : freshMsMax);
      kept.set(url, { client, freshUntilMs: nowMs + freshMs, staleUntilMs });
      return client;
    }
    const isGood = known !== undefined && known.staleUntilMs > nowMs;
    const client = isGood ? known.client : null;
    const staleUntilMs = isGood ? known.staleUntilMs : nowMs;
    kept.set(url, { client, freshUntilMs: nowMs + awayMs, staleUntilMs });
    return client;
  }

  return {
    async find(url) {
      if (!isDocumentUrl(url)) return null;
      const known = kept.get(url);
      if (known !== undefined && known.freshUntilMs > clock()) return known.client;
      const running = pending.get(url);
      if (running !== undefined) return running;
      if (pending.size >= fetchesMax) throw new Problem('overloaded');
      const loading = load(url).finally(() => pending.delete(url));
      pending.set(url, loading);
      return loading;
    },
  };
}

async function fetchDocument(outbound: Pick<Outbound, 'fetch'>, url: string): Promise<Fetched> {
  const wrong = { client: null, freshMs: wrongMs };
  const reply = await outbound.fetch(url, outboundUses.clientDocument, {
    // The use ends it in time, and the guard where the shard ends.
    signal: new AbortController().signal,
    headers: { accept: 'application/json' },
  });
  if (!reply.ok) return isAway(reply) ? 'away' : wrong;
  if (reply.status !== 200 || reply.type !== 'application/json') {
    reply.close();
    return reply.status >= 500 || reply.status === 429 ? 'away' : wrong;
  }
  const read = await reply.bytes();
  if (!read.ok) return isAway(read) ? 'away' : wrong;
  const client = readDocument(url, read.bytes);
  return client === null ? wrong : { client, freshMs: freshMsOf(reply.headers) };
}

function isAway({ reason }: Extract<OutboundReply, { ok: false }>): boolean {
  return reason === 'source_unreachable' || reason === 'timeout' || reason === 'aborted';
}

/** RFC 9111, 5.2.2: what the server says of it, within our bounds. */
function freshMsOf(headers: ReadonlyMap<string, string>): number {
  const directives = (headers.get('cache-control') ?? '').toLowerCase().split(',');
  const named = directives.map((directive) => directive.trim());
  if (named.includes('no-store') || named.includes('no-cache')) return freshMsMin;
  const age = named.find((directive) => /^max-age="?\d{1,10}"?$/.test(directive));
  const seconds = Number(age?.replace(/\D/g, '') ?? 0);
  return Math.min(freshMsMax, Math.max(freshMsMin, seconds * 1_000));
}
