// The build: tsc for server and pages, then the bundle. Plain JavaScript, as it runs before
// anything is compiled. Without the development dependencies it compiles the product alone.
//   --if-stale       nothing to do where `dist` was made of these sources
//   --with-tests     refuses where tests and benches cannot be compiled
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
/** Each has modules for browsers, with types of their own. What servers import too is alike. */
const pages = ['identity', 'mailbox', 'search', 'video', 'voice'];
const productFolders = ['runtime', 'actors', 'routes', 'media', 'db', 'bench/sim'];

/** Of all that the product is compiled from. By content: copies and checkouts change the times. */
function hashSources() {
  const files = productFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => /\.ts$|tsconfig\.json$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  const hash = createHash('sha256');
  for (const file of [...files, 'tsconfig.json', 'package-lock.json'].sort()) {
    const content = readFileSync(join(root, file));
    hash.update(`\n${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function stop(reason) {
  process.stderr.write(`tollgate cannot be built: ${reason}\n`);
  process.exit(1);
}

/** The compiler and esbuild say themselves what is wrong. */
async function run(...argv) {
  const child = spawn(process.execPath, argv, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exit(1);
}

const options = process.argv.slice(2);
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const hasAll = Object.keys(devDependencies).every((name) =>
  existsSync(join(root, 'node_modules', name)),
);
if (options.includes('--with-tests') && !hasAll) {
  stop('tests and benches need the development dependencies: npm ci');
}
const sources = hashSources();
const built = existsSync(stamp) ? readFileSync(stamp, 'utf8') : null;
if (!options.includes('--if-stale') || built !== sources) {
  if (!existsSync(compiler)) stop('its dependencies are not installed: npm ci');
  mkdirSync(dist, { recursive: true });
  // Whoever ends in the middle leaves none.
  rmSync(stamp, { force: true });
  await Promise.all([
    run(compiler, '-p', hasAll ? 'tsconfig.json' : 'tsconfig.product.json'),
    ...pages.map((page) => run(compiler, '-p', `routes/pages/${page}/browser/tsconfig.json`)),
  ]);
  await run(join(dist, 'runtime/build/bundle.js'));
  writeFileSync(stamp, sources);
}
