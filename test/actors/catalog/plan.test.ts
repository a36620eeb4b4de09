// `npm start -- --plan` as it is run: it says in lines what a start would change, changes nothing,
// and what it said is what the start then does. And the change of the master key.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadCatalog } from '../../../actors/catalog/load.ts';
import { planLines } from '../../../actors/catalog/plan-lines.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { ConfigError, readConfig } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openEmptyDatabase, openTestDatabase, type TestDatabase } from '../../harness/database.ts';

// slow: It starts a process for each plan that it reads.

type Members = Record<string, unknown>;

const secret = randomBytes(32).toString('base64url');
const apiKey = 'planned-credential';
const provider = { name: 'one', family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' };
const price = { input_per_million: '1', output_per_million: '2' };
const model = { alias: 'm', routes: [{ provider: 'one', upstream_model: 'x' }], price };
const log = createLog({ level: 'silent', base: {}, sync: true });
const program = fileURLToPath(new URL('../../../runtime/start.js', import.meta.url));

let database: TestDatabase;
let sql: Sql;
let folder: string;
let path: string;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
  folder = await mkdtemp(join(tmpdir(), 'tollgate-plan-'));
  path = join(folder, 'catalog.json');
});
after(async () => {
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Ran {
  code: number;
  lines: string[];
  errors: string;
}

async function run(document: unknown, env: Record<string, string> = {}): Promise<Ran> {
  await writeFile(path, JSON.stringify(document));
  const environment = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: database.url,
    TOLLGATE_DATA: join(folder, 'data'),
    TOLLGATE_CONFIG: path,
    TOLLGATE_SECRET: secret,
    ...env,
  };
  return new Promise((resolve) => {
    const options = { env: environment, timeout: 60_000 };
    execFile(process.execPath, [program, '--plan'], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, lines: stdout.split('\n').filter((line) => line !== ''), errors: stderr });
    });
  });
}

/** What a start does with the document. */
async function apply(document: unknown, key = secret, previous: string | null = null) {
  await writeFile(path, JSON.stringify(document));
  return loadCatalog({
    config: readConfig({ TOLLGATE_CONFIG: path }),
    simulatorUrl: null,
    sql,
    sealer: createSealer(key),
    previousSealer: previous === null ? null : createSealer(previous),
    log,
  });
}

async function everythingStored(): Promise<unknown> {
  return sql`SELECT (SELECT json_agg(p) FROM providers p) AS providers,
    (SELECT json_agg(m) FROM models m) AS models, (SELECT count(*) FROM audit_events) AS events`;
}

/** Plans, sees that nothing has changed, and starts: it must do what was planned. */
async function planned(document: unknown): Promise<string[]> {
  const stored = await everythingStored();
  const { code, lines, errors } = await run(document);
  assert.equal(code, 0, errors);
  assert.deepEqual(await everythingStored(), stored, 'the plan changes nothing');
  assert.deepEqual(planLines((await apply(document)).plan), lines);
  assert.ok(!lines.join().includes(apiKey));
  return lines;
}

test('what is new, differs or is forgotten stands in the plan, then is done', async () => {
  const first = { providers: [{ ...provider, api_key: apiKey }], models: [model] };
  assert.deepEqual(await planned(first), ['+ provider one', '+ model m']);
  assert.deepEqual(await planned(first), ['= nothing to change']);
  await sql`UPDATE models SET definition = definition || '{"enabled": false}'`;
  assert.deepEqual(await planned(first), [
    '= nothing to change',
    '! model m: enabled: the administrator wins until the file changes it',
    '    enabled: the file has true, the administrator false',
  ]);
  const changed = {
    providers: [{ ...provider, base_url: 'http://127.0.0.1:10/v1' }],
    prices: [{ name: 'card', ...price }],
    models: [{ ...model, price: 'card', enabled: false }],
  };
  assert.deepEqual(await planned(changed), [
    '~ provider one: base_url, api_key',
    '+ price card',
    '~ model m: price: the file wins',
    `    price: the file has "card", the administrator ${JSON.stringify(price)}`,
  ]);
  assert.deepEqual(await planned({ providers: [provider] }), [
    '~ provider one: base_url',
    '? price card: declared before, not any more; it stays until it is deleted',
    '? model m: declared before, not any more; it stays until it is deleted',
  ]);
  assert.deepEqual(await planned({ providers: [provider] }), ['= nothing to change']);
  const rows = await sql`SELECT name FROM models`;
  assert.deepEqual([...rows], [{ name: 'm' }], 'what is forgotten is not deleted');
});

