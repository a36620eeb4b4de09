// The build, as npm runs it. It takes some versions of Node, leaves the tests out where their
// packages are not installed, and a start compiles what has changed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sourceFile } from '../../runtime/files.ts';

const root = fileURLToPath(sourceFile(''));
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

interface Run {
  /** The Node that it takes itself for. */
  node?: { version: string; modules: string };
  script?: string;
}

/** Runs a file of a clone. */
function run(clone: string, argv: string[], { node, script }: Run = {}) {
  const versions = `{ ...process.versions, node: '${node?.version}', modules: '${node?.modules}' }`;
  const posing = `Object.defineProperty(process, 'versions', { value: ${versions} });`;
  const preload = node === undefined ? [] : ['--import', `data:text/javascript,${posing}`];
  const child = spawnSync(process.execPath, [...preload, ...argv], {
    cwd: clone,
    env: {
      PATH: process.env.PATH,
      ...(script === undefined ? {} : { npm_lifecycle_event: script }),
    },
    encoding: 'utf8',
  });
  return { code: child.status, said: child.stdout + child.stderr };
}

/** A clone with hardly any sources, installed as with `--omit=dev`. */
/** Pages whose browser has modules of the usual kind. */
const pages = ['identity', 'mailbox', 'search', 'video'];

let clone: string;
before(async () => {
  clone = await mkdtemp(join(tmpdir(), 'tollgate-build-'));
  const copied = [
    ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.product.json'],
    ...['runtime/build/build.mjs', 'runtime/build/node-version.mjs', 'runtime/build/bundle.ts'],
    ...['runtime/files.ts', 'routes/pages/voice/browser/tsconfig.json'],
    ...pages.map((page) => `routes/pages/${page}/browser/tsconfig.json`),
  ];
  for (const path of copied) {
    await mkdir(dirname(join(clone, path)), { recursive: true });
    await copyFile(join(root, path), join(clone, path));
  }
  const written = [
    ...[
      'runtime/main.ts',
      'runtime/shard.ts',
      'runtime/commands/audit-verify.ts',
      'actors/a.ts',
      'routes/a.ts',
      'media/a.ts',
    ],
    ...['db/a.ts', 'bench/sim/a.ts', 'test/a.ts', 'routes/pages/voice/browser/page.ts'],
    ...pages.map((page) => `routes/pages/${page}/browser/page.ts`),
  ];
  for (const path of written) {
    await mkdir(dirname(join(clone, path)), { recursive: true });
    await writeFile(join(clone, path), 'export const made = 1;\n');
  }
  await mkdir(join(clone, 'node_modules'));
  for (const name of [
    'typescript',
    '@typescript',
    'esbuild',
    '@esbuild',
    '@types',
    'undici-types',
  ]) {
    await symlink(join(root, 'node_modules', name), join(clone, 'node_modules', name));
  }
});
after(() => rm(clone, { recursive: true, force: true }));

const build = 'runtime/build/build.mjs';
const needed = 'tollgate needs Node ^20.18.1 || ^22';

test('every command that runs code looks at the version of Node before all else', () => {
  const { format, ...others } = manifest.scripts as Record<string, string>;
  assert.equal(format, 'biome check --write .');
  for (const [name, command] of Object.entries(others)) {
    assert.ok(command.startsWith(`node ${build}`), name);
  }
});

test('npm runs no script of a package, and the lock file wants the same Node', async () => {
  const settings = await readFile(join(root, '.npmrc'), 'utf8');
  assert.ok(settings.split('\n').includes('ignore-scripts=true'));
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const { engines, dependencies, devDependencies } = lock.packages[''];
  assert.deepEqual(engines, manifest.engines);
  assert.deepEqual(
    { ...dependencies, ...devDependencies },
    {
      ...manifest.dependencies,
      ...manifest.devDependencies,
    },
  );
});

