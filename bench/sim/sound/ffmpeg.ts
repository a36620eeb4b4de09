// The installed ffmpeg as a filter: bytes or a file in, bytes out, a few at a time, never for long.
// A system binary is not looked for: the same build gives the same bytes.
import { spawn } from 'node:child_process';
import installed from '@ffmpeg-installer/ffmpeg';

const runsMax = 2;
const timeoutMs = 20_000;
const outputBytesMax = 256 * 1024 * 1024;

let running = 0;
const waiting: (() => void)[] = [];

/** What it wrote to its standard output; null when it failed, took too long or wrote too much. */
export async function runFfmpeg(options: readonly string[], input: Buffer): Promise<Buffer | null> {
  if (running >= runsMax) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await filter(options, input);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

function filter(options: readonly string[], input: Buffer): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const child = spawn(installed.path, ['-v', 'error', '-nostdin', ...options], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const parts: Buffer[] = [];
    let length = 0;
    child.stdout.on('data', (part: Buffer) => {
      length += part.length;
      if (length > outputBytesMax) child.kill('SIGKILL');
      else parts.push(part);
    });
    // It may end before it has read everything.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.on('error', () => undefined);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0 ? Buffer.concat(parts) : null);
    });
  });
}
