// POST /search/key: in development mode a page on the developer's own machine is lent a key that
// can search and nothing else. The answer is for that page alone.
import { readPageKey } from '../../../actors/credentials/page-keys.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { isOwnPage } from '../own-page.ts';

export const lendSearchKey = defineRoute({
  method: 'POST',
  path: '/search/key',
  operationId: 'lendSearchKey',
  summary: 'Lends a key for searching to the page /search of a development server',
  tag: 'pages',
  documents: [],
  access: { kind: 'none' },
  cors: 'none',
  replies: { 200: { description: 'The key.', mediaType: 'application/json' } },
  problems: ['not_found', 'forbidden'],
  handle: async ({ exchange, services }) => {
    const { config } = services;
    if (config.mode !== 'dev') throw new Problem('not_found');
    if (!isOwnPage(exchange, config.baseUrl)) throw new Problem('forbidden');
    const api_key = await readPageKey(config, 'search');
    if (api_key === null) throw new Problem('not_found');
    return { status: 200, json: { ok: true, api_key }, headers: { 'cache-control': 'no-store' } };
  },
});
