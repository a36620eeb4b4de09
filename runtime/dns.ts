// TXT records at each of the operator's servers by itself: an answer counts where all agree. Only
// names that prove a domain can be asked for, so nobody asks the house's network about others.
import { getServers } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { AwakeTimer } from './awake.ts';

/** No search domain is added to it. */
export type ChallengeName = `_svc-challenge.${string}`;

export type TxtAnswer =
  /** Each record with its chunks joined. */
  | { kind: 'found'; records: string[] }
  /** The server knows the name without such a record, or knows that there is none. */
  | { kind: 'nothing' }
  /** No answer in time, or one that says nothing, such as SERVFAIL. */
  | { kind: 'unknown'; code: string };

export interface TxtQuestion {
  /** `ip:port`; none: the system's. */
  servers: readonly string[];
  deadlineMs?: number;
}

const deadlineMsDefault = 5_000;
const triesMax = 2;
/** The second try waits twice as long as the first: both together end before the deadline. */
const firstTryShare = 0.3;
const namePattern = /^_svc-challenge(?:\.[a-z0-9-]{1,63}){2,}$/;
/** In ASCII, with the dots. */
const nameLengthMax = 253;

/** One answer of each server. Rejects only for a name that is none of ours. */
export async function askTxt(
  name: ChallengeName,
  { servers, deadlineMs = deadlineMsDefault }: TxtQuestion,
): Promise<TxtAnswer[]> {
  if (!namePattern.test(name) || name.length > nameLengthMax) {
    throw new Error('a TXT record is asked for under a name that is none of ours');
  }
  const asked = servers.length === 0 ? getServers() : servers;
  return Promise.all(asked.map((server) => askServer(name, server, deadlineMs)));
}

/** A resolver of its own: the library drops a server that failed, and remembers answers. */
async function askServer(
  name: ChallengeName,
  server: string,
  deadlineMs: number,
): Promise<TxtAnswer> {
  const timeout = Math.ceil(deadlineMs * firstTryShare);
  const resolver = new Resolver({ timeout, tries: triesMax });
  resolver.setServers([server]);
  const late = new AwakeTimer(deadlineMs, () => resolver.cancel());
  try {
    // What was cut off over UDP is asked for again over TCP.
    const records = await resolver.resolveTxt(name);
    return { kind: 'found', records: records.map((chunks) => chunks.join('')) };
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'ENOTFOUND' || code === 'ENODATA') return { kind: 'nothing' };
    return { kind: 'unknown', code: typeof code === 'string' ? code : 'UNKNOWN' };
  } finally {
    late.cancel();
  }
}
