// GET /v1/models/{model}: one alias in the form of OpenAI's API, as its clients ask for it.
import * as v from 'valibot';
import { callableEntries } from '../../actors/catalog/snapshot.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
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
    'list, and found here all the same.',
  tag: 'Models',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:read' },
  cors: 'public',
  headers: modelHeaders,
  params: v.object({ model: v.pipe(v.string(), maxCharacters(100)) }),
  replies: { 200: { description: 'The model.', schema: modelSchema } },
  problems: ['model_not_found'],
  handle({ params, services, exchange }) {
    const entries = callableEntries(services.catalog.current().snapshot);
    const found = entries.find(({ alias }) => alias === params.model);
    if (found === undefined) {
      const message = `There is no model ${JSON.stringify(params.model)}.`;
      throw new Problem('model_not_found', { param: 'model', message });
    }
    const json = modelBody(found, speaksMessages(exchange));
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
