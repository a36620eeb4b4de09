// POST /video/session: in development mode a page on the developer's own machine is lent a key for
// videos. It is signed in as well, for its media elements, which send no header.
import { readDevelopmentSession } from '../../../actors/credentials/development-file.ts';
import { readPageKey } from '../../../actors/credentials/page-keys.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { isOwnPage } from '../own-page.ts';

export const lendVideoSession = defineRoute({
  method: 'POST',
  path: '/video/session',
  operationId: 'lendVideoSession',
  summary: 'Signs the page /video of a development server in, and lends it a key for videos',
  tag: 'pages',
  documents: [],
  access: { kind: 'none' },
  cors: 'none',
  replies: {
    200: {
      description: 'The key.',
      mediaType: 'application/json',
      headers: { 'set-cookie': 'The session, out of reach of scripts.' },
    },
  },
  problems: ['not_found', 'forbidden'],
  handle: async ({ exchange, services }) => {
    const { config } = services;
    if (config.mode !== 'dev') throw new Problem('not_found');
    if (!isOwnPage(exchange, config.baseUrl)) throw new Problem('forbidden');
    // Read before the first wait: headers do not outlive the first turn.
    const isSecure = exchange.header('origin')?.startsWith('https:') === true;
    const [session, api_key] = await Promise.all([
      readDevelopmentSession(config),
      readPageKey(config, 'video'),
    ]);
    if (session === null || api_key === null) throw new Problem('not_found');
    const cookie = `svc_session=${session}; Path=/; HttpOnly; SameSite=Lax`;
    return {
      status: 200,
      json: { ok: true, api_key },
      headers: {
        'cache-control': 'no-store',
        'set-cookie': isSecure ? `${cookie}; Secure` : cookie,
      },
    };
  },
});
