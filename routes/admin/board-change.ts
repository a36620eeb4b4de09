// A change of what apps are told, by an administrator: every shard tells it when this is answered.
import { publishBoard } from '../../actors/app/board.ts';
import { changeBoard } from '../../db/app/board.ts';
import type { Audited, NewAuditEvent } from '../../db/audit-events.ts';
import { type Transaction, withDeadline } from '../../db/driver/sql.ts';
import { newAuditId } from '../../runtime/ids.ts';
import type { Services } from '../services.ts';

type Needed = Pick<Services, 'sql' | 'bus'>;

export async function applyBoardChange<T>(
  { sql, bus }: Needed,
  change: (transaction: Transaction) => Promise<Audited<T>>,
): Promise<T> {
  const { result, board } = await withDeadline(changeBoard(sql, change));
  await publishBoard(bus, board);
  return result;
}

/** An event of an administrator that concerns no account. */
export function adminEvent(
  { system }: Pick<Services, 'system'>,
  actor: string,
  action: string,
  subject: string,
  details: Record<string, unknown>,
): NewAuditEvent {
  return { id: newAuditId(system.node), accountId: null, actor, action, subject, details };
}
