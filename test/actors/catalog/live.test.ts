// The catalog of a process whose database may take a change and never say so.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { CatalogAction } from '../../../actors/catalog/change.ts';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import type { RecordKind } from '../../../actors/catalog/kinds.ts';
import {
  type CatalogPublication,
  createLiveCatalog,
  type LiveCatalogOptions,
} from '../../../actors/catalog/live.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database?.close());

/** Commits, and loses the connection before it can say so, while `isCut`. */
function cutBehindCommits(sql: Sql, isCut: () => boolean): Sql {
  return new Proxy(sql, {
    get(target, name, receiver) {
      if (name !== 'begin' || !isCut()) return Reflect.get(target, name, receiver) as unknown;
      return async (...given: Parameters<Sql['begin']>) => {
        await target.begin(...given);
        throw Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' });
      };
    },
  });
}

const emptySnapshot = buildSnapshot(v.parse(catalogDocumentSchema, {}), () => 0);
const masterKey = randomBytes(32).toString('base64url');

/** The catalog of one process, and what it told its shards and its log. */
function openLive(members: Partial<LiveCatalogOptions> = {}) {
  const published: CatalogPublication[] = [];
  const warnings: string[] = [];
  const live = createLiveCatalog({
    sql: database.pool('general', 1),
    sealer: createSealer(masterKey),
    snapshot: emptySnapshot,
    publish: async (publication) => {
      published.push(publication);
    },
    log: {
      info: () => {},
      warn: (_members: object, message?: string) => {
        warnings.push(message ?? '');
      },
    },
    ...members,
  });
  return { live, published, warnings };
}

test('a change whose commit nobody told is served once it is repeated', async () => {
  let isCut = false;
  const { live, published } = openLive({
    sql: cutBehindCommits(database.pool('general', 1), () => isCut),
  });
  const change = (action: CatalogAction) =>
    live.change({ actor: 'acc_1', kind: 'packages', name: 'p', revision: null, action });
  const definition = { slug: 'p', name: 'P', credits: 1, price_usd: '1' };
  const served = () => published.at(-1)?.snapshot.packages.map(({ name }) => name);
  for (const [action, repeated, packages] of [
    [{ verb: 'create', definition }, 'exists', ['P']],
    [{ verb: 'update', patch: { name: 'Q' } }, 'unchanged', ['Q']],
    [{ verb: 'disable' }, 'unchanged', []],
    [{ verb: 'delete' }, 'not_found', []],
  ] as const) {
    isCut = true;
    await assert.rejects(change(action), /cut/);
    isCut = false;
    const reply = await change(action);
    assert.equal(reply.status, repeated);
    assert.deepEqual(served(), packages);
    if ('contentVersion' in reply) {
      assert.equal(reply.contentVersion, published.at(-1)?.snapshot.contentVersion);
    }
  }
  const count = published.length;
  assert.equal((await change({ verb: 'delete' })).status, 'not_found');
  assert.equal(published.length, count, 'what all have is told to nobody');
});

test('a change is answered when every shard has it, and not before', async () => {
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  let isPublishing = false;
  const { live } = openLive({
    publish: () => {
      isPublishing = true;
      return reached;
    },
  });
  const action = {
    verb: 'create',
    definition: { slug: 'q', name: 'Q', credits: 1, price_usd: '1' },
  } as const;
  let reply = '';
  const changing = live
    .change({ actor: 'acc_1', kind: 'packages', name: 'q', revision: null, action })
    .then(({ status }) => {
      reply = status;
    });
  while (!isPublishing) await sleep(1);
  await sleep(1);
  assert.equal(reply, '', 'who is answered may ask any shard');
  reach();
  await changing;
  assert.equal(reply, 'changed');
});

test('what one process changes the others follow, once', async () => {
  const here = openLive();
  const there = openLive();
  const change = async (kind: RecordKind, name: string, action: CatalogAction) => {
    const { status } = await here.live.change({
      actor: 'acc_1',
      kind,
      name,
      revision: null,
      action,
    });
    assert.equal(status, 'changed', `${kind} ${name}`);
  };
  const provider = {
    name: 'f',
    family: 'openai-chat',
    base_url: 'http://127.0.0.1:9/v1',
    api_key: 'sk-1',
  };
  const model = {
    alias: 'f',
    routes: [{ provider: 'f', upstream_model: 'f' }],
    price: { input_per_million: '1', output_per_million: '2' },
  };
  const steps: [RecordKind, CatalogAction][] = [
    ['providers', { verb: 'create', definition: provider }],
    ['models', { verb: 'create', definition: model }],
    ['models', { verb: 'update', patch: { price: { ...model.price, output_per_million: '3' } } }],
    ['providers', { verb: 'update', patch: { api_key: 'sk-2' } }],
    ['models', { verb: 'disable' }],
    ['models', { verb: 'delete' }],
    ['providers', { verb: 'delete' }],
  ];
  for (const [kind, action] of steps) {
    await change(kind, 'f', action);
    await there.live.follow();
    assert.deepEqual(there.live.current().snapshot, here.live.current().snapshot, action.verb);
    const count = there.published.length;
    await there.live.follow();
    await here.live.follow();
    assert.equal(there.published.length, count, 'what is known is told to nobody');
  }
  assert.equal(there.published.at(-1)?.sequence, there.live.current().sequence);
  assert.deepEqual([here.warnings, there.warnings], [[], []]);
});

test('what a process cannot read of others it leaves alone, and says so once', async () => {
  const newer = openLive({ sealer: createSealer(randomBytes(32).toString('base64url')) });
  const older = openLive();
  await older.live.follow();
  const before = older.live.current();
  const definition = {
    name: 'g',
    family: 'openai-chat',
    base_url: 'http://127.0.0.1:9/v1',
    api_key: 'sk-1',
  };
  const target = { actor: 'acc_1', kind: 'providers', name: 'g', revision: null } as const;
  await newer.live.change({ ...target, action: { verb: 'create', definition } });
  for (let look = 0; look < 3; look += 1) await older.live.follow();
  assert.equal(older.live.current(), before);
  assert.equal(older.warnings.length, 1);
  await newer.live.change({ ...target, action: { verb: 'delete' } });
  await older.live.follow();
  assert.equal(older.warnings.length, 1);
});
