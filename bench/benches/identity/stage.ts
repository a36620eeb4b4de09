// The benches of identity share a gateway on a database of the bench's own. People are made in it,
// and what is read there can be counted.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closePool, openPool, type Sql } from '../../../db/driver/sql.ts';
import { startDatabase } from '../../../runtime/embedded/database.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../../contenders/gateway.ts';
import { Asked } from '../../load/asked.ts';
import type { CallersJob, CallersResult } from '../../load/callers.ts';
import { postgresCpuMicros } from '../../proc.ts';
import { type BenchOptions, progress } from '../bench.ts';

/** A small answer to a key, a session or an access token alike. */
export const SMALL_PATH = '/v1/voice/voices';
/** After a job's own time, for what is under way then. */
const GRACE_MS = 60_000;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export interface IdentityStage {
  gateway: Gateway;
  sql: Sql;
  /** Where the bench's own work finds the database. */
  databaseUrl: string;
  /** A process that sends requests, ended with the stage. */
  openCallers(): Callers;
}

export interface Callers {
  run(job: CallersJob): Promise<CallersResult>;
}

interface StageOptions extends Pick<GatewayOptions, 'blocksFolder' | 'environment'> {
  /** They are the database server's, over our own. */
  settings?: Record<string, string>;
}

/** Starts all of it, and ends it whatever happens. */
export async function withIdentityStage<T>(
  options: BenchOptions,
  { settings = {}, environment, ...rest }: StageOptions,
  work: (stage: IdentityStage) => Promise<T>,
): Promise<T> {
  progress('starting gateway and database');
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  await chmod(dataDir, 0o711);
  const database = await startDatabase({ dataDir, log: silent, settings });
  const callers: Asked<CallersJob>[] = [];
  try {
    const started = await startGateway({
      ...options,
      ...rest,
      environment: { DATABASE_URL: database.url, TOLLGATE_LOG_LEVEL: 'warn', ...environment },
    });
    const gateway = { ...started, databaseCpuMicros: () => postgresCpuMicros(dataDir) };
    const sql = openPool({
      url: database.url,
      purpose: 'general',
      connectionsMax: 2,
      statementTimeoutMs: 0,
    });
    const openCallers = (): Callers => {
      const process = new Asked<CallersJob>('callers.js');
      callers.push(process);
      return { run: (job) => process.ask<CallersResult>(job, job.durationMs + GRACE_MS) };
    };
    try {
      return await work({ gateway, sql, databaseUrl: database.url, openCallers });
    } finally {
      await closePool(sql, 1_000);
      await gateway.stop();
    }
  } finally {
    for (const process of callers) process.stop();
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The text of one request on a kept connection. */
export function requestText(
  { port }: Pick<Gateway, 'port'>,
  line: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length =
    body === '' && line.startsWith('GET ') ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `${line} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}${length}\r\n${body}`;
}

function jsonText(gateway: Gateway, line: string, body: object, network: string): string {
  const from = network === '' ? {} : { 'x-forwarded-for': network };
  const headers = { 'content-type': 'application/json', ...from };
  return requestText(gateway, line, headers, JSON.stringify(body));
}

/** A login, from an address of that network if one is named. */
export function loginText(gateway: Gateway, email: string, password: string, from = ''): string {
  return jsonText(gateway, 'POST /api/app/auth/login', { email, password }, from);
}

/** A guess at a code that nobody has asked for. */
export function codeText(gateway: Gateway, email: string, from: string): string {
  const guess = { email, code: '000000', purpose: 'login' };
  return jsonText(gateway, 'POST /api/auth/otp/verify', guess, from);
}

/** @throws Error where anything was answered but one of these statuses. */
export function assertAnswered(
  what: string,
  { byStatus, failure }: CallersResult,
  statuses: readonly number[] = [200],
): void {
  if ([...byStatus.keys()].every((status) => statuses.includes(status))) return;
  const counts = [...byStatus].map(([each, { count }]) => `${count} × ${each}`).join(', ');
  throw new Error(`${what}: ${counts}; ${failure}`);
}

/** How many were answered with this status a second. */
export function perSecond({ byStatus, elapsedMs }: CallersResult, status = 200): number {
  return ((byStatus.get(status)?.count ?? 0) * 1_000) / elapsedMs;
}
