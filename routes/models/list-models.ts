// GET /v1/models: the enabled, healthy aliases in the list form of OpenAI's API.
import * as v from 'valibot';
import { callableEntries } from '../../actors/catalog/snapshot.ts';
import { monitorId } from '../../actors/monitor/monitor.ts';
import { defineRoute } from '../define.ts';
import type { Services } from '../services.ts';
import { modelBody, modelSchema } from './schema.ts';

const statusTimeoutMs = 1_000;

const modelListSchema = v.strictObject({ object: v.literal('list'), data: v.array(modelSchema) });

export const listModels = defineRoute({
  method: 'GET',
  path: '/v1/models',
  aliases: ['/api/v1/models'],
  operationId: 'listModels',
  summary: 'List the models',
  description: 'Left out are those whose public status is `unavailable`: no route answers.',
  tag: 'Models',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:read' },
  cors: 'public',
  replies: { 200: { description: 'The models that can be called.', schema: modelListSchema } },
  problems: [],
  async handle({ services }) {
    const unavailable = await unavailableAliases(services);
    const { snapshot } = services.catalog();
    const data = callableEntries(snapshot)
      .filter(({ alias }) => !unavailable.has(alias))
      .map(modelBody);
    const headers = { 'cache-control': 'no-store' };
    return { status: 200, headers, json: { object: 'list', data } };
  },
});

/** As last published; a status that is not known hides nothing. */
async function unavailableAliases(services: Services): Promise<ReadonlySet<string>> {
  const monitor = services.system.ref(services.monitorKind, monitorId);
  const answer = await monitor.ask('modelStatus', null, statusTimeoutMs);
  const models = answer.ok ? (answer.value?.models ?? []) : [];
  return new Set(models.filter(({ status }) => status === 'unavailable').map(({ alias }) => alias));
}