test('another Node ends in one line with the remedy', () => {
  const refused = [
    { version: '18.20.8', modules: '108' },
    { version: '20.18.0', modules: '115' },
    { version: '21.7.3', modules: '120' },
    { version: '24.21.0', modules: '137' },
    { version: '26.10.0', modules: '147' },
  ];
  for (const node of refused) {
    const line = (remedy: string) =>
      `${needed}, this is ${node.version}: npx -p node@22 npm ${remedy}\n`;
    const start = run(root, [build, '--if-stale'], { node, script: 'start' });
    assert.deepEqual(start, { code: 1, said: line('start') });
    const bench = run(root, [build, '--with-tests'], { node, script: 'bench' });
    assert.deepEqual(bench, { code: 1, said: line('run bench') });
    const direct = run(root, ['dist/runtime/start.js'], { node });
    assert.deepEqual(direct, { code: 1, said: line('start') });
  }
  for (const version of ['20.18.1', '20.19.0', '22.0.0', '22.23.3']) {
    const check = run(root, ['runtime/build/node-version.mjs'], {
      node: { version, modules: process.versions.modules },
    });
    assert.deepEqual(check, { code: 0, said: '' });
  }
});

test('a later Node runs where the package has a binary that can be loaded', async () => {
  const node = { version: '24.21.0', modules: '137' };
  const folder = join(clone, 'node_modules', 'uWebSockets.js');
  const binary = join(folder, `uws_${process.platform}_${process.arch}_137.node`);
  await mkdir(folder);
  await writeFile(binary, 'for another system');
  const { code, said } = run(clone, ['runtime/build/node-version.mjs'], { node });
  assert.equal(code, 1);
  assert.match(
    said,
    /^tollgate needs .* 24\.21\.0, where uWebSockets\.js cannot be loaded \(.*\n$/,
  );
  await rm(binary);
  const own = `dist/bin/uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  await copyFile(join(root, 'node_modules/uWebSockets.js', own), binary);
  const loaded = run(clone, ['runtime/build/node-version.mjs'], { node });
  assert.deepEqual(loaded, { code: 0, said: '' });
});

test('without the development dependencies the product alone is built', async () => {
  assert.deepEqual(run(clone, [build, '--if-stale']), { code: 0, said: '' });
  await stat(join(clone, 'dist', 'bundle', 'runtime', 'main.js'));
  await stat(join(clone, 'dist', 'routes', 'pages', 'voice', 'browser', 'page.js'));
  await assert.rejects(stat(join(clone, 'dist', 'test')));
  const tests = run(clone, [build, '--with-tests']);
  const reason = 'tests and benches need the development dependencies: npm ci';
  assert.deepEqual(tests, { code: 1, said: `tollgate cannot be built: ${reason}\n` });
});

test('a start compiles what has changed and nothing else', async () => {
  const made = join(clone, 'dist', 'db', 'a.js');
  await rm(made);
  assert.deepEqual(run(clone, [build, '--if-stale']), { code: 0, said: '' });
  await assert.rejects(stat(made), 'it was not compiled again');
  const source = join(clone, 'db', 'a.ts');
  await writeFile(source, 'export const made = 2;\n');
  const compiler = join(clone, 'node_modules', 'typescript');
  await rm(compiler);
  const without = run(clone, [build, '--if-stale']);
  const reason = 'its dependencies are not installed: npm ci';
  assert.deepEqual(without, { code: 1, said: `tollgate cannot be built: ${reason}\n` });
  await symlink(join(root, 'node_modules', 'typescript'), compiler);
  await writeFile(source, 'export const made: string = 2;\n');
  const wrong = run(clone, [build, '--if-stale']);
  assert.equal(wrong.code, 1);
  assert.match(wrong.said, /^db\/a\.ts\(1,14\): error TS2322/);
  assert.equal(run(clone, [build, '--if-stale']).code, 1, 'a failed build is no build');
  await writeFile(source, 'export const made = 3;\n');
  assert.deepEqual(run(clone, [build, '--if-stale']), { code: 0, said: '' });
  assert.match(await readFile(made, 'utf8'), /made = 3/);
});
