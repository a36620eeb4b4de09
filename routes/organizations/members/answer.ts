// One member as it is now.
import { readSettings } from '../../../actors/organization/settings.ts';
import { findMember } from '../../../db/organizations/members.ts';
import type { Organization } from '../../../db/organizations.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';
import { memberBody } from './schema.ts';

export const noMember = () => new Problem('not_found', { param: 'user_id' });

/** @throws Problem not_found when the person never was a member */
export async function memberAnswer(
  { sql }: Pick<Services, 'sql'>,
  { id, settings }: Organization,
  userId: string,
): Promise<Reply> {
  const member = await findMember(sql, id, userId);
  if (member === null) throw noMember();
  return {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    json: { ok: true, member: memberBody(member, readSettings(settings)) },
  };
}
