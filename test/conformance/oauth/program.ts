// The conformance program of the Model Context Protocol against an authorization server. It waits
// for a person, who opens the address that it prints.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../harness/port.ts';

export interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

export interface Run {
  exitCode: number | null;
  checks: Check[];
  /** What it printed, for a test that fails. */
  printed: string;
}

const deadlineMs = 120_000;
const program = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'),
);

/** On Node 20 with what it lacks of Node 22. */
function nodeOptions(): string[] {
  if ('globSync' in fs) return [];
  const hooks = new URL('./glob-child.js', import.meta.url).href;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(hooks)});`;
  return ['--import', `data:text/javascript,${encodeURIComponent(register)}`];
}

/** Runs it as a client without a secret, on a loopback port of its own. */
export async function runProgram(
  issuer: string,
  clientId: string,
  openInBrowser: (asked: URL) => Promise<void>,
): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-conformance-'));
  const names = ['--url', issuer, '--client-id', clientId, '--resource', issuer];
  const places = ['--port', String(await freePort()), '--output-dir', folder];
  const args = [...nodeOptions(), program, 'authorization', ...names, ...places];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const late = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
  const lines: string[] = [];
  let opened = Promise.resolve();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (!line.startsWith(`${issuer}/oauth/authorize?`)) return;
      opened = openInBrowser(new URL(line)).catch((error: unknown) => {
        lines.push(String(error));
        child.kill('SIGKILL');
      });
    });
  }
  try {
    await once(child, 'close');
    await opened;
    const checks = await readChecks(folder);
    return { exitCode: child.exitCode, checks, printed: lines.join('\n') };
  } finally {
    clearTimeout(late);
    await rm(folder, { recursive: true, force: true });
  }
}

async function readChecks(folder: string): Promise<Check[]> {
  const names = await readdir(folder, { recursive: true });
  const found = names.filter((name) => name.endsWith('checks.json')).sort();
  const texts = await Promise.all(found.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) => JSON.parse(text) as Check[]);
}
