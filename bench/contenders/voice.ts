// The contenders of the voice benches in front of one upstream: the gateway with everything on, the
// bare relay, nginx as a socket proxy, and nothing at all.
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, portOpen, startChild } from '../child.ts';
import { Asked } from '../load/asked.ts';
import type { UpstreamJob, VoiceTarget } from '../load/voice-job.ts';
import { descendantsOf } from '../proc.ts';
import { servingThread } from '../threads.ts';
import { startGateway } from './gateway.ts';

export type VoiceContenderName = 'direct' | 'nginx' | 'bare' | 'gateway';

export interface VoiceContender {
  name: VoiceContenderName;
  target: VoiceTarget;
  /** The processes that are its cost. */
  pids(): number[];
  /** The one thread of the first process that holds the sockets; null: the whole process is. */
  thread: number | null;
  databaseCpuMicros(): number;
  stop(): Promise<void>;
}

export type VoiceUpstream = Asked<UpstreamJob>;

export async function startVoiceUpstream(): Promise<{ upstream: VoiceUpstream; port: number }> {
  const upstream = new Asked<UpstreamJob>('voice-upstream.js');
  const port = await upstream.ask<number>({ kind: 'port' }, 10_000);
  return { upstream, port };
}

const rawWire = { kind: 'raw' } as const;

/** Straight to the upstream. */
export function directVoice(upstreamPort: number): VoiceContender {
  return {
    name: 'direct',
    target: { host: '127.0.0.1', port: upstreamPort, path: '/raw', headers: {}, wire: rawWire },
    pids: () => [],
    thread: null,
    databaseCpuMicros: () => 0,
    stop: () => Promise.resolve(),
  };
}

/** uWebSockets.js + ws, one thread. */
export async function startBareVoice(upstreamPort: number): Promise<VoiceContender> {
  const path = fileURLToPath(new URL('../load/bare-voice.js', import.meta.url));
  const port = await freePort();
  const upstream = `ws://127.0.0.1:${upstreamPort}`;
  const child = startChild(process.execPath, [path, '--port', `${port}`, '--upstream', upstream]);
  await child.line(/bare voice relay ready/, 10_000);
  return {
    name: 'bare',
    target: { host: '127.0.0.1', port, path: '/relay', headers: {}, wire: rawWire },
    pids: () => [child.pid],
    thread: child.pid,
    databaseCpuMicros: () => 0,
    stop: () => child.stop(),
  };
}

export const VOICE_ID = 'bench';

/** One voice at this upstream, at prices that a thousand sessions can be held for. */
export function voiceCatalog(upstreamPort: number): object {
  const provider = {
    name: 'bench-voice',
    family: 'openai-realtime',
    base_url: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: 'bench',
  };
  const rate = { audio_input: 20, text_input: 20, audio_output: 20, text_output: 20 };
  const price = { audio_input: '1', text_input: '1', audio_output: '1', text_output: '1' };
  const model = {
    alias: 'bench-voice',
    kind: 'voice',
    routes: [{ provider: provider.name, upstream_model: 'bench-realtime' }],
    price,
    voices: { [VOICE_ID]: 'bench' },
    tokens_per_second_max: rate,
  };
  return { providers: [provider], models: [model] };
}

/** The gateway with everything on, one shard: what one thread holds is the question. */
export async function startGatewayVoice(
  upstreamPort: number,
  profileFolder?: string,
): Promise<VoiceContender> {
  const gateway = await startGateway({
    shards: 1,
    catalog: voiceCatalog(upstreamPort),
    ...(profileFolder === undefined ? {} : { profileFolder }),
  });
  const { port, headers } = gateway;
  const [pid = 0] = gateway.pids();
  const thread = await servingThread(pid, `http://127.0.0.1:${port}/voice/page.css`);
  return {
    name: 'gateway',
    target: {
      host: '127.0.0.1',
      port,
      path: '/v1/voice/sessions',
      headers: { ...headers, 'sec-websocket-protocol': 'svc.voice.v1' },
      wire: { kind: 'svc', voiceId: VOICE_ID },
    },
    pids: () => gateway.pids(),
    thread,
    databaseCpuMicros: () => gateway.databaseCpuMicros(),
    stop: () => gateway.stop(),
  };
}

const NGINX_PATHS = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'];

/** nginx as a proxy of the same sockets, one worker; null where it is not installed. */
export async function startNginxVoice(upstreamPort: number): Promise<VoiceContender | null> {
  const program = NGINX_PATHS.find((path) => existsSync(path));
  if (program === undefined) return null;
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-nginx-'));
  const port = await freePort();
  const configPath = join(folder, 'nginx.conf');
  await writeFile(configPath, configuration(folder, port, upstreamPort));
  const child = startChild(program, ['-p', folder, '-c', configPath, '-e', 'stderr']);
  await portOpen(port, child, 5_000);
  return {
    name: 'nginx',
    target: { host: '127.0.0.1', port, path: '/raw', headers: {}, wire: rawWire },
    pids: () => [child.pid, ...descendantsOf(child.pid)],
    thread: null,
    databaseCpuMicros: () => 0,
    stop: async () => {
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Started as root its worker stays root: it must reach a folder that nobody else can. */
function configuration(folder: string, port: number, upstreamPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  tcp_nodelay on;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://127.0.0.1:${upstreamPort};
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection "upgrade";
      proxy_read_timeout 600s;
    }
  }
}
`;
}
