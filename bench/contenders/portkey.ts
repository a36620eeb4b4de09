// The Portkey gateway, the nearest peer on this runtime: installed on demand into `bench/peers`,
// with its own lock file, and started by `peers/portkey.ts`.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort, portOpen, startChild } from '../child.ts';
import { CHAT_PATH, type Contender, UPSTREAM_MODEL } from '../contender.ts';

const folder = fileURLToPath(new URL('../../../bench/peers/', import.meta.url));

/** Starts the peer in its production mode; installs it first where it is missing. */
export async function startPortkey(simulatorPort: number): Promise<Contender> {
  await install();
  const path = fileURLToPath(new URL('../peers/portkey.js', import.meta.url));
  const port = await freePort();
  const child = startChild(process.execPath, [path, `--port=${port}`, '--headless'], {
    env: { NODE_ENV: 'production' },
    cwd: folder,
  });
  await portOpen(port, child, 20_000);
  return {
    name: 'portkey',
    description: '@portkey-ai/gateway 1.15.2, one thread',
    port,
    path: CHAT_PATH,
    model: UPSTREAM_MODEL,
    headers: {
      authorization: 'Bearer sim',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${simulatorPort}/v1`,
    },
    pids: () => [child.pid],
    databaseCpuMicros: () => 0,
    stop: () => child.stop(),
  };
}

async function install(): Promise<void> {
  if (existsSync(`${folder}node_modules/@portkey-ai/gateway/build/start-server.js`)) return;
  console.log('  installing the Portkey gateway into bench/peers (npm ci, once) …');
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    timeout: 180_000,
  });
}
