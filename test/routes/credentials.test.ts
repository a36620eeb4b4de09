// The cache in front of the lookup of credentials: what guesses may push out, and what not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialLimits } from '../../actors/credentials/limits.ts';
import { ChangeLog, LookupCache } from '../../routes/lookup-cache.ts';

const { entriesMax, unknownMax, ttlMs, changesMax } = credentialLimits;
const nowMs = 1_700_000_000_000;

/** Knows every hash until `forget`; counts its queries. */
function newCache(): { cache: LookupCache<string>; queries(): number; forget(): void } {
  let queries = 0;
  let isKnown = true;
  const cache = new LookupCache<string>(
    () => true,
    async () => {
      queries += 1;
      return isKnown ? 'known' : null;
    },
    () => [],
    new ChangeLog(),
  );
  const forget = () => {
    isKnown = false;
  };
  return { cache, queries: () => queries, forget };
}

test('guesses push out guesses, never who is known', async () => {
  const { cache, queries, forget } = newCache();
  assert.equal(await cache.get('good', nowMs), 'known');
  forget();
  for (let guess = 0; guess < entriesMax + 1; guess += 1) await cache.get(`bad ${guess}`, nowMs);
  assert.equal(cache.get('good', nowMs), 'known');
  const before = queries();
  assert.equal(cache.get(`bad ${entriesMax}`, nowMs), null, 'the last ones are remembered');
  assert.equal(cache.get(`bad ${entriesMax - unknownMax + 1}`, nowMs), null);
  assert.equal(queries(), before);
  assert.equal(await cache.get(`bad ${entriesMax - unknownMax}`, nowMs), null);
  assert.equal(queries(), before + 1, 'and those before are not');
});

test('who is in use stays when many others come', async () => {
  const { cache, queries } = newCache();
  await cache.get('used', nowMs);
  for (let other = 0; other < 2 * entriesMax; other += 1) {
    await cache.get(`other ${other}`, nowMs);
    if (other % 1_000 === 0) assert.equal(cache.get('used', nowMs), 'known', `at ${other}`);
  }
  const before = queries();
  assert.equal(await cache.get('other 0', nowMs), 'known');
  assert.equal(queries(), before + 1, 'the others are bounded');
  assert.equal(await cache.get('used', nowMs + ttlMs), 'known');
  assert.equal(queries(), before + 2, 'and nothing is believed for longer than its lifetime');
});

test('nothing is believed for longer because the clock was set back', async () => {
  const { cache, queries, forget } = newCache();
  await cache.get('good', nowMs);
  assert.equal(cache.get('good', nowMs + ttlMs - 1), 'known');
  // Other processes tell nothing of what they change: it is read again.
  forget();
  assert.equal(await cache.get('good', nowMs - 3_600_000), null);
  assert.equal(queries(), 2);
  assert.equal(cache.get('good', nowMs - 3_600_000 + ttlMs - 1), null);
  assert.equal(queries(), 2);
  await cache.get('good', nowMs - 7_200_000);
  assert.equal(queries(), 3, 'and so is who was unknown');
});

test('what was read before a change was told is read again, within bounds', async () => {
  let active = true;
  let tells = 1;
  let reads = 0;
  const log = new ChangeLog();
  const tell = () => {
    log.add(['key_1'], true);
    cache.forget(['key_1'], true);
  };
  const cache: LookupCache<string> = new LookupCache<string>(
    () => true,
    async () => {
      const value = active ? 'active' : null;
      reads += 1;
      await Promise.resolve();
      active = false;
      if (reads <= tells) tell();
      return value;
    },
    () => ['key_1'],
    log,
  );
  const asked = [cache.get('key', nowMs), cache.get('key', nowMs)];
  assert.deepEqual(await Promise.all(asked), [null, null], 'it is revoked');
  assert.equal(reads, 2);
  active = true;
  tells = Number.POSITIVE_INFINITY;
  const revived = new LookupCache(
    () => true,
    async () => {
      reads += 1;
      log.add(['key_1'], true);
      return 'active';
    },
    () => ['key_1'],
    log,
  );
  reads = 0;
  assert.equal(await revived.get('key', nowMs), 'active');
  assert.equal(reads, credentialLimits.readsMax);
});

/** Knows tokens `<id>`, each of the account of its first letter; counts its queries. */
function newKeyCache() {
  const log = new ChangeLog();
  let queries = 0;
  const cache = new LookupCache<string>(
    () => true,
    async (hash) => {
      queries += 1;
      return hash.length > 0 ? 'known' : null;
    },
    () => ['key_a', 'acc_a'],
    log,
  );
  const tell = (ids: string[], isWithdrawn = true) => {
    log.add(ids, isWithdrawn);
    cache.forget(ids, isWithdrawn);
  };
  return { cache, tell, queries: () => queries };
}

test('a change forgets what it concerns, and nothing else', async () => {
  const { cache, tell, queries } = newKeyCache();
  await cache.get('one', nowMs);
  for (let index = 0; index < 3 * changesMax; index += 1) tell([`ses_${index}`]);
  assert.equal(cache.get('one', nowMs), 'known');
  assert.equal(queries(), 1);
  for (const id of ['key_a', 'acc_a']) {
    tell([id]);
    const before = queries();
    assert.ok(cache.get('one', nowMs) instanceof Promise, id);
    await cache.get('one', nowMs);
    assert.equal(queries(), before + 1);
  }
});

test('the log knows what changed since a mark, and owns up to what it forgot', () => {
  const log = new ChangeLog();
  const { mark } = log;
  assert.ok(!log.concerns(['key_a'], mark));
  log.add(['ses_1'], true);
  assert.ok(!log.concerns(['key_a'], mark));
  assert.ok(log.concerns(['ses_1'], mark));
  assert.ok(!log.revived(mark));
  log.add(['acc_1'], false);
  assert.ok(log.revived(mark));
  for (let index = 0; index < changesMax; index += 1) log.add(['ses_2'], true);
  assert.ok(log.concerns(['key_a'], mark), 'more happened than is remembered');
  assert.ok(!log.concerns(['key_a'], log.mark));
});
