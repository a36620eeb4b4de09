// What policies block without a record of its own. It is counted on each shard, and recorded once a
// minute for each actor, target and rule.
import { errorFields, type Sql } from '../../db/driver/sql.ts';
import { appendAudits } from '../../db/organization-audit/append.ts';
import type { NewRecord } from '../../db/organization-audit/record.ts';
import type { Logger } from '../../runtime/log.ts';
import { auditLimits } from './limits.ts';

export interface Blocked {
  organizationId: number;
  actor: NewRecord['actor'];
  target: NewRecord['target'];
  /** The setting, or `organization_status`. */
  rule: string;
}

export interface BlockedNotes {
  note(blocked: Blocked): void;
  /** Writes what was noted. What cannot be written is tried again with the next. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface Counted extends Blocked {
  count: number;
}

export function createBlockedNotes(sql: Sql, log: Pick<Logger, 'warn'>): BlockedNotes {
  let noted = new Map<string, Counted>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  function add(blocked: Blocked, count: number): void {
    const { organizationId, actor, target, rule } = blocked;
    const name = JSON.stringify([organizationId, actor, target, rule]);
    const known = noted.get(name);
    if (known !== undefined) known.count += count;
    else if (noted.size < auditLimits.blockedMax) noted.set(name, { ...blocked, count });
    timer ??= setTimeout(() => void flush(), auditLimits.blockedMs).unref();
  }

  async function write(taken: readonly Counted[]): Promise<void> {
    for (const [organizationId, each] of groups(taken)) {
      const records = each.map(recordOf);
      await sql
        .begin((transaction) => appendAudits(transaction, organizationId, records))
        .catch((error: unknown) => {
          log.warn({ ...errorFields(error), organization: organizationId }, 'blocks wait');
          for (const one of each) add(one, one.count);
        });
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const taken = [...noted.values()];
    noted = new Map();
    writing = writing.then(() => write(taken));
    return writing;
  }

  return {
    note: (blocked) => add(blocked, 1),
    flush,
    async close() {
      await flush();
      clearTimeout(timer);
    },
  };
}

function recordOf({ actor, target, rule, count }: Counted): NewRecord {
  return { actor, action: 'policy.block', target, result: 'blocked', details: { rule, count } };
}

function groups(all: readonly Counted[]): Map<number, Counted[]> {
  const found = new Map<number, Counted[]>();
  for (const one of all) {
    const group = found.get(one.organizationId);
    if (group === undefined) found.set(one.organizationId, [one]);
    else group.push(one);
  }
  return found;
}
