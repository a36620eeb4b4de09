// GET /api/v1/llm/models: the desktop-compatible catalog with capabilities and credit rates.
import * as v from 'valibot';
import { defineRoute } from '../define.ts';
import { mayName } from '../keys/allowed.ts';
import { catalogEntries, catalogEntrySchema } from './schema.ts';

export const listLlmModels = defineRoute({
  method: 'GET',
  path: '/api/v1/llm/models',
  operationId: 'listLlmModels',
  summary: 'Read the catalog of models',
  tag: 'Models',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:read' },
  cors: 'public',
  replies: {
    200: {
      description: 'Every enabled model that the key may use, with its rates.',
      schema: v.strictObject({ ok: v.literal(true), models: v.array(catalogEntrySchema) }),
    },
  },
  problems: [],
  handle({ caller, services }) {
    const entries = catalogEntries(services.catalog.current().snapshot);
    const models = entries.filter(({ alias }) => mayName(caller, alias));
    return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ok: true, models } };
  },
});
