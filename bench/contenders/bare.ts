// The bare relay (`load/bare.ts`) as a contender.
import { fileURLToPath } from 'node:url';
import { freePort, startChild } from '../child.ts';
import { CHAT_PATH, type Contender, UPSTREAM_MODEL } from '../contender.ts';

/** uWebSockets.js + undici, bytes forwarded, `threads` threads on one port. */
export async function startBare(simulatorPort: number, threads: number): Promise<Contender> {
  const path = fileURLToPath(new URL('../load/bare.js', import.meta.url));
  const port = await freePort();
  const upstream = `http://127.0.0.1:${simulatorPort}`;
  const args = [path, '--port', String(port), '--upstream', upstream, '--threads', String(threads)];
  const child = startChild(process.execPath, args);
  await child.line(/bare relay ready/, 10_000);
  return {
    name: 'bare',
    description: `uWebSockets.js + undici, no logic, ${threads} threads`,
    port,
    path: CHAT_PATH,
    model: UPSTREAM_MODEL,
    headers: { authorization: 'Bearer sim' },
    pids: () => [child.pid],
    databaseCpuMicros: () => 0,
    stop: () => child.stop(),
  };
}
