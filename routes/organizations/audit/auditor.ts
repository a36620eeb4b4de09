// Who may read an organization's audit: its owners and administrators; of a closed one only the
// canonical owner.
import * as v from 'valibot';
import { lineOfText } from '../../../runtime/http/text.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services, UserCaller } from '../../services.ts';
import { requireRight } from '../access.ts';

const organizationId = v.pipe(lineOfText(20), v.description('The organization.'));
const seq = v.pipe(lineOfText(20), v.description('The place of a record, from 1.'));

export const auditParams = v.strictObject({ organization_id: organizationId });
export const recordParams = v.strictObject({ organization_id: organizationId, seq });

/** What is no number names nothing. @throws Problem not_found */
export function numberOf(text: string, param: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new Problem('not_found', { param });
}

/**
 * The organization whose audit the caller may read.
 * @throws Problem not_found when the caller is no member, forbidden when the role is another
 */
export async function requireAuditor(
  caller: UserCaller,
  idText: string,
  services: Pick<Services, 'sql'>,
  right: 'audit.read' | 'audit.checkpoint' = 'audit.read',
): Promise<number> {
  const { organization } = await requireRight(caller, idText, right, services);
  return organization.id;
}
