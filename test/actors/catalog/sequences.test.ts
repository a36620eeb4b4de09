// Seeded sequences of starts, changed files, administrators, crashes and second processes on a real
// database, against a plain model of who wins. The model knows texts and definitions, no hashes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { CatalogAction } from '../../../actors/catalog/change.ts';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { documentFaults } from '../../../actors/catalog/faults.ts';
import { type Definition, kindsOfRecords, type RecordKind } from '../../../actors/catalog/kinds.ts';
import { openCredential } from '../../../actors/catalog/stored.ts';
import { readCatalog } from '../../../db/catalog.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { ConfigError } from '../../../runtime/config.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { type CatalogStage, type Members, masterKey, openCatalogStage } from './stage.ts';

// slow: It starts hundreds of times on a real database.

const sequenceCount = 50;
const stepCount = 10;
const kinds = ['providers', 'models', 'packages'] as const;
const tables = [...kinds, 'declarations', 'exchange_rate', 'audit_events'];
const names = ['p', 'q'] as const;

type Random = () => number;
type Records = Map<string, Definition>;

let stage: CatalogStage;
before(async () => {
  stage = await openCatalogStage();
});
after(() => stage?.close());

const pick = <T>(random: Random, all: readonly T[]): T =>
  all[Math.floor(random() * all.length)] as T;

/** Few values each, so that the same one is met again; some only write a default out. */
function written(kind: RecordKind, name: string, random: Random): Members {
  const spelt = random() < 0.3 ? { [kindsOfRecords[kind].enabledMember ?? '']: true } : {};
  switch (kind) {
    case 'providers': {
      const base_url = `http://127.0.0.1:${pick(random, [9, 10])}/v1`;
      const key = pick(random, [undefined, 'sk-1', 'sk-2']);
      const credential = key === undefined ? {} : { api_key: key };
      return { name, family: 'openai-chat', base_url, ...credential, ...spelt };
    }
    case 'models': {
      const price = { input_per_million: '1', output_per_million: pick(random, ['2', '3']) };
      const provider = pick(random, names);
      return { alias: name, routes: [{ provider, upstream_model: 'x' }], price, ...spelt };
    }
    default: {
      const credits = pick(random, [1, 2]);
      return { slug: name, name, credits, price_usd: '1', ...spelt };
    }
  }
}

const keyOf = (kind: string, name: string) => `${kind}/${name}`;
const kindOf = (key: string) => key.split('/')[0] ?? '';

/** What is written of each record, by kind and name: a file. */
type File = Map<string, Members>;

function newFile(random: Random): File {
  const file: File = new Map();
  for (const kind of kinds) {
    for (const name of names) {
      if (random() < (kind === 'providers' ? 0.95 : 0.7))
        file.set(keyOf(kind, name), written(kind, name, random));
    }
  }
  return file;
}

/** A file with one record changed, added or taken away. */
function editedFile(file: File, random: Random): File {
  const edited: File = new Map(file);
  const [kind, name] = [pick(random, kinds), pick(random, names)];
  if (random() < 0.3) edited.delete(keyOf(kind, name));
  else edited.set(keyOf(kind, name), written(kind, name, random));
  return edited;
}

function documentOf(records: Iterable<[string, Members]>): Members {
  const document: Record<string, Members[]> = {};
  for (const [key, record] of records) {
    const kind = kindOf(key);
    document[kind] = [...(document[kind] ?? []), record];
  }
  return document;
}

/** As the schema gives it: with its defaults. */
function parsed(kind: string, record: Members): Definition {
  const { schema } = kindsOfRecords[kind as RecordKind];
  return JSON.parse(JSON.stringify(v.parse(schema, record))) as Definition;
}

function isSound(records: Records): boolean {
  return documentFaults(v.parse(catalogDocumentSchema, documentOf(records))).length === 0;
}

/** What the database holds, in the plainest way. Never changed: each event makes another one. */
interface Model {
  records: Records;
  /** What the file of the last start said of each record. */
  texts: ReadonlyMap<string, string>;
}

