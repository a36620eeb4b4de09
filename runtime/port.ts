// A free port for PORT=0: all shards must share one, so it is chosen before they listen.
import { createServer } from 'node:net';

/** Asks the kernel for a port that is free now on `host`. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
