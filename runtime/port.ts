// The port of the API before the shards listen on it: a free one for PORT=0, which all must share,
// and none that another program serves. The kernel would share that one too, and send each a part
// of the other's requests (SO_REUSEPORT).
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from './config.ts';

const askAgainMs = 100;

/** Where to listen, and the variables of its host and its port. */
export interface Listener {
  readonly variables: readonly [string, string];
  readonly host: string;
  readonly port: number;
}

/**
 * Asks the kernel for a port that is free now on `host`, which is that of `HOST`.
 * @throws ConfigError in one line when there is no listening there
 */
export async function freePort(host: string): Promise<number> {
  try {
    return await listenOnce(host, 0);
  } catch (error) {
    throw new ConfigError(`HOST: cannot listen on ${host} (${codeOf(error)})`);
  }
}

/**
 * Waits, at most `patienceMs`, until nobody listens there: a process before us may be about to end.
 * @throws ConfigError in one line when it cannot be had
 */
export async function assertPortFree(
  { variables: [hostName, portName], host, port }: Listener,
  patienceMs: number,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      await listenOnce(host, port);
      return;
    } catch (error) {
      const code = codeOf(error);
      if (code !== 'EADDRINUSE') {
        throw new ConfigError(
          `${hostName} and ${portName}: cannot listen on ${host}:${port} (${code})`,
        );
      }
      if (performance.now() >= deadline) {
        throw new ConfigError(`${portName} ${port} of ${host} is in use by another program`);
      }
    }
    await sleep(askAgainMs);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
}

/** Listens without sharing, and stops; the port that it was. */
function listenOnce(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const found = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(found));
    });
  });
}
