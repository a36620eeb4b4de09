// nginx as a reverse proxy in front of the simulator: the floor for relaying bytes in C.
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, portOpen, startChild } from '../child.ts';
import { CHAT_PATH, type Contender, UPSTREAM_MODEL } from '../contender.ts';
import { descendantsOf } from '../proc.ts';

const PATHS = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'];

/** Starts nginx with `workers` workers, unbuffered, with keep-alive to its upstream. */
export async function startNginx(simulatorPort: number, workers: number): Promise<Contender> {
  const program = PATHS.find((path) => existsSync(path));
  if (program === undefined) throw new Error('nginx is not installed: apt-get install nginx-light');
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-nginx-'));
  const port = await freePort();
  const configPath = join(folder, 'nginx.conf');
  await writeFile(configPath, configuration({ folder, port, simulatorPort, workers }));
  const child = startChild(program, ['-p', folder, '-c', configPath, '-e', 'stderr']);
  await portOpen(port, child, 5_000);
  return {
    name: 'nginx',
    description: `nginx, unbuffered reverse proxy, ${workers} workers`,
    port,
    path: CHAT_PATH,
    model: UPSTREAM_MODEL,
    headers: { authorization: 'Bearer sim' },
    pids: () => [child.pid, ...descendantsOf(child.pid)],
    databaseCpuMicros: () => 0,
    stop: async () => {
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Settings {
  folder: string;
  port: number;
  simulatorPort: number;
  workers: number;
}

/** Started as root its workers stay root: they must reach a folder that nobody else can. */
function configuration({ folder, port, simulatorPort, workers }: Settings): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes ${workers};
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 16384; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  keepalive_requests 1000000000;
  keepalive_timeout 300s;
  tcp_nodelay on;
  upstream simulator {
    server 127.0.0.1:${simulatorPort};
    keepalive 1024;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://simulator;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
      client_max_body_size 8m;
      client_body_buffer_size 64k;
    }
  }
}
`;
}
