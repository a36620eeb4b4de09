// What an administrator removes of what apps told: gone at once, in the trail without its words.
import * as v from 'valibot';
import { audited } from '../../../db/audit-events.ts';
import { type Transaction, withDeadline } from '../../../db/driver/sql.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';
import { adminEvent } from '../board-change.ts';

export const removedReply = {
  200: { description: 'It is gone.', schema: v.strictObject({ ok: v.literal(true) }) },
};

/** `remove` says whether there was anything. @throws Problem not_found */
export async function removeTold(
  services: Pick<Services, 'sql' | 'system'>,
  actor: string,
  told: { noun: string; id: string; param: string },
  remove: (transaction: Transaction) => Promise<boolean>,
): Promise<Reply> {
  const { noun, id, param } = told;
  const removing = audited(services.sql, async (transaction) => {
    const result = await remove(transaction);
    const event = adminEvent(services, actor, `${noun}.delete`, `${noun}:${id}`, {});
    return { result, event: result ? event : null };
  });
  if (!(await withDeadline(removing))) throw new Problem('not_found', { param });
  return { status: 200, json: { ok: true } };
}
