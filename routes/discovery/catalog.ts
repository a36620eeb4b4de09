// GET /api/catalog: active packages, enabled surfaces, and where clients and documents are.
import * as v from 'valibot';
import { clientLibraries } from '../../media/providers/clients.ts';
import { defineRoute } from '../define.ts';
import { packageBody, packageSchema, surfaceBodies, surfaceSchema } from './offers.ts';

const catalogSchema = v.strictObject({
  ok: v.literal(true),
  packages: v.array(packageSchema),
  surfaces: v.array(surfaceSchema),
  sdk: v.array(v.strictObject({ name: v.string(), package: v.string(), base_url: v.string() })),
  docs: v.strictObject({ reference: v.string(), openapi: v.string(), model_openapi: v.string() }),
});

export const catalog = defineRoute({
  method: 'GET',
  path: '/api/catalog',
  operationId: 'getCatalog',
  summary: 'Read packages, surfaces and where to find clients and documents',
  tag: 'Discovery',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'public',
  replies: { 200: { description: 'The catalog.', schema: catalogSchema } },
  problems: [],
  handle({ services }) {
    const { snapshot } = services.catalog.current();
    const { baseUrl } = services.config;
    return {
      status: 200,
      headers: { 'cache-control': 'public, max-age=60, stale-while-revalidate=300' },
      json: {
        ok: true,
        packages: snapshot.packages.map(packageBody),
        surfaces: surfaceBodies(services.catalog),
        sdk: clientLibraries.map(({ name, package: library, basePath }) => ({
          name,
          package: library,
          base_url: `${baseUrl}${basePath}`,
        })),
        docs: {
          reference: `${baseUrl}/docs`,
          openapi: `${baseUrl}/api/openapi.json`,
          model_openapi: `${baseUrl}/api/v1/openapi.json`,
        },
      },
    };
  },
});
