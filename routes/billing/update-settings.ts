// POST /api/me/billing/settings: decides when credits are bought without the person, and whose name
// invoices have.
import { audited } from '../../db/audit-events.ts';
import { decideAuto, findSettings, findStanding, keepProfile } from '../../db/billing/settings.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { newAuditId } from '../../runtime/ids.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { requireVerified } from '../identity/sign-in.ts';
import { requireBillingOwner } from './owner.ts';
import { settingsBody, settingsSchema } from './settings-body.ts';
import { requireChargeable, settingsInput } from './settings-input.ts';

export const updateSettings = defineRoute({
  method: 'POST',
  path: '/api/me/billing/settings',
  operationId: 'updateBillingSettings',
  summary: 'Change your billing settings',
  description:
    'A member that is absent stays. `auto_top_up` needs a card that a purchase with ' +
    '`save_payment_method` saved at Stripe, else 400. Below the threshold the package is bought: ' +
    'one at a time, 60 s apart, at most `per_day_max` a day and `month_max_cents` a month, UTC. ' +
    'Deciding anew ends a pause.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { profile: { name: 'Ada Lovelace', country: 'GB' } },
    schema: settingsInput,
  },
  replies: { 200: { description: 'The settings.', schema: settingsSchema } },
  problems: ['forbidden', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { accountId } = requireBillingOwner(caller);
    const { sql, system } = services;
    const { auto_top_up: auto, profile } = body;
    const before = await withDeadline(findSettings(sql, accountId));
    if (auto?.enabled === true) {
      requireVerified(caller);
      requireChargeable(services, before, auto.package_slug);
    }
    const changed = audited(sql, async (transaction) => {
      if (auto !== undefined) {
        await decideAuto(transaction, accountId, {
          enabled: auto.enabled,
          thresholdMicros: BigInt(auto.threshold_microcredits),
          packageSlug: auto.package_slug,
          perDayMax: auto.per_day_max,
          monthMaxCents: auto.month_max_cents === null ? null : BigInt(auto.month_max_cents),
        });
      }
      if (profile !== undefined) {
        const { name = null, address = null, country = null, tax_id = null } = profile;
        await keepProfile(transaction, accountId, { name, address, country, tax_id });
      }
      const settings = await findSettings(transaction, accountId);
      const standing = await findStanding(transaction, accountId);
      const event = {
        id: newAuditId(system.node),
        accountId,
        actor: caller.personId,
        action: 'billing.settings',
        subject: `account:${accountId}`,
        details: {
          members: Object.keys(body),
          ...(auto === undefined ? {} : { auto_top_up: auto }),
        },
      };
      return { result: { settings, standing }, event };
    });
    const { settings, standing } = await withDeadline(changed);
    const json = settingsBody(settings, standing?.restrictedAt === null);
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
