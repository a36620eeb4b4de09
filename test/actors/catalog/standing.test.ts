// Who wins where the configuration declares what an administrator has changed: the administrator,
// until what is declared of this record changes.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { configurationActor } from '../../../actors/catalog/load.ts';
import { readDeclarations } from '../../../db/declarations.ts';
import { migrate } from '../../../db/driver/migrate.ts';
import { ConfigError } from '../../../runtime/config.ts';
import { type CatalogStage, type Members, masterKey, openCatalogStage } from './stage.ts';

const provider = { name: 'one', family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' };
const price = (output: string) => ({ input_per_million: '1', output_per_million: output });
const model = (alias: string, more: Members = {}) => ({
  alias,
  routes: [{ provider: 'one', upstream_model: 'x' }],
  price: price('2'),
  ...more,
});
const unchanged = ['= nothing to change'];

let stage: CatalogStage;
before(async () => {
  stage = await openCatalogStage();
});
after(() => stage?.close());
beforeEach(async () => {
  for (const table of ['models', 'providers', 'prices', 'packages', 'surfaces', 'routes']) {
    await stage.sql`DELETE FROM ${stage.sql(table)}`;
  }
  await stage.sql`DELETE FROM declarations`;
  await stage.sql`DELETE FROM exchange_rate`;
  await stage.sql`DELETE FROM audit_events`;
});

const disable = { verb: 'disable' } as const;
const remove = { verb: 'delete' } as const;
const patch = (members: Members) => ({ verb: 'update', patch: members }) as const;

async function enabled(kind: 'models' | 'providers', name: string): Promise<unknown> {
  return (await stage.stored(kind, name))?.enabled;
}

/** The records for which an administrator wins. */
async function overruled(): Promise<string[]> {
  const rows = await stage.sql<{ name: string }[]>`
    SELECT name FROM declarations WHERE overruled_at IS NOT NULL ORDER BY name`;
  return rows.map(({ name }) => name);
}

test('a change, a switch and a deletion outlive any start of the same file', async () => {
  const file = { providers: [provider], models: [model('a'), model('b'), model('c'), model('d')] };
  await stage.start(file);
  await stage.change('models', 'a', patch({ price: price('5') }));
  await stage.change('models', 'b', disable);
  await stage.change('models', 'c', remove);
  const before = await stage.everything();
  const lines = await stage.start(file);
  const [same, ...others] = lines;
  assert.equal(same, '= nothing to change');
  assert.deepEqual(others, [
    '! model a: price: the administrator wins until the file changes it',
    `    price: the file has ${JSON.stringify(price('2'))}, the administrator ` +
      JSON.stringify(price('5')),
    '! model b: enabled: the administrator wins until the file changes it',
    '    enabled: the file has true, the administrator false',
    '! model c: deleted by an administrator, who wins until the file changes it',
  ]);
  assert.deepEqual(await stage.start(file), lines);
  assert.deepEqual(await stage.everything(), before);
  assert.deepEqual(await overruled(), ['a', 'b', 'c']);
});

test('what the file changes of a record wins there, and nowhere else', async () => {
  const file = (more: Members) => ({
    providers: [provider],
    models: [model('a', more), model('b'), model('c', more)],
  });
  await stage.start(file({}));
  for (const name of ['a', 'b']) await stage.change('models', name, disable);
  await stage.change('models', 'c', remove);
  const lines = await stage.start(file({ context_window: 9_000 }));
  assert.deepEqual(lines, [
    '~ model a: context_window, enabled: the file wins',
    '    context_window: the file has 9000, the administrator 128000',
    '    enabled: the file has true, the administrator false',
    '! model b: enabled: the administrator wins until the file changes it',
    '    enabled: the file has true, the administrator false',
    '+ model c: the file wins, an administrator deleted it',
  ]);
  assert.equal(await enabled('models', 'a'), true);
  assert.equal(await enabled('models', 'b'), false);
  assert.equal(await enabled('models', 'c'), true);
  assert.deepEqual(await overruled(), ['b']);
  const events = await stage.sql<{ action: string; actor: string }[]>`
    SELECT action, actor FROM audit_events ORDER BY id DESC LIMIT 2`;
  assert.deepEqual(
    events.map(({ action, actor }) => [action, actor]).sort(),
    ['create', 'update'].map((verb) => [`model.${verb}`, configurationActor]),
  );
});

test('the order of members is no change, a default that is written out is one', async () => {
  await stage.start({ providers: [provider], models: [model('a')] });
  await stage.change('models', 'a', disable);
  const reordered = Object.fromEntries(Object.entries(model('a')).reverse());
  await stage.start({ models: [reordered], providers: [provider] });
  assert.equal(await enabled('models', 'a'), false);
  await stage.start({ providers: [provider], models: [model('a', { enabled: true })] });
  assert.equal(await enabled('models', 'a'), true, 'so a record is given back to the file');
});

test('a record that is made again, or is as the file has it, is nobody’s quarrel', async () => {
  const file = { providers: [provider], models: [model('a'), model('b')] };
  await stage.start(file);
  await stage.change('models', 'a', remove);
  const made = await stage.change('models', 'a', { verb: 'create', definition: model('a') });
  assert.ok(made.status === 'changed' && made.record.declared, 'it is declared all the while');
  await stage.change('models', 'b', disable);
  await stage.change('models', 'b', { verb: 'enable' });
  assert.deepEqual(await stage.start(file), unchanged);
  assert.deepEqual(await overruled(), []);
});

test('a record that leaves the file stays, and comes back as the file has it', async () => {
  const file = { providers: [provider], models: [model('a'), model('b')] };
  await stage.start(file);
  await stage.change('models', 'a', disable);
  const left = await stage.start({ providers: [provider], models: [model('b')] });
  assert.deepEqual(left, [
    '= nothing to change',
    '? model a: declared before, not any more; it stays until it is deleted',
  ]);
  assert.equal(await enabled('models', 'a'), false);
  assert.deepEqual(await stage.start({ providers: [provider], models: [model('b')] }), unchanged);
  await stage.change('models', 'b', disable);
  assert.deepEqual((await stage.start(file))[0], '~ model a: enabled');
  assert.equal(await enabled('models', 'a'), true);
  assert.equal(await enabled('models', 'b'), false);
});

test('a start without a file forgets nothing of what the file declares', async () => {
  const models = [model('a'), model('b')];
  const file = { credits_per_usd: 250, providers: [provider], models };
  await stage.start(file);
  await stage.change('models', 'a', disable);
  await stage.change('models', 'b', remove);
  const before = await stage.everything();
  assert.deepEqual(await stage.start(null), unchanged);
  assert.deepEqual(await stage.everything(), before);
  await stage.start(file);
  assert.equal(await enabled('models', 'a'), false);
  assert.equal(await stage.stored('models', 'b'), null);
});

test('a changed record that needs what was deleted ends the start with a line', async () => {
  const two = { ...provider, name: 'two' };
  const file = (more: Members[]) => ({ providers: [provider, two], models: [model('a'), ...more] });
  await stage.start(file([]));
  await stage.change('providers', 'two', remove);
  const before = await stage.everything();
  const needing = model('b', { routes: [{ provider: 'two', upstream_model: 'x' }] });
  await assert.rejects(stage.start(file([needing])), (error: Error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /model b: routes\[0\]\.provider: there is no provider "two"/);
    assert.match(error.message, /administrators win until the file changes them: provider two$/);
    return true;
  });
  assert.deepEqual(await stage.everything(), before);
});

