// What an administrator does to an organization stands in the organization's own audit.
import type { NewRecord } from '../../../db/organization-audit/record.ts';

export function operatorRecord(
  accountId: string,
  action: string,
  target: NewRecord['target'],
  details: NewRecord['details'],
): NewRecord {
  return { actor: { type: 'operator', id: accountId }, action, target, result: 'ok', details };
}
