// GET /v1/models: the enabled, healthy aliases in the list form of OpenAI's API.
import * as v from 'valibot';
import { publicEntries } from '../../actors/catalog/snapshot.ts';
import { defineRoute } from '../define.ts';

const modelListSchema = v.strictObject({
  object: v.literal('list'),
  data: v.array(
    v.strictObject({
      id: v.string(),
      object: v.literal('model'),
      created: v.pipe(v.number(), v.integer()),
      owned_by: v.literal('svc'),
    }),
  ),
});

export const listModels = defineRoute({
  method: 'GET',
  path: '/v1/models',
  aliases: ['/api/v1/models'],
  operationId: 'listModels',
  summary: 'List the models',
  tag: 'Models',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:read' },
  cors: 'public',
  replies: { 200: { description: 'The models that can be called.', schema: modelListSchema } },
  problems: [],
  handle({ services }) {
    const { snapshot } = services.catalog();
    const data = publicEntries(snapshot).map((model) => ({
      id: model.alias,
      object: 'model' as const,
      created: snapshot.builtAt,
      owned_by: 'svc' as const,
    }));
    return { status: 200, json: { object: 'list', data } };
  },
});