test('a declared credential is compared without being told', async () => {
  const file = (key: string) => ({ providers: [{ ...provider, api_key: key }] });
  await stage.start(file('sk-1'));
  await stage.change('providers', 'one', patch({ api_key: 'sk-2' }));
  assert.deepEqual(await stage.start(file('sk-1')), [
    '= nothing to change',
    '! provider one: api_key: the administrator wins until the file changes it',
    '    api_key: they differ',
  ]);
  const [row] = await stage.sql`SELECT d::text AS row FROM declarations AS d`;
  for (const hash of ['sha256', 'sha512']) {
    const guessed = createHash(hash).update('sk-1').digest('hex');
    assert.ok(!String(row?.row).includes(guessed) && !String(row?.row).includes('sk-1'));
  }
  await stage.change('providers', 'one', disable);
  const lines = await stage.start(file('sk-3'));
  assert.equal(lines[0], '~ provider one: enabled, api_key: the file wins');
  assert.equal(await enabled('providers', 'one'), true);
  await stage.change('providers', 'one', disable);
  await stage.start({ providers: [provider] });
  assert.equal(await enabled('providers', 'one'), true, 'to declare none is another declaration');
});

test('another master key ends nobody’s change, with the previous one or without', async () => {
  const file = { providers: [{ ...provider, api_key: 'sk-1' }], models: [model('a')] };
  const [second, third] = [0, 1].map(() => randomBytes(32).toString('base64url'));
  assert.ok(second !== undefined && third !== undefined);
  await stage.start(file);
  await stage.change('providers', 'one', disable);
  await stage.change('models', 'a', disable);
  await stage.start(file, { key: second, previousKey: masterKey });
  assert.equal(await enabled('providers', 'one'), false);
  assert.equal((await stage.start(file, { key: second }))[0], '= nothing to change');
  const changed = { ...file, providers: [{ ...provider, api_key: 'sk-2' }] };
  await stage.start(changed, { key: third, previousKey: second });
  assert.equal(await enabled('providers', 'one'), true, 'the credential is another one');
  await stage.sql`UPDATE providers SET definition = definition || '{"enabled": false}'`;
  const lost = await stage.start(changed);
  assert.deepEqual(lost.slice(0, 2), [
    '~ provider one: api_key',
    '! provider one: enabled: the administrator wins until the file changes it',
  ]);
  assert.equal(await enabled('providers', 'one'), false);
  assert.equal(await enabled('models', 'a'), false);
});

