// GET /api/me/billing/settings: what the account decided about its money.
import { findSettings, findStanding } from '../../db/billing/settings.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { defineRoute } from '../define.ts';
import { requireBillingOwner } from './owner.ts';
import { settingsBody, settingsSchema } from './settings-body.ts';

export const getSettings = defineRoute({
  method: 'GET',
  path: '/api/me/billing/settings',
  operationId: 'getBillingSettings',
  summary: 'Read your billing settings',
  description:
    '`auto_top_up` says when credits are bought without you, and `state` whether: `off`, ' +
    '`active`, or `paused` with its reason. The card is one that a purchase saved.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  replies: { 200: { description: 'The settings.', schema: settingsSchema } },
  problems: ['dependency_unavailable'],
  async handle({ caller, services: { sql } }) {
    const { accountId } = requireBillingOwner(caller);
    const reading = Promise.all([findSettings(sql, accountId), findStanding(sql, accountId)]);
    const [settings, standing] = await withDeadline(reading);
    const json = settingsBody(settings, standing?.restrictedAt === null);
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
