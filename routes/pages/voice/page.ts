// The page /voice and its files.
import type { AppRoute } from '../../define.ts';
import { pageRoutes } from '../page-routes.ts';

export const voicePageRoutes: readonly AppRoute[] = pageRoutes({
  name: 'voice',
  summary: 'A page to talk to the service',
  permissions: 'microphone=(self), camera=(), geolocation=()',
  modules: [
    'account',
    'capture-processor',
    'connection',
    'conversation',
    'graph',
    'jitter-buffer',
    'microphone',
    'orb',
    'page',
    'playback-processor',
    'resampler',
    'speaker',
    'timings',
    'transcript',
    'view',
    'wire',
  ],
});
