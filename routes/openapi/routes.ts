// GET /api/openapi.json and /api/v1/openapi.json: the machine-readable contract, in both halves.
import * as v from 'valibot';
import { type AppRoute, defineRoute } from '../define.ts';
import { type DocumentName, openApiText } from './document.ts';

const documentSchema = v.looseObject({ openapi: v.literal('3.1.0') });

/** The two routes; `table` is asked when a document is first read, when it is whole. */
export function openApiRoutes(table: () => readonly AppRoute[]): AppRoute[] {
  return [
    documentRoute('account', '/api/openapi.json', 'getAccountDocument', table),
    documentRoute('model', '/api/v1/openapi.json', 'getModelDocument', table),
  ];
}

function documentRoute(
  name: DocumentName,
  path: string,
  operationId: string,
  table: () => readonly AppRoute[],
): AppRoute {
  return defineRoute({
    method: 'GET',
    path,
    operationId,
    summary: `Read the OpenAPI document of the ${name} API`,
    tag: 'Discovery',
    documents: ['account', 'model'],
    access: { kind: 'none' },
    cors: 'public',
    replies: { 200: { description: 'OpenAPI 3.1.0.', schema: documentSchema } },
    problems: [],
    handle: ({ services }) => ({
      status: 200,
      text: openApiText(name, table(), services.config.baseUrl),
      mediaType: 'application/json',
      headers: { 'cache-control': 'public, max-age=60' },
    }),
  });
}
