// The audits of a shard: the actors that decide what must be recorded before it is done.
import type { Sql } from '../../db/driver/sql.ts';
import type { ActorSystem } from '../../runtime/actor/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import { defineComponent } from '../../runtime/shard/component.ts';
import { type Blocked, createBlockedNotes } from './blocked.ts';
import { createAuditKind } from './decider.ts';
import { auditLimits } from './limits.ts';
import type { DecideReply, DecideRequest } from './protocol.ts';

interface AuditGiven {
  sql: Sql;
  log: Logger;
  system(): ActorSystem;
}

/** What audits offer to routes. */
export interface AuditServices {
  /** Answers once the record is durable. Without an answer nothing may be done. */
  decideRecorded(organizationId: number, request: DecideRequest): Promise<DecideReply>;
  /** Counts what a policy has blocked; recorded within a minute. */
  noteBlocked(blocked: Blocked): void;
}

export function createAuditComponent({ sql, log, system }: AuditGiven) {
  const kind = createAuditKind({ sql, log });
  const blocked = createBlockedNotes(sql, log);
  const services: AuditServices = {
    async decideRecorded(organizationId, request) {
      const actor = system().ref(kind, String(organizationId));
      const answer = await actor.ask('decide', request, auditLimits.decideMs);
      return answer.ok ? answer.value : { status: 'unavailable' };
    },
    noteBlocked: blocked.note,
  };
  return {
    component: defineComponent({ name: 'audit', kinds: [kind], close: () => blocked.close() }),
    services,
  };
}
