// Ports for what a test starts a moment later.
import { randomInt } from 'node:crypto';
import { assertPortFree } from '../../runtime/port.ts';

/** Below those that the kernel gives away by itself (ip_local_port_range of Linux). */
const range = [15_000, 32_768] as const;
const triesMax = 100;

/**
 * A port of 127.0.0.1 on which nobody listens. One that the kernel chose is one that it may give
 * to a connection of another test before ours is used.
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(...range);
    try {
      await assertPortFree({ variables: ['HOST', 'PORT'], host: '127.0.0.1', port }, 0);
      return port;
    } catch (error) {
      if (tries >= triesMax) throw error;
    }
  }
}
