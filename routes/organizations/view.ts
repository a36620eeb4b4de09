// An organization as it stands at this moment, for one of its members.
import { withDeadline } from '../../db/driver/sql.ts';
import { readBalance } from '../../db/organizations/records.ts';
import type { Services, UserCaller } from '../services.ts';
import { requireRight, type Seat } from './access.ts';
import { judge, rights } from './rights.ts';
import { memberView } from './schema.ts';

export async function viewOf(seat: Seat, { sql }: Pick<Services, 'sql'>) {
  const { organization, role, isCanonicalOwner } = seat;
  const standing = { role, isCanonicalOwner, status: organization.status };
  const isTold = judge(rights['balance.read'], standing) === null;
  const balance = isTold ? await withDeadline(readBalance(sql, organization.walletId)) : null;
  return memberView(seat, balance);
}

/** @throws Problem not_found, forbidden */
export async function readView(caller: UserCaller, id: string, services: Pick<Services, 'sql'>) {
  return viewOf(await requireRight(caller, id, 'organization.read', services), services);
}
