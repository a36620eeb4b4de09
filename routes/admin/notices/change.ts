// Writes a notice: every shard tells it, and each named account has it, when this is answered.
import { accountNoticesTopic } from '../../../actors/app/account-notices.ts';
import {
  type AddressedNotice,
  countToldNotices,
  deleteNotice,
  findNotice,
  putNotice,
  toldNoticesMax,
} from '../../../db/app/notices.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { newId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';
import { adminEvent, applyBoardChange } from '../board-change.ts';
import { staleProblem } from '../revision.ts';
import type { NoticePatch } from './members.ts';
import { noticeBody } from './schema.ts';
import { written } from './written.ts';

type Needed = Pick<Services, 'sql' | 'bus' | 'system'>;

/** @throws Problem conflict, invalid_request */
export async function createNoticeRecord(
  services: Needed,
  actor: string,
  wanted: NoticePatch,
): Promise<AddressedNotice> {
  const id = newId('ntc', services.system.node);
  const { notice, accountIds } = written(id, wanted, null);
  const made = await applyBoardChange(services, async (transaction) => {
    if (notice.audience !== 'accounts') {
      const told = await countToldNotices(transaction);
      if (told >= toldNoticesMax) {
        const message = `At most ${toldNoticesMax} notices are told at once: end or delete some.`;
        throw new Problem('conflict', { message });
      }
    }
    await putNotice(transaction, notice, accountIds);
    const result = await requireWritten(transaction, id, accountIds);
    const details = { after: noticeBody(result) };
    return { result, event: adminEvent(services, actor, 'notice.create', `notice:${id}`, details) };
  });
  await tell(services, made.accountIds);
  return made;
}

/** @throws Problem not_found, conflict, invalid_request */
export async function updateNoticeRecord(
  services: Needed,
  actor: string,
  id: string,
  patch: NoticePatch,
  revision: number | null,
): Promise<AddressedNotice> {
  const { before, after } = await applyBoardChange(services, async (transaction) => {
    const stored = await requireNotice(transaction, id, revision);
    const { notice, accountIds } = written(id, patch, stored);
    await putNotice(transaction, notice, accountIds);
    const now = await requireWritten(transaction, id, accountIds);
    const details = { before: noticeBody(stored), after: noticeBody(now) };
    const event = adminEvent(services, actor, 'notice.update', `notice:${id}`, details);
    return { result: { before: stored, after: now }, event };
  });
  await tell(services, [...before.accountIds, ...after.accountIds]);
  return after;
}

/** @throws Problem not_found, conflict */
export async function deleteNoticeRecord(
  services: Needed,
  actor: string,
  id: string,
  revision: number | null,
): Promise<AddressedNotice> {
  const gone = await applyBoardChange(services, async (transaction) => {
    const result = await requireNotice(transaction, id, revision);
    await deleteNotice(transaction, id);
    const details = { before: noticeBody(result) };
    return { result, event: adminEvent(services, actor, 'notice.delete', `notice:${id}`, details) };
  });
  await tell(services, gone.accountIds);
  return gone;
}

type Reading = Parameters<typeof findNotice>[0];

async function requireNotice(
  sql: Reading,
  id: string,
  revision: number | null,
): Promise<AddressedNotice> {
  const notice = await findNotice(sql, id);
  if (notice === null) throw new Problem('not_found', { param: 'notice_id' });
  if (revision !== null && revision !== notice.revision) throw staleProblem(notice.revision);
  return notice;
}

/** @throws Problem invalid_request: an account is unknown, and nothing is written */
async function requireWritten(
  sql: Reading,
  id: string,
  accountIds: readonly string[],
): Promise<AddressedNotice> {
  const notice = await findNotice(sql, id);
  if (notice === null) throw new Error('it was written in this transaction');
  const known = new Set(notice.accountIds);
  const unknown = accountIds.findIndex((accountId) => !known.has(accountId));
  if (unknown === -1) return notice;
  throw fieldProblem(`account_ids[${unknown}]`, 'There is no such account.');
}

async function tell({ bus }: Needed, accountIds: readonly string[]): Promise<void> {
  const changed = [...new Set(accountIds)];
  await Promise.all(changed.map((accountId) => bus.publish(accountNoticesTopic, accountId)));
}
