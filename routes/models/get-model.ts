// GET /v1/models/{model}: one alias in the form of OpenAI's API, as its clients ask for it.
import * as v from 'valibot';
import { callableEntries } from '../../actors/catalog/snapshot.ts';
import { unknownModel } from '../../actors/catalog/use.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { catalogOf } from '../callers-catalog.ts';
import { defineRoute } from '../define.ts';
import { requireAllowed } from '../keys/allowed.ts';
import { modelHeaders, speaksMessages } from './messages.ts';
import { modelBody, modelSchema } from './schema.ts';

export const getModel = defineRoute({
  method: 'GET',
  path: '/v1/models/{model}',
  aliases: ['/api/v1/models/{model}'],
  operationId: 'getModel',
  summary: 'Read a model',
  description:
    'By its public alias. A model that is only out of order for the moment is left out of the ' +
    'list, and found here all the same. On every route that takes a model the message of ' +
    '`model_not_found` names this list and the nearest alias that can be called.',
  tag: 'Models',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:read' },
  cors: 'public',
  headers: modelHeaders,
  params: v.object({ model: v.pipe(v.string(), maxCharacters(100)) }),
  replies: { 200: { description: 'The model.', schema: modelSchema } },
  problems: ['model_not_found', 'policy_blocked'],
  handle({ params, caller, services, exchange }) {
    requireAllowed(caller, params.model);
    const catalog = catalogOf(caller, services);
    const entries = callableEntries(catalog.snapshot);
    const found = entries.find(({ alias }) => alias === params.model);
    if (found === undefined) throw unknownModel(catalog, params.model, null);
    const json = modelBody(found, speaksMessages(exchange));
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
