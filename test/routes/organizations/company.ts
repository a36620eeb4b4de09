// An organization of a test: people with a role each, whose calls are checked against the
// documents.
import assert from 'node:assert/strict';
import { type OrganizationRole, organizationRoles } from '../../../db/organizations/role.ts';
import type { Contract, Reply } from '../../harness/contract.ts';
import type { Testbed } from '../../harness/testbed.ts';
import { makePerson, type TestPerson } from '../me/person.ts';

export type Members = Record<string, unknown>;

export interface Company {
  id: number;
  /** `/api/enterprise/organizations/{id}` */
  path: string;
  name: string;
  owner: TestPerson;
}

export const base = '/api/enterprise/organizations';

/** The status and the code of a refusal, with its reason where it has one. */
export function refusalOf({ status, json }: Reply): string {
  const { code, details } = (json.error ?? {}) as { code?: string; details?: Members };
  const reason = details?.reason;
  return [status, code, reason].filter((part) => part !== undefined).join(' ');
}

export async function makeCompany(
  bed: Testbed,
  contract: Contract,
  owner?: TestPerson,
): Promise<Company> {
  const who = owner ?? (await makePerson(bed, contract));
  const name = `Company of ${who.fullName}`;
  const made = await who.call('POST', base, { name });
  assert.equal(made.status, 201, made.text);
  const { id } = made.json.organization as { id: number };
  return { id, path: `${base}/${id}`, name, owner: who };
}

/** Invites the person and accepts for it. */
export async function join(
  { path, owner }: Company,
  person: TestPerson,
  role: OrganizationRole,
  more: Members = {},
): Promise<void> {
  const invited = await owner.call('POST', `${path}/invitations`, {
    email: person.email,
    role,
    ...more,
  });
  assert.equal(invited.status, 201, invited.text);
  const { id } = invited.json.invitation as { id: string };
  const accepted = await person.call('POST', `/api/me/invitations/${id}/accept`);
  assert.equal(accepted.status, 200, accepted.text);
}

/** The canonical owner, and one more person of each role. */
export async function fill(
  bed: Testbed,
  contract: Contract,
  company: Company,
): Promise<Record<OrganizationRole, TestPerson>> {
  const people: Partial<Record<OrganizationRole, TestPerson>> = {};
  for (const role of organizationRoles) {
    const person = await makePerson(bed, contract);
    await join(company, person, role);
    people[role] = person;
  }
  return people as Record<OrganizationRole, TestPerson>;
}

export interface OrganizationRowOf {
  account_id: string;
  wallet_id: string;
  seats_taken: number;
  seat_limit: number;
  status: string;
  owner_user_id: string | null;
  revision: number;
}

export async function rowOf(bed: Testbed, { id }: Pick<Company, 'id'>): Promise<OrganizationRowOf> {
  const [row] = await bed.sql<OrganizationRowOf[]>`
    SELECT account_id, wallet_id, seats_taken, seat_limit, status, owner_user_id, revision
    FROM organizations WHERE id = ${id}`;
  assert.ok(row !== undefined);
  return row;
}