/** What an event may come to, and what its caller is told. */
interface Outcome {
  model: Model;
  told: string;
}

/** Who wins: a text that is as the last one says nothing. A null file: there is none. */
function started(model: Model, file: File | null): Outcome {
  if (file === null) return { model, told: 'applied' };
  const refused = { model, told: 'refused' };
  const declared = [...file].map(([key, record]) => [key, parsed(kindOf(key), record)] as const);
  if (!isSound(new Map(declared))) return refused;
  const records: Records = new Map(model.records);
  const texts = new Map<string, string>();
  for (const [key, definition] of declared) {
    const text = JSON.stringify(Object.entries(file.get(key) ?? {}).sort());
    if (text !== model.texts.get(key)) records.set(key, definition);
    texts.set(key, text);
  }
  return isSound(records) ? { model: { records, texts }, told: 'applied' } : refused;
}

function changed(model: Model, key: string, next: Definition | null): Outcome {
  const records: Records = new Map(model.records);
  if (next === null) records.delete(key);
  else records.set(key, next);
  return { model: isSound(records) ? { ...model, records } : model, told: 'asked' };
}

async function storedRecords(): Promise<Records> {
  const stored = await readCatalog(stage.sql);
  const sealer = createSealer(masterKey);
  const records: Records = new Map();
  for (const kind of kinds) {
    for (const { name, definition } of stored[kind]) {
      records.set(keyOf(kind, name), definition as Definition);
    }
  }
  for (const provider of stored.providers) {
    const apiKey = openCredential('providers', provider, sealer);
    const key = keyOf('providers', provider.name);
    if (apiKey) records.set(key, { ...records.get(key), api_key: apiKey });
  }
  return records;
}

/** A refusal is one line, as an operator is told. */
async function start(file: File | null, sql?: Sql): Promise<string> {
  const document = file === null ? null : documentOf(file);
  try {
    await stage.start(document, sql === undefined ? {} : { sql });
    return 'applied';
  } catch (error) {
    if (error instanceof ConfigError) return 'refused';
    if ((error as Error).message === 'crashed') return 'crashed';
    throw error;
  }
}

/** Ends in the middle of its transaction, or just behind the commit that nobody told it of. */
function crashing(sql: Sql, isCommitted: boolean): Sql {
  return new Proxy(sql, {
    get(target, name, receiver) {
      if (name !== 'begin') return Reflect.get(target, name, receiver) as unknown;
      return async (work: Parameters<Sql['begin']>[1]) => {
        await target.begin(async (transaction) => {
          await (work as unknown as (given: unknown) => Promise<unknown>)(transaction);
          if (!isCommitted) throw new Error('crashed');
        });
        throw new Error('crashed');
      };
    },
  });
}

interface Event {
  name: string;
  expected(model: Model): Outcome[];
  happen(): Promise<string>;
}

function startOf(file: File | null): Event {
  const name = file === null ? 'a start without a file' : 'a start';
  return { name, expected: (model) => [started(model, file)], happen: () => start(file) };
}

function crashOf(file: File, isCommitted: boolean): Event {
  return {
    name: isCommitted ? 'a crash behind the commit' : 'a crash',
    expected(model) {
      const outcome = started(model, file);
      if (outcome.told === 'refused') return [outcome];
      return [{ model: isCommitted ? outcome.model : model, told: 'crashed' }];
    },
    happen: () => start(file, crashing(stage.sql, isCommitted)),
  };
}

/** Two at once: as if one had been before the other. */
function startsOf(one: File, other: File): Event {
  const inOrder = (model: Model, first: File, second: File) => {
    const before = started(model, first);
    const after = started(before.model, second);
    return { model: after.model, told: new Map([[first, before.told]]).set(second, after.told) };
  };
  return {
    name: 'two starts',
    expected: (model) =>
      [inOrder(model, one, other), inOrder(model, other, one)].map(({ model: after, told }) => ({
        model: after,
        told: `${told.get(one)}, ${told.get(other)}`,
      })),
    happen: async () => (await Promise.all([start(one), start(other)])).join(', '),
  };
}

