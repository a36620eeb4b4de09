// `npm start -- --plan`: what a start with this configuration would change in the catalog, and
// nothing is changed. Runs beside a server or alone, when it starts the embedded database for as
// long as it takes. Exit 0: it would start; 1: it would not, with one line that says why.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readDeclared } from '../../actors/catalog/declared.ts';
import { assertSound } from '../../actors/catalog/faults.ts';
import { configurationActor } from '../../actors/catalog/load.ts';
import {
  type OpenCredential,
  type Plan,
  planChanges,
  standingRecords,
} from '../../actors/catalog/plan.ts';
import { planLines } from '../../actors/catalog/plan-lines.ts';
import { documentAfter, openCredential } from '../../actors/catalog/stored.ts';
import { emptyCatalog, readCatalogIfAny, readCreditsPerUsd } from '../../db/catalog.ts';
import { readDeclarations } from '../../db/declarations.ts';
import { assertMigrationsRun } from '../../db/driver/migrate.ts';
import { assertDatabaseUsable } from '../../db/driver/reach.ts';
import { closePool, openPool } from '../../db/driver/sql.ts';
import { assertProgramsUsable } from '../../media/tools/programs.ts';
import { assertFilesUsable, type Config, readConfig } from '../config.ts';
import { attachDatabase } from '../embedded/database.ts';
import { createLog } from '../log.ts';
import { createSealer, type Sealer } from '../seal.ts';
import { loadMasterKey } from '../secret.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** Stands for the simulator's, which is known when it runs. */
const simulatorUrlUnknown = 'http://127.0.0.1:1';

async function main(): Promise<void> {
  // Whoever reads the lines may have seen enough, as `| head` does.
  process.stdout.on('error', () => {});
  const config = readConfig();
  await Promise.all([assertFilesUsable(config), assertProgramsUsable(config)]);
  for (const line of planLines(await plan(config))) process.stdout.write(`${line}\n`);
}

async function plan(config: Config): Promise<Plan> {
  const { stored, ...known } = await storedCatalog(config);
  const sealers = await sealersOf(config);
  const open: OpenCredential = (kind, record) => {
    const sealer = sealers.find(({ keyId }) => keyId === record.credentialKeyId);
    return record.credential === null ? null : sealer && openCredential(kind, record, sealer);
  };
  const simulated = stored.providers.find(({ name }) => name === 'simulator')?.definition;
  const simulatorUrl = addressIn(simulated) ?? simulatorUrlUnknown;
  const log = createLog({ level: 'silent', base: {}, sync: true });
  const declared = await readDeclared({ config, simulatorUrl, log });
  const planned = planChanges({ declared, stored, ...known, open, sealers });
  assertSound(documentAfter(planned, declared, stored, open), standingRecords(planned));
  return planned;
}

function addressIn(definition: unknown): string | null {
  const address = (definition as { base_url?: unknown } | undefined)?.base_url;
  return typeof address === 'string' && URL.canParse(address) ? new URL(address).origin : null;
}

async function storedCatalog(config: Config) {
  // A data folder that a start would have to make holds no catalog yet.
  if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'pg'))) {
    return { stored: emptyCatalog, kept: [], storedCreditsPerUsd: null };
  }
  const embedded =
    config.databaseUrl === null
      ? await attachDatabase({ dataDir: config.dataDir, log: silent })
      : null;
  const url = config.databaseUrl ?? embedded?.url ?? '';
  if (config.databaseUrl !== null) await assertDatabaseUsable(url);
  const sql = openPool({ url, purpose: 'general', connectionsMax: 1, statementTimeoutMs: 10_000 });
  try {
    await assertMigrationsRun(sql);
    const stored = await readCatalogIfAny(sql);
    const kept = stored === null ? [] : await readDeclarations(sql, configurationActor);
    const storedCreditsPerUsd = await readCreditsPerUsd(sql);
    return { stored: stored ?? emptyCatalog, kept, storedCreditsPerUsd };
  } finally {
    await closePool(sql, 1_000);
    await embedded?.stop();
  }
}

/** The current key and the one before it, as far as there are any: none is made here. */
async function sealersOf(config: Config): Promise<Sealer[]> {
  const isMade = config.secret !== null || existsSync(join(config.dataDir, 'secret'));
  const current = isMade ? await loadMasterKey(config.dataDir, config.secret) : null;
  return [current, config.previousSecret].flatMap((key) => (key === null ? [] : createSealer(key)));
}

try {
  await main();
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`tollgate cannot run: ${reason}\n`);
  process.exitCode = 1;
}
