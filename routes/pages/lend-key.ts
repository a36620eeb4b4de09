// POST /NAME/key lends a key to a page on the developer's own machine, in development mode. The
// key can do what the page does, and nothing else. The answer is for that page alone.
import { type PageName, readPageKey } from '../../actors/credentials/page-keys.ts';
import { Problem } from '../../runtime/problem.ts';
import { type AppRoute, defineRoute } from '../define.ts';
import { isOwnPage } from './own-page.ts';
import { capital } from './page-files.ts';

/** `doing`: what the key is lent for, as in `Lends a key for talking`. */
export function lendKeyRoute(page: PageName, doing: string): AppRoute {
  return defineRoute({
    method: 'POST',
    path: `/${page}/key`,
    operationId: `lend${capital(page)}Key`,
    summary: `Lends a key for ${doing} to the page /${page} of a development server`,
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
      const api_key = await readPageKey(config, page);
      if (api_key === null) throw new Problem('not_found');
      const headers = { 'cache-control': 'no-store' };
      return { status: 200, json: { ok: true, api_key }, headers };
    },
  });
}
