// Bare refreshing: the statement that uses a refresh token up for a new pair, and nothing else. It
// runs in a process of its own, on as many connections as the gateway's shards have.
import { randomBytes } from 'node:crypto';
import { fixedOAuthLimits } from '../../actors/oauth/limits.ts';
import { closePool, openPool } from '../../db/driver/sql.ts';
import { rotateRefresh } from '../../db/oauth/refresh.ts';
import { percentile } from '../statistics.ts';
import { answerParent } from './asked.ts';

export interface RefreshesJob {
  databaseUrl: string;
  connections: number;
  /** So many are under way at once. */
  callers: number;
  client: string;
  allowed: readonly string[];
  /** Hashes of refresh tokens, each of which is used once. */
  hashes: readonly Uint8Array[];
  sealedBytes: number;
}

export interface Refreshed {
  refreshes: number;
  elapsedMs: number;
  cpuMicros: number;
  p50: number;
  p99: number;
}

async function refreshAll(job: RefreshesJob): Promise<Refreshed> {
  const { databaseUrl: url, connections: connectionsMax, hashes, sealedBytes } = job;
  const sql = openPool({ url, purpose: 'general', connectionsMax, statementTimeoutMs: 5_000 });
  // What is sealed is chance to the server.
  const sealedPair = randomBytes(sealedBytes);
  const { client, allowed } = job;
  const times: number[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    for (;;) {
      const tokenHash = hashes[next];
      next += 1;
      if (tokenHash === undefined) return;
      const startedMs = performance.now();
      const granted = await rotateRefresh(sql, {
        tokenHash,
        client,
        allowed,
        wanted: null,
        pair: { accessHash: randomBytes(32), refreshHash: randomBytes(32) },
        sealedPair,
        lives: fixedOAuthLimits,
        refreshesPerMinute: fixedOAuthLimits.refreshesPerMinute,
      });
      if (granted === null) throw new Error('a refresh token was good for nothing');
      times.push(performance.now() - startedMs);
    }
  };
  const before = process.cpuUsage();
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: job.callers }, caller));
  const elapsedMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  await closePool(sql, 1_000);
  return {
    refreshes: times.length,
    elapsedMs,
    cpuMicros: user + system,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}

answerParent<RefreshesJob>(refreshAll);
