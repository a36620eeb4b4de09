// PATCH /api/enterprise/organizations/{organization_id}/settings: what is named is another from now
// on, for whatever begins after the answer.
import * as v from 'valibot';
import {
  changedSettings,
  mergeSettings,
  normalizeChange,
  settingsDetails,
} from '../../../actors/organization/change-settings.ts';
import { readSettings, settingsChangeSchema } from '../../../actors/organization/settings.ts';
import { awaitErasing } from '../../../db/organizations/hold.ts';
import { movePayer } from '../../../db/organizations/payer.ts';
import { writeSettings } from '../../../db/organizations/settings.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { memberAct, organizationTarget, personRecord } from '../act.ts';
import { expectedEntries, organizationParams } from '../schema.ts';
import { requireMayChange } from './allowed-change.ts';
import { settingsAnswer, settingsReply } from './schema.ts';

export const updateOrganizationSettings = defineRoute({
  method: 'PATCH',
  path: '/api/enterprise/organizations/{organization_id}/settings',
  operationId: 'updateOrganizationSettings',
  summary: 'Change the settings of an organization',
  description:
    'Owners and admins; the billing role those of money. What is left out stays; a list replaces ' +
    'the one before. `legal_hold` is changed by the canonical owner alone, signed in within the ' +
    'last 10 minutes (else 403, reason `reauthenticate`), with `confirm: true`, and off with a ' +
    '`reason`. While the organization is suspended only the legal hold and lower caps are taken. ' +
    '`data_residency_region` needs a deployment in that region: 400, reason `region_unavailable`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { settings: { monthly_spend_limit_micros: 50_000_000 } },
    schema: v.strictObject({
      settings: settingsChangeSchema,
      confirm: v.optional(v.boolean()),
      reason: v.optional(lineOfText(1_000)),
      ...expectedEntries,
    }),
  },
  replies: { 200: { description: 'The settings as they act now.', schema: settingsReply } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found', 'conflict', 'invalid_state'] as const),
    'dependency_unavailable',
  ],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const normalized = normalizeChange(body.settings, services.config.region);
    if (!normalized.ok) {
      const { path, message, reason } = normalized.fault;
      throw new Problem('invalid_request', {
        message,
        param: `settings.${path}`,
        ...(reason === null ? {} : { details: { reason } }),
      });
    }
    const { change } = normalized;
    const expectedRevision = body.expected_revision;
    const right = 'settings.update';
    const order = { caller, organizationId, right, expectedRevision } as const;
    const written = await memberAct(services, order, async (transaction, seat) => {
      const { organization, userId } = seat;
      const { id } = organization;
      const before = readSettings(organization.settings);
      const { after, stored } = mergeSettings(before, change);
      const names = changedSettings(before, after);
      requireMayChange({ caller, seat, before, after, names, asked: body });
      if (names.length === 0) return { result: { organization, after }, records: [] };
      if (names.includes('legal_hold')) await awaitErasing(transaction);
      await writeSettings(transaction, id, stored);
      const moved = names.includes('centralized_billing') ? await movePayer(transaction, id) : [];
      const { reason } = body;
      const details = {
        ...settingsDetails(before, after),
        ...(reason === undefined ? {} : { reason }),
      };
      const target = organizationTarget(id);
      const record = personRecord(userId, 'settings.update', target, details);
      const raised = { ...organization, revision: organization.revision + 1 };
      return {
        result: { organization: raised, after },
        records: [record],
        fences: true,
        changed: moved,
      };
    });
    return settingsAnswer(written.organization, written.after, services);
  },
});
