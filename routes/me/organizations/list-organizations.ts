// GET /api/me/organizations: where the person is a member, its default, and where it may join.
import * as v from 'valibot';
import { domainOf } from '../../../actors/identity/address.ts';
import { findPerson } from '../../../db/accounts/person.ts';
import { type Queryable, withDeadline } from '../../../db/driver/sql.ts';
import { isDomainGood } from '../../../db/organizations/domains.ts';
import { listAllowing, readDefault } from '../../../db/organizations/joining.ts';
import { listMemberships } from '../../../db/organizations/records.ts';
import type { Organization } from '../../../db/organizations.ts';
import { defineRoute } from '../../define.ts';
import { provedAddress } from '../../organizations/admitting.ts';
import { membershipBody, membershipSchema } from './schema.ts';

const joinableSchema = v.strictObject({ organization_id: v.number(), name: v.string() });

export const listMyOrganizations = defineRoute({
  method: 'GET',
  path: '/api/me/organizations',
  operationId: 'listMyOrganizations',
  summary: 'List your organizations',
  description:
    '`joinable`: organizations that let in who has proved an address of their domain. ' +
    '`default_organization_id`: where you act when a request names no organization.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  replies: {
    200: {
      description: 'All of them.',
      schema: v.strictObject({
        ok: v.literal(true),
        data: v.array(membershipSchema),
        next_cursor: v.null(),
        default_organization_id: v.nullable(v.number()),
        joinable: v.array(joinableSchema),
      }),
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    const { sql } = services;
    const userId = caller.personId;
    const [memberships, joinable, chosen] = await withDeadline(
      Promise.all([
        listMemberships(sql, userId),
        listJoinable(sql, userId),
        readDefault(sql, userId),
      ]),
    );
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        data: memberships.map((each) => membershipBody(each, userId)),
        next_cursor: null,
        default_organization_id: chosen,
        joinable: joinable.map(({ id, name }) => ({ organization_id: id, name })),
      },
    };
  },
});

async function listJoinable(sql: Queryable, userId: string): Promise<Organization[]> {
  const address = provedAddress(await findPerson(sql, userId));
  if (address === null) return [];
  const domain = domainOf(address);
  const good: Organization[] = [];
  for (const organization of await listAllowing(sql, userId, domain)) {
    if (await isDomainGood(sql, organization.id, domain)) good.push(organization);
  }
  return good;
}
