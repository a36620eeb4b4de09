// The page /video and its files. A video that is fetched with a key is played from a blob.
import type { AppRoute } from '../../define.ts';
import { pageRoutes } from '../page-routes.ts';

export const videoPageRoutes: readonly AppRoute[] = pageRoutes({
  name: 'video',
  summary: 'A page to make videos, and to have videos described',
  permissions: 'microphone=(), camera=(), geolocation=()',
  policy: ["media-src 'self' blob:"],
  modules: [
    'account',
    'cards',
    'describe',
    'dom',
    'film',
    'jobs',
    'make',
    'page',
    'player',
    'price',
    'stills',
    'text',
    'wire',
  ],
});
