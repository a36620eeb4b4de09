// Every test file with properties, each property twenty times as often as in the short suite, with
// new seeds. The files run as they are: their source of randomness is asked for more.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { recorded, say } from './record.ts';

const TIMES = 20;
const FILE_MS = 1_200_000;
const OUTPUT_MAX = 100_000;

const root = fileURLToPath(new URL('../../../', import.meta.url));
const compiled = fileURLToPath(new URL('../', import.meta.url));
const times = process.env.TOLLGATE_LONG_MINUTES === undefined ? 1 : TIMES;

/** Test files that use the library of properties, from the tests' folder. */
function propertyFiles(): string[] {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.test.ts') && !name.startsWith('long/'))
    .filter((name) =>
      readFileSync(join(root, 'test', name), 'utf8').includes("harness/properties.ts'"),
    )
    .sort();
}

interface Ran {
  runs: number;
  seconds: number;
}

async function runFile(name: string): Promise<Ran> {
  const loader = new URL('./more-runs-worker.js', import.meta.url);
  loader.searchParams.set('times', String(times));
  const begun = performance.now();
  const file = join(compiled, name.replace(/\.ts$/, '.js'));
  const child = spawn(process.execPath, ['--import', loader.href, file], {
    // With it the child takes itself for a part of this test run, and writes for that alone.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, TOLLGATE_TEST_SEED: 'new' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_MAX);
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), FILE_MS);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  assert.equal(code, 0, `${name} failed\n${output}`);
  const runs = Number(/# property runs: (\d+)/.exec(output)?.[1] ?? 0);
  assert.ok(runs > 0, `${name} ran no property`);
  return { runs, seconds: (performance.now() - begun) / 1_000 };
}

test(`every property, ${TIMES} times as many runs`, async () => {
  const files = propertyFiles();
  const frame = {
    name: 'long-random',
    title: 'Properties under many random cases',
    method: `Every file with properties, each property ${times} times its usual runs, new seeds.`,
  };
  await recorded(frame, async () => {
    const rows: string[][] = [];
    for (const [index, name] of files.entries()) {
      const { runs, seconds } = await runFile(name);
      say(`${index + 1} of ${files.length}: ${name}, ${runs} runs, ${seconds.toFixed(1)} s`);
      rows.push([name.replace('.test.ts', ''), runs.toLocaleString('en-US'), seconds.toFixed(1)]);
    }
    return {
      columns: ['file', 'runs', 'seconds'],
      rows,
      bars: [
        {
          text: 'files whose properties hold',
          limit: files.length,
          measured: rows.length,
          unit: '',
          sense: 'least',
        },
      ],
      chart: null,
      notes: [],
    };
  });
});
