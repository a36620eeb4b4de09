// GET /api/me/ai/preferences: which models the person prefers.
import { readPreferences } from '../../../db/accounts/preferences.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { defineRoute } from '../../define.ts';
import { preferencesBody, preferencesSchema } from './modes.ts';

export const preferencesReply = {
  200: { description: 'The preferences.', schema: preferencesSchema },
};

export const getPreferences = defineRoute({
  method: 'GET',
  path: '/api/me/ai/preferences',
  operationId: 'getAiPreferences',
  summary: 'Read which models you prefer',
  description:
    'For clients: no model route reads them. `available` tells whether the alias can be used now.',
  tag: 'Preferences',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  replies: preferencesReply,
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    const preferences = await withDeadline(readPreferences(services.sql, caller.accountId));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: preferencesBody(preferences, services.catalog.current()),
    };
  },
});