test('a credential that is lost is told to the declared server only', async () => {
  const file = { providers: [{ ...provider, api_key: 'sk-1' }] };
  await stage.start(file);
  const base_url = 'http://127.0.0.1:10/v1';
  await stage.change('providers', 'one', patch({ base_url, api_key: 'sk-2' }));
  await stage.start(file, { key: randomBytes(32).toString('base64url') });
  assert.equal((await stage.stored('providers', 'one'))?.base_url, provider.base_url);
});

/** As an older build left it. */
async function forgetDeclared(): Promise<void> {
  await stage.sql`DELETE FROM declarations`;
  await stage.sql`UPDATE exchange_rate SET declarations_kept = false`;
}

test('after the upgrade what the audit trail knows of administrators stands', async () => {
  const names = ['moved', 'same', 'switched', 'deleted', 'both'];
  const file = (more: Members, added: Members[] = []) => ({
    providers: [provider],
    models: [
      ...names.map((name) => model(name, ['moved', 'both'].includes(name) ? more : {})),
      ...added,
    ],
  });
  await stage.start(file({}));
  await stage.change('models', 'switched', disable);
  await stage.change('models', 'both', disable);
  await stage.change('models', 'deleted', remove);
  await stage.change('models', 'by-hand', { verb: 'create', definition: model('by-hand') });
  await stage.change('models', 'by-hand', remove);
  await forgetDeclared();
  const upgraded = file({ context_window: 9_000 }, [model('by-hand')]);
  const lines = await stage.start(upgraded);
  assert.deepEqual(
    lines.filter((line) => !line.startsWith(' ')),
    [
      '~ model moved: context_window',
      '! model switched: enabled: the administrator wins until the file changes it',
      '! model deleted: deleted by an administrator, who wins until the file changes it',
      '! model both: context_window, enabled: the administrator wins until the file changes it',
      '+ model by-hand',
    ],
  );
  const again = await stage.start(upgraded);
  assert.equal(again[0], '= nothing to change');
  await stage.start(file({ context_window: 9_001 }, [model('by-hand')]));
  assert.equal(await enabled('models', 'both'), true, 'from then on the file is known');
});

