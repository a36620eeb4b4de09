// The catalog: named records with a definition that the program understands, and a revision.
// Applying the same definition again changes nothing, so a start with the same configuration does
// not move the catalog's version.
import { createHash } from 'node:crypto';
import { arrayLiteral } from './driver/array.ts';
import type { Queryable, Sql, Transaction } from './driver/sql.ts';

/** The kinds of records beside providers: a table each. */
export const catalogKinds = [
  'models',
  'prices',
  'routes',
  'packages',
  'surfaces',
  'oauth_clients',
  'identity',
  'payment_providers',
  'promotions',
  'reward_tasks',
  'billing',
  'organizations',
] as const;
export type CatalogKind = (typeof catalogKinds)[number];

/** The table of a kind. Organizations have one of their own, beside that of their defaults. */
export function tableOf(kind: CatalogKind | 'providers'): string {
  return kind === 'organizations' ? 'organization_defaults' : kind;
}
/** Kinds whose records have a credential. */
export type SealedKind = 'providers' | 'payment_providers';

export interface CatalogRecord {
  name: string;
  /** JSON; checked by whoever reads it. */
  definition: unknown;
  revision: number;
  /** The configuration named it when it was last applied. */
  declared: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export interface ProviderRecord extends CatalogRecord {
  /** Encrypted under the key that `credentialKeyId` names. */
  credential: Uint8Array | null;
  credentialKeyId: string | null;
}

/** An OAuth client with the SHA-256 of its secrets. */
export interface ClientRecord extends CatalogRecord {
  /** Null: it has none. */
  secretHash: Uint8Array | null;
  /** The one before, which is good until then. */
  formerSecretHash: Uint8Array | null;
  formerSecretUntil: Date | null;
}

export interface Catalog {
  providers: ProviderRecord[];
  models: CatalogRecord[];
  prices: CatalogRecord[];
  routes: CatalogRecord[];
  packages: CatalogRecord[];
  surfaces: CatalogRecord[];
  oauth_clients: ClientRecord[];
  /** The settings of identity: one record. */
  identity: CatalogRecord[];
  payment_providers: ProviderRecord[];
  promotions: CatalogRecord[];
  reward_tasks: CatalogRecord[];
  /** The settings of billing: one record. */
  billing: CatalogRecord[];
  /** What new organizations get, and who may make them: one record. */
  organizations: CatalogRecord[];
  /** Changes whenever something that is public does: 16 hex characters. */
  version: string;
}

type Row = {
  name: string;
  definition: unknown;
  revision: number;
  declared: boolean;
  created_at: Date;
  updated_at: Date;
  credential: Uint8Array | null;
  credential_key_id: string | null;
  secret_hash: Uint8Array | null;
  former_secret_hash: Uint8Array | null;
  former_secret_until: Date | null;
};

type ListedRow = Row & { source: 'file' | 'environment' | null; overruled_at: Date | null };

/** Any constant: the key of the lock that orders changes of the catalog ('cata'). */
const CATALOG_LOCK = 0x63617461;

/** Waits until no other transaction changes the catalog, and keeps others out until the end. */
export async function lockCatalog(transaction: Transaction): Promise<void> {
  await transaction`SELECT pg_advisory_xact_lock(${CATALOG_LOCK})`;
}

/** The whole catalog in one snapshot, sorted by name. */
export async function readCatalog(sql: Sql): Promise<Catalog> {
  return sql.begin('isolation level repeatable read read only', (transaction) =>
    readCatalogWithin(transaction),
  );
}

/** Changes whenever a record of any kind does, and is found without reading them. */
export async function readCatalogStamp(sql: Sql): Promise<string> {
  const kinds = (['providers', ...catalogKinds] as const).map(
    (kind) => sql`SELECT count(*), sum(revision), max(updated_at) FROM ${sql(tableOf(kind))}`,
  );
  const all = kinds.reduce((before, kind) => sql`${before} UNION ALL ${kind}`);
  const [row] = await sql<{ stamp: string }[]>`
    SELECT jsonb_agg(kinds)::text AS stamp FROM (${all}) AS kinds`;
  return row?.stamp ?? '';
}

/** A catalog with nothing in it. */
export const emptyCatalog: Catalog = {
  providers: [],
  models: [],
  prices: [],
  routes: [],
  packages: [],
  surfaces: [],
  oauth_clients: [],
  identity: [],
  payment_providers: [],
  promotions: [],
  reward_tasks: [],
  billing: [],
  organizations: [],
  version: '',
};

/**
 * As `readCatalog`, in a database that was not migrated yet: kinds without a table have no records.
 * Null where there are no tables at all.
 */
export async function readCatalogIfAny(sql: Sql): Promise<Catalog | null> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const kinds = ['providers', ...catalogKinds] as const;
    const rows = await transaction<{ name: string }[]>`
      SELECT name FROM unnest(${arrayLiteral(kinds.map(tableOf))}::text[]) AS name
      WHERE to_regclass(name) IS NOT NULL`;
    const tables = new Set(rows.map(({ name }) => name));
    const there = new Set(kinds.filter((kind) => tables.has(tableOf(kind))));
    return there.has('providers') ? readCatalogWithin(transaction, there) : null;
  });
}