test('every change of a start is an audit event, without secrets', async () => {
  const events = await sql<{ action: string; actor: string; details: Members }[]>`
    SELECT action, actor, details FROM audit_events ORDER BY id`;
  assert.deepEqual(events.map(({ action }) => action).slice(0, 3), [
    'provider.create',
    'model.create',
    'provider.update',
  ]);
  assert.ok(events.every(({ actor }) => actor === 'configuration'));
  assert.deepEqual(
    events.slice(0, 3).map(({ details }) => details.credential),
    ['set', undefined, 'removed'],
  );
  assert.ok(!JSON.stringify(events).includes(apiKey));
});

test('what a dollar is worth moves every price: it stands in the plan, then is done', async () => {
  const declared = { providers: [provider] };
  const line = (before: number, after: number) => [`~ credits_per_usd: from ${before} to ${after}`];
  assert.deepEqual(await planned({ ...declared, credits_per_usd: 250 }), line(100, 250));
  assert.deepEqual(await planned({ ...declared, credits_per_usd: 250 }), ['= nothing to change']);
  assert.deepEqual(await planned(declared), line(250, 100));
  const events = await sql<{ actor: string; subject: string; details: Members }[]>`
    SELECT actor, subject, details FROM audit_events
    WHERE action = 'catalog.update' ORDER BY id`;
  const event = (before: number, after: number) => ({
    actor: 'configuration',
    subject: 'catalog:credits_per_usd',
    details: { before, after },
  });
  assert.deepEqual([...events], [event(100, 250), event(250, 100)]);
});

test('a bad document is one line and exit 1', async () => {
  const bad = { providers: [provider], models: [{ ...model, price: { input_per_million: '1' } }] };
  for (const [document, message] of [
    [bad, /models\[0\]\.price\.output_per_million/],
    [{ modls: [] }, /modls/],
  ] as const) {
    const { code, lines, errors } = await run(document);
    assert.equal(code, 1);
    assert.deepEqual(lines, []);
    assert.match(errors, message);
    assert.equal(errors.trim().split('\n').length, 1);
  }
});

test('what does not fit what is stored is told by the plan as the start tells it', async () => {
  await apply({ providers: [provider], models: [model] });
  const renamed = {
    providers: [provider],
    models: [{ ...model, alias: 'm-1' }],
    routes: [{ alias: 'm', pool: [{ model: 'm-1' }] }],
  };
  const moved = { providers: [{ ...provider, family: 'serper' }] };
  for (const [document, line] of [
    [renamed, 'route m: alias: "m" is the name of a model'],
    [moved, 'model m: routes[0].provider: there is no provider "one" that runs models'],
  ] as const) {
    const stored = await everythingStored();
    await assert.rejects(apply(document), (error: Error) => {
      assert.ok(error instanceof ConfigError, 'the operator is told in one line, without a stack');
      assert.ok(error.message.endsWith(line), error.message);
      return true;
    });
    const { code, lines, errors } = await run(document);
    assert.deepEqual([code, lines], [1, []]);
    assert.ok(errors.trim().endsWith(line), errors);
    assert.deepEqual(await everythingStored(), stored);
  }
});

test('a new database and data folder are told as they would be, and not made', async () => {
  const empty = await openEmptyDatabase();
  try {
    const document = { providers: [provider] };
    assert.deepEqual((await run(document, { DATABASE_URL: empty.url })).lines, ['+ provider one']);
    const tables = await empty.pool('general', 1)`
      SELECT 1 FROM pg_tables WHERE schemaname = 'public'`;
    assert.equal(tables.length, 0);
    const nowhere = join(folder, 'new');
    const alone = await run(document, { DATABASE_URL: '', TOLLGATE_DATA: nowhere });
    assert.deepEqual(alone.lines, ['+ provider one']);
    assert.ok(!existsSync(nowhere));
    const made = await mkdtemp(join(folder, 'made-'));
    const beside = { DATABASE_URL: empty.url, TOLLGATE_DATA: made, TOLLGATE_SECRET: '' };
    assert.deepEqual((await run(document, beside)).lines, ['+ provider one']);
    assert.deepEqual(await readdir(made), [], 'not even a master key');
  } finally {
    await empty.close();
  }
});

