// The proxy of the README, as it stands there. What uWS misreads of a request in chunks never gets
// to it, and each connection goes on or ends with an answer.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { sourceFile } from '../../runtime/files.ts';
import { freePort } from '../harness/port.ts';
import { exchangeRaw, type Serving, serve, testRoute } from './http/serving.ts';

const program = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find(existsSync);
const skip = program === undefined && 'nginx is not installed: apt-get install nginx-light';

let serving: Serving;
let folder: string;
let nginx: ChildProcess | null = null;
let port: number;
const seen: string[] = [];

/** The block of the README, with these ports and no certificate. */
async function configuration(): Promise<string> {
  const readme = await readFile(sourceFile('README.md'), 'utf8');
  const block = /```nginx\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const served = block
    .replace('127.0.0.1:8787', `127.0.0.1:${serving.port}`)
    .replace(/listen 443 ssl;.*/, `listen 127.0.0.1:${port};`);
  assert.ok(served.includes(`${serving.port}`) && served.includes(`${port}`), served);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return [
    'daemon off; master_process off; error_log stderr emerg;',
    `pid ${folder}/pid; events {} http { access_log off;`,
    ...temporary.map((name) => `${name}_temp_path ${folder}/${name};`),
    served,
    '}',
  ].join('\n');
}

async function opens(): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await sleep(20);
  }
  assert.fail('nginx does not listen');
}

before(async () => {
  if (program === undefined) return;
  const text = v.looseObject({ text: v.string() });
  serving = await serve([
    testRoute({
      method: 'POST',
      path: '/v1/say',
      headers: { 'transfer-encoding': { description: '' } },
      body: { kind: 'json', schema: text, bytesMax: 64 * 1024 },
      handle: ({ body, exchange }) => {
        seen.push(`${body.text} ${exchange.header('transfer-encoding') ?? 'whole'}`);
        return { status: 200, json: body };
      },
    }),
    testRoute({ path: '/v1/next', handle: () => ({ status: 200, json: { next: true } }) }),
  ]);
  folder = await mkdtemp(join(tmpdir(), 'tollgate-nginx-'));
  port = await freePort();
  const path = join(folder, 'nginx.conf');
  await writeFile(path, await configuration());
  nginx = spawn(program, ['-p', folder, '-c', path, '-e', 'stderr'], { stdio: 'inherit' });
  await opens();
});
after(async () => {
  nginx?.kill('SIGKILL');
  await serving?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const body = JSON.stringify({ text: 'hello' });
const size = body.length.toString(16);
const next = 'GET /v1/next HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';

for (const [name, chunks] of [
  ['no more than chunks', `${size}\r\n${body}\r\n0\r\n\r\n`],
  ['an extension', `${size};a=b\r\n${body}\r\n0\r\n\r\n`],
  ['an extension at the end', `${size}\r\n${body}\r\n0;a=b\r\n\r\n`],
  ['trailers', `${size}\r\n${body}\r\n0\r\nx-sum: 1\r\n\r\n`],
  ['bare line feeds', `${size}\n${body}\n0\n\n`],
  ['a bare line feed behind the data', `${size}\r\n${body}\n0\r\n\r\n`],
  ['no line end behind the data', `${size}\r\n${body}0\r\n\r\n`],
] as const) {
  test(`behind the proxy of the README: ${name}`, { skip }, async () => {
    seen.length = 0;
    const start = 'POST /v1/say HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
    const raw = await exchangeRaw(
      port,
      `${start}transfer-encoding: chunked\r\n\r\n${chunks}${next}`,
      10_000,
    );
    const statuses = [...raw.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code);
    if (statuses[0] === '400') {
      assert.deepEqual(statuses, ['400'], 'its refusal ends the connection');
      assert.deepEqual(seen, []);
      return;
    }
    assert.deepEqual(statuses, ['200', '200'], raw);
    assert.match(raw, /\{"text":"hello"\}[\s\S]*\{"next":true\}/);
    assert.deepEqual(seen, ['hello whole'], 'it comes with a length');
  });
}