test('after an upgrade without the file it is still known when the file is back', async () => {
  const file = { providers: [provider], models: [model('a'), model('b')] };
  await stage.start(file);
  await stage.change('models', 'a', disable);
  await stage.change('models', 'b', remove);
  await forgetDeclared();
  await stage.start(null);
  await stage.start(file);
  assert.equal(await enabled('models', 'a'), false);
  assert.equal(await stage.stored('models', 'b'), null);
});

test('a database that is yet to be migrated tells a plan what it tells the start', async () => {
  const { sql, database } = stage;
  await stage.start({ providers: [provider], models: [model('a'), model('b')] });
  await stage.change('models', 'a', disable);
  await stage.change('models', 'b', remove);
  await sql`DROP TABLE declarations`;
  await sql`ALTER TABLE exchange_rate DROP COLUMN declarations_kept`;
  await sql`DELETE FROM migrations WHERE name = '0012-catalog-declared.sql'`;
  const told = await readDeclarations(sql, configurationActor);
  assert.deepEqual((await migrate(database.url)).applied, ['0012-catalog-declared.sql']);
  // Later migrations know more kinds.
  await sql`ALTER TABLE declarations DROP CONSTRAINT declarations_kind_check`;
  assert.deepEqual(await readDeclarations(sql, configurationActor), told);
  const known = told.map(({ name, overruledAt }) => [name, overruledAt !== null]);
  const expected = [
    ['a', true],
    ['b', true],
    ['one', false],
  ];
  assert.deepEqual(known.sort(), expected);
});

const dev = { TOLLGATE_MODE: 'dev', OPENAI_API_KEY: 'sk-env' };

test('in development the environment declares, the simulator has its new address', async () => {
  const first = { env: dev, simulatorUrl: 'http://127.0.0.1:1001' };
  const second = { env: dev, simulatorUrl: 'http://127.0.0.1:1002' };
  await stage.start(null, first);
  const before = await stage.everything();
  assert.deepEqual(await stage.start(null, first), unchanged);
  assert.deepEqual(await stage.everything(), before);
  await stage.change('providers', 'simulator', disable);
  await stage.change('providers', 'openai', disable);
  await stage.change('models', 'svc-sim-chat', patch({ display_name: 'Mine' }));
  await stage.start(null, second);
  const { base_url, enabled: isOn } = (await stage.stored('providers', 'simulator')) ?? {};
  assert.deepEqual([base_url, isOn], ['http://127.0.0.1:1002/v1', false]);
  assert.equal(await enabled('providers', 'openai'), false);
  assert.equal((await stage.stored('models', 'svc-sim-chat'))?.display_name, 'Mine');
  await stage.start(null, { ...second, env: { ...dev, OPENAI_API_KEY: 'sk-other' } });
  assert.equal(await enabled('providers', 'openai'), true);
  const lines = await stage.start({}, { env: { TOLLGATE_MODE: 'production' } });
  assert.ok(lines.some((line) => line.startsWith('? provider simulator: ')));
});

test('a local runner that is away for a start ends nobody’s change', async () => {
  const runner = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'm' }] }));
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => {
      runner.listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const { port } = runner.address() as AddressInfo;
  const upstream = `http://127.0.0.1:${port}/v1`;
  const env = { TOLLGATE_MODE: 'dev', TOLLGATE_UPSTREAM_LOCAL_URL: upstream };
  try {
    await stage.start(null, { env });
    await stage.change('models', 'local-m', disable);
    await new Promise((resolve) => {
      runner.close(resolve);
      runner.closeAllConnections();
    });
    const lines = await stage.start(null, { env });
    assert.ok(lines.some((line) => line.startsWith('? model local-m: ')));
    await listen(port);
    await stage.start(null, { env });
    assert.equal(await enabled('models', 'local-m'), false);
  } finally {
    runner.close();
    runner.closeAllConnections();
  }
});
