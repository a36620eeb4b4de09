// POST /api/me/organizations/default: where requests act that name no organization.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { setDefault } from '../../../db/organizations/joining.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import { noOrganization } from '../../organizations/access.ts';

const idOrNull = v.nullable(
  v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 31 - 1)),
);

export const setDefaultOrganization = defineRoute({
  method: 'POST',
  path: '/api/me/organizations/default',
  operationId: 'setDefaultOrganization',
  summary: 'Choose your default organization',
  description:
    'Sessions and apps act there when a request names no organization; null: as the person.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { organization_id: 123_456 },
    schema: v.strictObject({ organization_id: idOrNull }),
  },
  replies: {
    200: {
      description: 'The default.',
      schema: v.strictObject({
        ok: v.literal(true),
        default_organization_id: v.nullable(v.number()),
      }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql, bus } = services;
    const { organization_id: id } = body;
    const userId = caller.personId;
    const isSet = await withDeadline(
      sql.begin((transaction) => setDefault(transaction, userId, id)),
    );
    if (!isSet) throw noOrganization();
    await tellChange(bus, [userId], { isWithdrawn: false });
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, default_organization_id: id },
    };
  },
});
