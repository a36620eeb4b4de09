// Starts the Portkey gateway from `bench/peers/node_modules` unchanged, but for one option of its
// HTTP server: its override of the global `Response` breaks every stream ("immutable" headers).
import { register } from 'node:module';

/** From dist/bench/peers to the sources' folder, where the package is installed. */
const entry = new URL(
  '../../../bench/peers/node_modules/@portkey-ai/gateway/build/start-server.js',
  import.meta.url,
);

register('./portkey-hook.js', import.meta.url);
await import(entry.href);