test('a credential opens for the provider alone that it was stored for', async () => {
  await apply({
    providers: [
      { ...provider, api_key: apiKey },
      { ...provider, name: 'two' },
    ],
  });
  await sql`UPDATE providers SET (credential, credential_key_id) =
    (SELECT credential, credential_key_id FROM providers WHERE name = 'one') WHERE name = 'two'`;
  await assert.rejects(apply({}), 'two would be sent what is of one');
  await sql`DELETE FROM providers WHERE name = 'two'`;
  await apply({});
});

test('credentials under the previous master key are sealed anew, once', async () => {
  const next = randomBytes(32).toString('base64url');
  await apply({ providers: [{ ...provider, api_key: apiKey }], models: [model] });
  const other = await run({}, { TOLLGATE_SECRET: next });
  assert.equal(other.code, 1);
  assert.match(other.errors, /provider one is sealed under another key/);
  const told = await run({}, { TOLLGATE_SECRET: next, TOLLGATE_SECRET_PREVIOUS: secret });
  assert.equal(told.code, 0, told.errors);
  await assert.rejects(apply({}, next), (error: Error) => {
    assert.ok(error instanceof ConfigError, 'without a stack');
    assert.match(error.message, /^TOLLGATE_SECRET: .* is sealed under another key/);
    return true;
  });
  const { snapshot } = await apply({}, next, secret);
  assert.equal(snapshot.models[0]?.targets[0]?.apiKey, apiKey);
  const count = async () =>
    (await sql`SELECT 1 FROM audit_events WHERE action = 'provider.reseal'`).length;
  assert.equal(await count(), 1);
  const alone = await apply({}, next);
  assert.equal(alone.snapshot.models[0]?.targets[0]?.apiKey, apiKey, 'the old key is not needed');
  await apply({}, next, secret);
  assert.equal(await count(), 1);
});

test('a reader of the plan or the help who has left early is no failure', async () => {
  await writeFile(path, JSON.stringify({ providers: [provider], models: [model] }));
  for (const option of ['--plan', '--help']) {
    const child = spawn(process.execPath, [program, option], {
      env: { PATH: process.env.PATH ?? '', DATABASE_URL: database.url, TOLLGATE_CONFIG: path },
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    const [code] = await once(child, 'close');
    assert.deepEqual([code, errors], [0, ''], option);
  }
});

test('members of video differ as others do, an undeclared kind is not written', async () => {
  const empty = await openTestDatabase();
  const own = empty.pool('general', 1);
  const films = { name: 'films', family: 'google-veo', base_url: provider.base_url };
  const film = {
    alias: 'film',
    kind: 'video',
    routes: [{ provider: 'films', upstream_model: 'f' }],
    price: { per_second_of_video: '0.1' },
    video: { durations: [8], resolutions: { '720p': {} }, aspect_ratios: ['1:1'], audio: 'never' },
  };
  const routes = [
    { alias: 'auto', pool: [{ model: 'm' }] },
    { alias: 'svc-video', kind: 'video', pool: [{ model: 'film' }] },
  ];
  const linesOf = async (document: unknown) => {
    await writeFile(path, JSON.stringify(document));
    const config = readConfig({ TOLLGATE_CONFIG: path });
    const sealer = createSealer(secret);
    const options = { config, simulatorUrl: null, sql: own, sealer, previousSealer: null, log };
    return planLines((await loadCatalog(options)).plan);
  };
  const first = { providers: [provider, films], models: [model, film], routes };
  assert.equal((await linesOf(first)).length, 6);
  const [route] = await own`SELECT definition FROM routes WHERE name = 'auto'`;
  assert.ok(route !== undefined);
  assert.ok(!('kind' in route.definition), 'builds of before would refuse it');
  const second = {
    providers: [provider, { ...films, media_hosts: ['*.example.com'], jobs_max: 2 }],
    models: [model, { ...film, video: { ...film.video, durations: [4, 8] } }],
    routes: [{ ...routes[0], kind: 'generation' }, routes[1]],
  };
  assert.deepEqual(await linesOf(second), [
    '~ provider films: media_hosts, jobs_max',
    '~ model film: video',
    '~ route auto: kind',
  ]);
  await empty.close();
});