/** The whole catalog, sorted by name; one snapshot if the transaction has one or holds the lock. */
export async function readCatalogWithin(
  transaction: Transaction,
  there: ReadonlySet<CatalogKind | 'providers'> = new Set(catalogKinds),
): Promise<Catalog> {
  const providers = await rowsOf(transaction, 'providers');
  const records = {} as Record<CatalogKind, CatalogRecord[]>;
  for (const kind of catalogKinds) {
    const rows = there.has(kind) ? await rowsOf(transaction, kind) : [];
    records[kind] = rows.map(readers[kind] ?? readRecord);
  }
  // Each was read by the reader of its kind.
  const known = records as Omit<Catalog, 'providers' | 'version'>;
  return { providers: providers.map(readProvider), ...known, version: versionOf(records) };
}

/** All rows in the order of their names; what other kinds have beside it is theirs. */
function rowsOf(sql: Queryable, kind: CatalogKind | 'providers'): Promise<Row[]> {
  return sql<Row[]>`SELECT * FROM ${sql(tableOf(kind))} ORDER BY name COLLATE "C"`;
}

function readRecord(row: Row): CatalogRecord {
  return {
    name: row.name,
    definition: row.definition,
    revision: row.revision,
    // A database that was not migrated yet knows nothing of it.
    declared: row.declared ?? false,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function readProvider(row: Row): ProviderRecord {
  const { credential, credential_key_id } = row;
  return { ...readRecord(row), credential, credentialKeyId: credential_key_id };
}

function readClient(row: Row): ClientRecord {
  return {
    ...readRecord(row),
    secretHash: row.secret_hash,
    formerSecretHash: row.former_secret_hash,
    formerSecretUntil: row.former_secret_until,
  };
}

/** Kinds whose rows have more than a definition. */
const readers: Partial<Record<CatalogKind, (row: Row) => CatalogRecord>> = {
  oauth_clients: readClient,
  payment_providers: readProvider,
};

export interface ListedRecord extends CatalogRecord {
  /** Names the key of its credential; kinds without one have none. */
  credentialKeyId: string | null;
  /** Whether it has a secret, and until when the former one is good; OAuth clients alone. */
  hasSecret: boolean;
  formerSecretUntil: Date | null;
  /** What declares it. Null: nothing, or an older build has read it. */
  source: 'file' | 'environment' | null;
  /** An administrator's change stands against what is declared since then; null: none does. */
  overruledAt: Date | null;
}

function readListed(row: ListedRow): ListedRecord {
  return {
    ...readRecord(row),
    credentialKeyId: row.credential_key_id ?? null,
    hasSecret: (row.secret_hash ?? null) !== null,
    formerSecretUntil: row.former_secret_until ?? null,
    source: row.source,
    overruledAt: row.overruled_at,
  };
}

/** Rows of a kind with what is kept of their declarations. */
function listedOf(sql: Queryable, kind: CatalogKind | 'providers') {
  return sql`
    SELECT r.*, d.source, d.overruled_at FROM ${sql(tableOf(kind))} AS r
    LEFT JOIN declarations AS d ON d.kind = ${kind} AND d.name = r.name`;
}

/** Records of a kind by name, beyond `after` (a name). */
export async function listRecords(
  sql: Queryable,
  kind: CatalogKind | 'providers',
  limit: number,
  after: string | null,
): Promise<{ records: ListedRecord[]; nextCursor: string | null }> {
  // By character code everywhere, so that a page ends where the next one begins.
  const rows = await sql<ListedRow[]>`
    ${listedOf(sql, kind)}
    WHERE ${after}::text IS NULL OR r.name COLLATE "C" > ${after}::text
    ORDER BY r.name COLLATE "C" LIMIT ${limit + 1}`;
  const records = rows.slice(0, limit).map(readListed);
  return { records, nextCursor: rows.length > limit ? (records.at(-1)?.name ?? null) : null };
}

/** One record, or null. */
export async function findRecord(
  sql: Queryable,
  kind: CatalogKind | 'providers',
  name: string,
): Promise<ListedRecord | null> {
  const [row] = await sql<ListedRow[]>`${listedOf(sql, kind)} WHERE r.name = ${name}`;
  return row === undefined ? null : readListed(row);
}

/** Marks the records that the configuration names, and no others. */
export async function markDeclared(
  sql: Queryable,
  kind: CatalogKind | 'providers',
  names: readonly string[],
): Promise<void> {
  const list = arrayLiteral(names);
  await sql`
    UPDATE ${sql(tableOf(kind))} SET declared = name = ANY (${list}::text[])
    WHERE declared <> (name = ANY (${list}::text[]))`;
}

function versionOf(records: Record<CatalogKind, CatalogRecord[]>): string {
  const hash = createHash('sha256');
  for (const kind of catalogKinds) {
    for (const record of records[kind])
      hash.update(`${kind}\n${record.name}\n${record.revision}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** One that an administrator makes again after it was deleted is declared from the beginning. */
function isDeclared(sql: Queryable, kind: CatalogKind | 'providers', name: string) {
  return sql`EXISTS (SELECT 1 FROM declarations WHERE kind = ${kind} AND name = ${name})`;
}

/** Makes or changes a record; true when it was different before. */
export async function putRecord(
  sql: Queryable,
  kind: CatalogKind,
  name: string,
  definition: unknown,
): Promise<boolean> {
  const json = JSON.stringify(definition);
  const rows = await sql`
    INSERT INTO ${sql(tableOf(kind))} AS c (name, definition, declared)
    VALUES (${name}, ${json}::text::jsonb, ${isDeclared(sql, kind, name)})
    ON CONFLICT (name) DO UPDATE
      SET definition = excluded.definition, revision = c.revision + 1, updated_at = now()
      WHERE c.definition IS DISTINCT FROM excluded.definition
    RETURNING 1`;
  return rows.length > 0;
}

/** The rate of the last start; null before the first one, and before the migration. */
export async function readCreditsPerUsd(sql: Queryable): Promise<number | null> {
  const [known] = await sql`SELECT to_regclass('exchange_rate') IS NOT NULL AS is_there`;
  if (known?.is_there !== true) return null;
  const [row] = await sql<{ credits_per_usd: number }[]>`SELECT credits_per_usd FROM exchange_rate`;
  return row?.credits_per_usd ?? null;
}

/** Keeps the rate of this start, which has kept what it declares as well. */
export async function putCreditsPerUsd(sql: Queryable, creditsPerUsd: number): Promise<void> {
  await sql`
    INSERT INTO exchange_rate (credits_per_usd, declarations_kept) VALUES (${creditsPerUsd}, true)
    ON CONFLICT (is_only) DO UPDATE
      SET credits_per_usd = excluded.credits_per_usd, declarations_kept = true`;
}

/** Removes a record; true when there was one. */
export async function deleteRecord(
  sql: Queryable,
  kind: CatalogKind | 'providers',
  name: string,
): Promise<boolean> {
  return (await sql`DELETE FROM ${sql(tableOf(kind))} WHERE name = ${name}`).count > 0;
}

/**
 * Makes or changes a record of a kind with credentials; true when its definition or credential was
 * different before. An absent credential leaves the stored one alone. The same secret encrypted
 * anew counts as a change.
 */
export async function putSealed(
  sql: Queryable,
  kind: SealedKind,
  provider: {
    name: string;
    definition: unknown;
    credential?: { sealed: Uint8Array; keyId: string } | null;
  },
): Promise<boolean> {
  const json = JSON.stringify(provider.definition);
  const { credential } = provider;
  const keeps = credential === undefined;
  const rows = await sql`
    INSERT INTO ${sql(tableOf(kind))} AS p
      (name, definition, declared, credential, credential_key_id)
    VALUES (${provider.name}, ${json}::text::jsonb,
      ${isDeclared(sql, kind, provider.name)}, ${credential?.sealed ?? null},
      ${credential?.keyId ?? null})
    ON CONFLICT (name) DO UPDATE
      SET definition = excluded.definition,
        credential = CASE WHEN ${keeps} THEN p.credential ELSE excluded.credential END,
        credential_key_id =
          CASE WHEN ${keeps} THEN p.credential_key_id ELSE excluded.credential_key_id END,
        revision = p.revision + 1, updated_at = now()
      WHERE p.definition IS DISTINCT FROM excluded.definition
        OR (NOT ${keeps} AND p.credential IS DISTINCT FROM excluded.credential)
    RETURNING 1`;
  return rows.length > 0;
}

/** Gives a client a new secret. The one before stays good until then, and no other. */
export async function renewClientSecret(
  sql: Queryable,
  name: string,
  { secretHash, formerUntil }: { secretHash: Uint8Array; formerUntil: Date },
): Promise<void> {
  await sql`
    UPDATE oauth_clients
    SET secret_hash = ${secretHash}, former_secret_hash = secret_hash,
      former_secret_until = CASE WHEN secret_hash IS NULL THEN NULL
        ELSE ${formerUntil}::timestamptz END,
      revision = revision + 1, updated_at = now()
    WHERE name = ${name}`;
}

/** Takes a client's secrets away: one that is public has none, whatever it was before. */
export async function removeClientSecrets(sql: Queryable, name: string): Promise<void> {
  await sql`
    UPDATE oauth_clients
    SET secret_hash = NULL, former_secret_hash = NULL, former_secret_until = NULL
    WHERE name = ${name}`;
}
