// The page /search and its files. Pictures of results lie on other hosts: a click loads one.
import type { AppRoute } from '../../define.ts';
import { pageRoutes } from '../page-routes.ts';

export const searchPageRoutes: readonly AppRoute[] = pageRoutes({
  name: 'search',
  summary: 'A page to try every surface of unified query',
  permissions: 'microphone=(), camera=(), geolocation=()',
  policy: ['img-src data: http: https:'],
  modules: [
    'account',
    'answer',
    'dom',
    'fields',
    'items',
    'page',
    'request',
    'results',
    'surfaces',
    'text',
    'wire',
  ],
});
