// What the configuration said of the records of the catalog when it was last applied, as hashes. A
// row outlives its record: what an administrator has deleted is declared all the same.
import type { CatalogKind } from './catalog.ts';
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';

export interface KeptDeclaration {
  kind: CatalogKind | 'providers';
  name: string;
  source: 'file' | 'environment';
  /** Hex. Null: an older build applied it, and kept no hash. */
  definitionHash: string | null;
  /** Hex, under the key that `credentialKeyId` names. Null: no credential was declared. */
  credentialHash: string | null;
  credentialKeyId: string | null;
  /** An administrator's change stands against it since then; null: none does. */
  overruledAt: Date | null;
}

type Row = {
  kind: KeptDeclaration['kind'];
  name: string;
  source: KeptDeclaration['source'];
  definition_hash: string | null;
  credential_hash: string | null;
  credential_key_id: string | null;
  overruled_at: Date | null;
};

function readRow(row: Row): KeptDeclaration {
  return {
    kind: row.kind,
    name: row.name,
    source: row.source,
    definitionHash: row.definition_hash,
    credentialHash: row.credential_hash,
    credentialKeyId: row.credential_key_id,
    overruledAt: row.overruled_at,
  };
}

/**
 * Reads all that is kept. Where only older builds have started, it tells which records they
 * declared, and whether an administrator changed each of them last. `configuration` is the actor of
 * what a start changes. Works on a database that is yet to be migrated.
 */
export async function readDeclarations(
  sql: Queryable,
  configuration: string,
): Promise<KeptDeclaration[]> {
  const [table] = await sql`SELECT to_regclass('declarations') IS NOT NULL AS is_there`;
  if (table?.is_there !== true) return readOlder(sql, configuration);
  const [start] = await sql`SELECT declarations_kept FROM exchange_rate`;
  if (start?.declarations_kept !== true) return readOlder(sql, configuration);
  return (await sql<Row[]>`SELECT * FROM declarations`).map(readRow);
}

/** The kinds that builds without `declarations` knew. */
const kinds = ['providers', 'models', 'prices', 'routes', 'packages', 'surfaces'] as const;
const verbs = ['create', 'update', 'enable', 'disable', 'delete'];
/** Audit events call a record `model:name`, and its change `model.update`. */
const singularOf = (kind: string): string => kind.slice(0, -1);

/** A record that is not there any more was declared if a start had written it once. */
async function readOlder(sql: Queryable, configuration: string): Promise<KeptDeclaration[]> {
  // As JSON: the tables of a still older build have no such column.
  const stored = kinds.map(
    (kind) => sql`
      SELECT ${kind}::text AS kind, ${singularOf(kind)}::text AS singular, name,
        COALESCE((to_jsonb(t) ->> 'declared')::boolean, false) AS declared
      FROM ${sql(kind)} AS t`,
  );
  const all = stored.reduce((before, kind) => sql`${before} UNION ALL ${kind}`);
  const actions = kinds.flatMap((kind) => verbs.map((verb) => `${singularOf(kind)}.${verb}`));
  const rows = await sql<Pick<Row, 'kind' | 'name' | 'overruled_at'>[]>`
    WITH stored AS (${all}),
    changes AS (
      SELECT DISTINCT ON (subject) subject, actor, action, at,
        bool_or(actor = ${configuration}) OVER (PARTITION BY subject) AS was_declared
      FROM audit_events WHERE action = ANY (${arrayLiteral(actions)}::text[])
      ORDER BY subject, at DESC, id DESC
    )
    SELECT s.kind, s.name, CASE WHEN c.actor <> ${configuration} THEN c.at END AS overruled_at
    FROM stored AS s LEFT JOIN changes AS c ON c.subject = s.singular || ':' || s.name
    WHERE s.declared
    UNION ALL
    SELECT split_part(c.subject, ':', 1) || 's', split_part(c.subject, ':', 2), c.at
    FROM changes AS c
    WHERE c.was_declared AND c.actor <> ${configuration} AND c.action LIKE '%.delete'
      AND NOT EXISTS (SELECT 1 FROM stored AS s WHERE c.subject = s.singular || ':' || s.name)`;
  const unknown = { source: 'file', definition_hash: null, credential_hash: null } as const;
  return rows.map((row) => readRow({ ...row, ...unknown, credential_key_id: null }));
}

/** Keeps what a start declares; what is kept already is not written again. */
export async function keepDeclarations(
  sql: Queryable,
  declarations: readonly KeptDeclaration[],
): Promise<void> {
  const rows = declarations.map((declaration) => ({
    kind: declaration.kind,
    name: declaration.name,
    source: declaration.source,
    definition_hash: declaration.definitionHash,
    credential_hash: declaration.credentialHash,
    credential_key_id: declaration.credentialKeyId,
    overruled_at: declaration.overruledAt,
  }));
  await sql`
    INSERT INTO declarations AS d (kind, name, source, definition_hash, credential_hash,
      credential_key_id, overruled_at)
    SELECT r.* FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) AS r (
      kind text, name text, source text, definition_hash text, credential_hash text,
      credential_key_id text, overruled_at timestamptz
    )
    ON CONFLICT (kind, name) DO UPDATE
      SET source = excluded.source, definition_hash = excluded.definition_hash,
        credential_hash = excluded.credential_hash,
        credential_key_id = excluded.credential_key_id, overruled_at = excluded.overruled_at
      WHERE d IS DISTINCT FROM excluded`;
}

/** Removes what the file said of records that it does not name any more. */
export async function forgetDeclarations(
  sql: Queryable,
  left: readonly { kind: string; name: string }[],
): Promise<void> {
  if (left.length === 0) return;
  await sql`
    DELETE FROM declarations AS d
    USING jsonb_to_recordset(${JSON.stringify(left)}::text::jsonb) AS r (kind text, name text)
    WHERE d.kind = r.kind AND d.name = r.name`;
}

/** An administrator has changed or deleted the record: from now on that stands. */
export async function overruleDeclaration(
  sql: Queryable,
  kind: KeptDeclaration['kind'],
  name: string,
): Promise<void> {
  await sql`
    UPDATE declarations SET overruled_at = date_trunc('milliseconds', now())
    WHERE kind = ${kind} AND name = ${name} AND overruled_at IS NULL`;
}
