// A bank for tests: a real database and any number of actor systems on it, each as if it were a
// process of its own, with one clock that the test moves.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { GenerationClaim } from '../../../actors/billed-request/holder.ts';
import { type WalletLimits, walletLimits } from '../../../actors/wallet/limits.ts';
import type { GrantRequest, HoldRequest, WalletProtocol } from '../../../actors/wallet/protocol.ts';
import { createWalletKind } from '../../../actors/wallet/wallet.ts';
import { createAccount } from '../../../db/accounts.ts';
import { auditLedger } from '../../../db/audit.ts';
import type { NewAuditEvent } from '../../../db/audit-events.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { createWallet } from '../../../db/wallets.ts';
import type { ActorRef, ActorSystem, PayloadOf, ReplyOf } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

type Message = keyof WalletProtocol & string;

export interface Branch {
  system: ActorSystem;
  /** Cuts its connections, with whatever is on its way. */
  cut(): Promise<void>;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  ask<M extends Message>(
    walletId: string,
    message: M,
    payload: PayloadOf<WalletProtocol, M>,
  ): Promise<ReplyOf<WalletProtocol, M>>;
}

export interface Bank {
  database: TestDatabase;
  sql: Sql;
  /** Milliseconds that are added to the real time. */
  clock: { aheadMs: number; nowMs(): number };
  /** Lines that were logged as errors. */
  errors: string[];
  branch(limits?: Partial<WalletLimits>): Branch;
  newWallet(): Promise<string>;
  assertBooks(): Promise<void>;
  close(): Promise<void>;
}

export const accountId = 'acc_000000000000000000000001';
export const instanceId = 'instance-1';

export async function openBank(given?: TestDatabase): Promise<Bank> {
  const database = given ?? (await openTestDatabase());
  const sql = database.pool('general', 2);
  await createAccount(sql, { id: accountId, role: 'user' });
  const systems: ActorSystem[] = [];
  const errors: string[] = [];
  const clock = { aheadMs: 0, nowMs: () => Date.now() + clock.aheadMs };
  return {
    database,
    sql,
    clock,
    errors,
    branch(limits = {}) {
      // Batches overlap whenever they can, which takes a crowd otherwise.
      const most = { ...walletLimits, overlapFrom: 1, ...limits };
      const branch = openBranch(database, clock.nowMs, errors, most);
      systems.push(branch.system);
      return branch;
    },
    async newWallet() {
      const id = freshId('wal');
      await createWallet(sql, { id, accountId, type: 'personal' });
      return id;
    },
    async assertBooks() {
      const broken = (await auditLedger(sql)).filter((finding) => finding.broken > 0n);
      assert.deepEqual(broken, [], 'the books are right');
    },
    async close() {
      await Promise.all(systems.map((system) => system.stop(1_000)));
      await database.close();
    },
  };
}

function openBranch(
  database: TestDatabase,
  clock: () => number,
  errors: string[],
  limits: WalletLimits,
): Branch {
  const sql = database.pool('ledger', 2);
  const writer = database.pool('ledger', 1);
  const log = {
    info: () => {},
    warn: () => {},
    error: (fields: object, message: string) => {
      const stacks = (_name: string, value: unknown) =>
        value instanceof Error ? value.stack : value;
      errors.push(`${message} ${JSON.stringify(fields, stacks)}`);
    },
  };
  const kind = createWalletKind({ sql, writer, clock, limits, log });
  const system = createActorSystem({ node: 1, kinds: [kind], log });
  return {
    system,
    async cut() {
      await Promise.all([sql, writer].map((pool) => pool.end({ timeout: 0 })));
    },
    wallet: (walletId) => system.ref(kind, walletId),
    async ask(walletId, message, payload) {
      const answer = await system.ref(kind, walletId).ask(message, payload, 10_000);
      assert.ok(answer.ok, answer.ok ? '' : `${message}: ${answer.reason} ${errors.join('\n')}`);
      return answer.value;
    },
  };
}

/** As real ones are: ordered by time. */
export function freshId(prefix: string): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${prefix}_${time}${randomBytes(6).toString('hex')}`;
}

export function holdOf(amountMicros: bigint, changes: Partial<HoldRequest> = {}): HoldRequest {
  return {
    holdId: freshId('hold'),
    amountMicros,
    owner: { kind: 'generation', id: freshId('req'), instanceId },
    expiresAtMs: Date.now() + 900_000,
    claim: null,
    ...changes,
  };
}

/** A hold that makes its generation, under a key or none. */
export function claimingHold(amountMicros: bigint, idempotencyKey: string | null): HoldRequest {
  const request = holdOf(amountMicros);
  const claim: GenerationClaim = {
    id: request.owner.id,
    accountId,
    apiKeyId: null,
    route: '/v1/chat/completions',
    idempotencyKey,
    fingerprint: 'f'.repeat(64),
    model: 'svc-sim-chat',
  };
  return { ...request, claim };
}

export function promotion(amountMicros: bigint, expiresAtMs: number | null = null): GrantRequest {
  const operationId = freshId('promo');
  return { operationId, kind: 'promotion', amountMicros, expiresAtMs, note: 'test' };
}

/** As a front would hand it in: the wallet adds what it knows. */
export function auditEvent(details: Record<string, unknown> = {}): NewAuditEvent {
  const id = freshId('aud');
  return { id, accountId, actor: accountId, action: 'wallet.debit', subject: 'wallet', details };
}

export function purchase(amountMicros: bigint): GrantRequest {
  const operationId = freshId('buy');
  return { operationId, kind: 'purchase', amountMicros, expiresAtMs: null, note: 'test' };
}