function administratorOf(random: Random): Event {
  const [kind, name] = [pick(random, kinds), pick(random, names)];
  const { nameMember, enabledMember } = kindsOfRecords[kind];
  const key = keyOf(kind, name);
  const verb = pick(random, ['create', 'update', 'disable', 'enable', 'delete'] as const);
  const definition = written(kind, name, random);
  const { [nameMember]: _name, ...patch } = definition;
  // Another server needs a credential of its own.
  if (kind === 'providers') patch.api_key = patch.api_key ?? null;
  const actions: Record<typeof verb, CatalogAction> = {
    create: { verb: 'create', definition },
    update: { verb: 'update', patch },
    disable: { verb: 'disable' },
    enable: { verb: 'enable' },
    delete: { verb: 'delete' },
  };
  const nextOf = (current: Definition): Definition | null => {
    if (verb === 'delete') return null;
    if (verb === 'create') return parsed(kind, definition);
    if (verb !== 'update') return { ...current, [enabledMember ?? '']: verb === 'enable' };
    const merged = Object.entries({ ...current, ...patch }).filter(([, value]) => value !== null);
    return parsed(kind, Object.fromEntries(merged));
  };
  return {
    name: `${verb} ${key}`,
    expected(model) {
      const current = model.records.get(key);
      if (verb === 'create' && current !== undefined) return [{ model, told: 'exists' }];
      if (verb !== 'create' && current === undefined) return [{ model, told: 'not_found' }];
      return [changed(model, key, nextOf(current ?? {}))];
    },
    async happen() {
      const { status } = await stage.change(kind, name, actions[verb]);
      return status === 'exists' || status === 'not_found' ? status : 'asked';
    },
  };
}

function nextEvent(file: File, random: Random): Event {
  switch (pick(random, ['start', 'change', 'change', 'crash', 'two', 'none'] as const)) {
    case 'start':
      return startOf(file);
    case 'change':
      return administratorOf(random);
    case 'crash':
      return crashOf(file, random() < 0.5);
    case 'two':
      return startsOf(file, random() < 0.5 ? new Map(file) : editedFile(file, random));
    case 'none':
      return startOf(null);
  }
}

async function sequence(seed: number): Promise<void> {
  const random = createRandom(seed);
  // Nobody knows which of two starts at once was first, until it makes a difference.
  let models: Model[] = [{ records: new Map(), texts: new Map() }];
  let file = newFile(random);
  for (let step = 0; step < stepCount; step += 1) {
    if (random() < 0.3) file = editedFile(file, random);
    const event = nextEvent(file, random);
    const expected = models.flatMap((model) => event.expected(model));
    const told = await event.happen();
    const stored = await storedRecords();
    models = expected
      .filter((outcome) => outcome.told === told)
      .map(({ model }) => model)
      .filter(({ records }) => isDeepStrictEqual(records, stored));
    const likely = { told: expected[0]?.told, stored: expected[0]?.model.records };
    if (models.length === 0) assert.deepEqual({ told, stored }, likely, `${step}: ${event.name}`);
  }
  // However it has come to be: a start that is repeated applies nothing.
  if ((await start(file)) === 'refused') return;
  const before = await stage.everything();
  await start(file);
  assert.deepEqual(await stage.everything(), before);
}

test('what a start leaves is what the plain model says, in any order of events', async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  for (let count = 0; count < sequenceCount; count += 1) {
    for (const table of tables) {
      await stage.sql`DELETE FROM ${stage.sql(table)}`;
    }
    const seed = testSeed + count * 7_919;
    await sequence(seed).catch((cause: Error) => {
      throw new Error(`sequence ${count} of seed ${seed}: ${cause.message}`, { cause });
    });
  }
});
