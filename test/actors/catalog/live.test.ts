// The catalog of a process whose database may take a change and never say so.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { CatalogAction } from '../../../actors/catalog/change.ts';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { type CatalogPublication, createLiveCatalog } from '../../../actors/catalog/live.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import type { Sql } from '../../../db/sql.ts';
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

test('a change whose commit nobody told is served once it is repeated', async () => {
  let isCut = false;
  const published: CatalogPublication[] = [];
  const live = createLiveCatalog({
    sql: cutBehindCommits(database.pool('general', 1), () => isCut),
    sealer: createSealer(randomBytes(32).toString('base64url')),
    snapshot: buildSnapshot(v.parse(catalogDocumentSchema, {}), () => 0),
    publish: async (publication) => {
      published.push(publication);
    },
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
  const live = createLiveCatalog({
    sql: database.pool('general', 1),
    sealer: createSealer(randomBytes(32).toString('base64url')),
    snapshot: buildSnapshot(v.parse(catalogDocumentSchema, {}), () => 0),
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
