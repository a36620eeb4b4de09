// Starts and administrators on one real database, as the functions that a process calls. A start
// applies a document, an administrator changes a record, and the test reads what is stored then.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import type { CatalogAction, CatalogReply } from '../../../actors/catalog/change.ts';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import type { Definition, RecordKind } from '../../../actors/catalog/kinds.ts';
import { createLiveCatalog } from '../../../actors/catalog/live.ts';
import { loadCatalog } from '../../../actors/catalog/load.ts';
import { planLines } from '../../../actors/catalog/plan-lines.ts';
import { buildSnapshot, type CatalogSnapshot } from '../../../actors/catalog/snapshot.ts';
import { tableOf } from '../../../db/catalog.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { readConfig } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

export type Members = Record<string, unknown>;

export interface StartOptions {
  key?: string;
  previousKey?: string;
  /** Default: of production. */
  env?: Record<string, string>;
  simulatorUrl?: string;
  sql?: Sql;
}

export interface CatalogStage {
  readonly database: TestDatabase;
  readonly sql: Sql;
  /** Resolves with the lines of what was planned and done. A null document: there is no file. */
  start(document: Members | null, options?: StartOptions): Promise<string[]>;
  change(kind: RecordKind, name: string, action: CatalogAction): Promise<CatalogReply>;
  /** What shards are given, as of the last change. */
  served(): CatalogSnapshot;
  /** The definition that is stored; null: there is no such record. */
  stored(kind: RecordKind, name: string): Promise<Definition | null>;
  /** All that a start which applies nothing leaves as it is. */
  everything(): Promise<unknown>;
  close(): Promise<void>;
}

export const masterKey = randomBytes(32).toString('base64url');
export const administrator = 'acc_administrator';
const log = createLog({ level: 'silent', base: {}, sync: true });
const quiet = { info: () => {}, warn: () => {} };
const emptySnapshot = buildSnapshot(v.parse(catalogDocumentSchema, {}), () => 0);

export async function openCatalogStage(): Promise<CatalogStage> {
  const database = await openTestDatabase();
  const sql = database.pool('general', 3);
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-catalog-'));
  const sealer = createSealer(masterKey);
  const publish = async () => {};
  const live = createLiveCatalog({ sql, sealer, snapshot: emptySnapshot, publish, log: quiet });
  let files = 0;
  return {
    database,
    sql,
    async start(document, options = {}) {
      const { key = masterKey, previousKey, simulatorUrl = null } = options;
      let env = options.env ?? { TOLLGATE_MODE: 'production' };
      if (document !== null) {
        // One for each: two processes may start at once.
        files += 1;
        const path = join(folder, `${files}.json`);
        await writeFile(path, JSON.stringify(document));
        env = { ...env, TOLLGATE_CONFIG: path };
      }
      const { plan } = await loadCatalog({
        config: readConfig(env),
        simulatorUrl,
        sql: options.sql ?? sql,
        sealer: createSealer(key),
        previousSealer: previousKey === undefined ? null : createSealer(previousKey),
        log,
      });
      return planLines(plan);
    },
    change: (kind, name, action) =>
      live.change({ actor: administrator, kind, name, revision: null, action }),
    served: () => live.current().snapshot,
    async stored(kind, name) {
      const [row] = await sql<{ definition: Definition }[]>`
        SELECT definition FROM ${sql(tableOf(kind))} WHERE name = ${name}`;
      return row?.definition ?? null;
    },
    async everything() {
      const rows = await sql`SELECT
        (SELECT json_agg(p ORDER BY name) FROM providers p) AS providers,
        (SELECT json_agg(m ORDER BY name) FROM models m) AS models,
        (SELECT json_agg(c ORDER BY name) FROM prices c) AS prices,
        (SELECT json_agg(k ORDER BY name) FROM packages k) AS packages,
        (SELECT json_agg(d ORDER BY kind, name) FROM declarations d) AS declarations,
        (SELECT credits_per_usd FROM exchange_rate) AS rate,
        (SELECT count(*) FROM audit_events) AS events`;
      return rows[0];
    },
    async close() {
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
