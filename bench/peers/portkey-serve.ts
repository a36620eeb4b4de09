// Stands between the Portkey gateway and its HTTP server: same function, with the global objects
// left alone and bound to loopback. Nothing else is changed.
import { createRequire } from 'node:module';

interface ServeOptions {
  fetch: unknown;
  port: number;
  hostname?: string;
  overrideGlobalObjects?: boolean;
}
type Serve = (options: ServeOptions) => unknown;

const require = createRequire(
  new URL('../../../bench/peers/node_modules/@portkey-ai/gateway/package.json', import.meta.url),
);
const original = require('@hono/node-server') as { serve: Serve };

export const serve: Serve = (options) =>
  original.serve({ ...options, hostname: '127.0.0.1', overrideGlobalObjects: false });
