// GET /api/public/models: the versioned public catalog. It needs no key and is cached by anybody.
import * as v from 'valibot';
import { markupPercent } from '../../actors/wallet/price.ts';
import { databaseAnswers } from '../../db/driver/health.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { catalogEntries, catalogEntrySchema } from '../models/schema.ts';

const versionHeaders = {
  'x-svc-catalog-version': 'The content version.',
  etag: 'The same in quotes, for `if-none-match`.',
};

export const publicModels = defineRoute({
  method: 'GET',
  path: '/api/public/models',
  operationId: 'listPublicModels',
  summary: 'Read the public catalog of models',
  description:
    'The ETag and `x-svc-catalog-version` are the content version. A dollar is ' +
    '`credits_per_usd` credits, and a credit is 1,000,000 microcredits. The rates are credits, ' +
    `with the markup of \`markup_percent\` on the provider's price: 2.50 dollars are 262.5 ` +
    'credits where a credit is a cent. A request costs the sum over its tokens, rounded up to ' +
    'a microcredit once. Video models have `credits_per_second_of_video`, `video_rates` and ' +
    '`video`. A video costs its seconds at the most specific row of `video_rates`: of its ' +
    'resolution with or without sound, else of its resolution. Without a row it costs ' +
    '`credits_per_second_of_video`. A managed route of videos shows the dearest of its models.',
  tag: 'Discovery',
  documents: ['account', 'model'],
  access: { kind: 'none' },
  cors: 'public',
  headers: { 'if-none-match': { description: 'A version that the caller has: 304 if current.' } },
  replies: {
    200: {
      description: 'The catalog.',
      schema: v.strictObject({
        ok: v.literal(true),
        content_version: v.string(),
        markup_percent: v.number(),
        credits_per_usd: v.pipe(v.number(), v.integer()),
        models: v.array(catalogEntrySchema),
      }),
      headers: versionHeaders,
    },
    304: { description: 'The caller has the current version.', headers: versionHeaders },
  },
  problems: ['dependency_unavailable'],
  async handle({ services, exchange }) {
    const latency = await databaseAnswers(services.sql, services.limits.database.healthTimeoutMs);
    if (latency === null) {
      throw new Problem('dependency_unavailable', { headers: { 'retry-after': '5' } });
    }
    const { snapshot } = services.catalog.current();
    const headers = {
      'cache-control': 'public, max-age=60, stale-while-revalidate=300',
      'x-svc-catalog-version': snapshot.contentVersion,
      etag: `"${snapshot.contentVersion}"`,
    };
    const known = exchange.header('if-none-match');
    if (known === '*' || known?.includes(headers.etag)) {
      return { status: 304, text: '', mediaType: 'application/json', headers };
    }
    return {
      status: 200,
      headers,
      json: {
        ok: true,
        content_version: snapshot.contentVersion,
        markup_percent: markupPercent,
        credits_per_usd: snapshot.creditsPerUsd,
        models: catalogEntries(snapshot),
      },
    };
  },
});
