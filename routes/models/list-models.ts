// GET /v1/models: the enabled, healthy aliases in the list form of OpenAI's API.
import * as v from 'valibot';
import { callableEntries } from '../../actors/catalog/snapshot.ts';
import { catalogOf } from '../callers-catalog.ts';
import { defineRoute } from '../define.ts';
import { mayName } from '../keys/allowed.ts';
import type { MonitorServices } from '../services.ts';
import { isText, modelHeaders, speaksMessages } from './messages.ts';
import { modelBody, modelSchema } from './schema.ts';

const statusTimeoutMs = 1_000;

/** The ends of a page are told to clients of Messages alone: there is one page. */
const modelListSchema = v.strictObject({
  object: v.literal('list'),
  data: v.array(modelSchema),
  has_more: v.optional(v.literal(false)),
  first_id: v.optional(v.nullable(v.string())),
  last_id: v.optional(v.nullable(v.string())),
});

export const listModels = defineRoute({
  method: 'GET',
  path: '/v1/models',
  aliases: ['/api/v1/models'],
  operationId: 'listModels',
  summary: 'List the models',
  description:
    'Left out are those whose public status is `unavailable`: no route answers. For ' +
    'clients of Messages it is a page of that format as well, of the models that they can name. ' +
    'A key with `allowed_models` sees no others, and one in an organization those that its ' +
    'policy allows.',
  tag: 'Models',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:read' },
  cors: 'public',
  headers: modelHeaders,
  replies: { 200: { description: 'The models that can be called.', schema: modelListSchema } },
  problems: [],
  async handle({ caller, services, exchange }) {
    const forMessages = speaksMessages(exchange);
    const unavailable = await unavailableAliases(services.monitor);
    const { snapshot } = catalogOf(caller, services);
    const data = callableEntries(snapshot)
      .filter(({ alias }) => !unavailable.has(alias) && mayName(caller, alias))
      .filter((entry) => !forMessages || isText(entry))
      .map((entry) => modelBody(entry, forMessages));
    const headers = { 'cache-control': 'no-store' };
    const list = { object: 'list', data };
    if (!forMessages) return { status: 200, headers, json: list };
    const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
    return { status: 200, headers, json: { ...list, has_more: false, first_id, last_id } };
  },
});

/** As last published; a status that is not known hides nothing. */
async function unavailableAliases(services: MonitorServices): Promise<ReadonlySet<string>> {
  const monitor = services.actor();
  const answer = await monitor.ask('modelStatus', null, statusTimeoutMs);
  const models = answer.ok ? (answer.value?.models ?? []) : [];
  return new Set(models.filter(({ status }) => status === 'unavailable').map(({ alias }) => alias));
}
