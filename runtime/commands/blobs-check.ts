// `npm run blobs:check`: compares the blob store with the rows that name its objects, and reads
// each of them, beside a running server or alone. Exit 0: right; 1: wrong, a line for each; 2: no
// answer.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { auditBlobs, type BlobFinding, blobRuleLengthMax } from '../../actors/blobs/audit.ts';
import { blobLimits } from '../../actors/blobs/limits.ts';
import { openBlobStore } from '../../actors/blobs/store.ts';
import { databaseFault } from '../../db/driver/reach.ts';
import { closePool, openPool } from '../../db/driver/sql.ts';
import { BlobFault } from '../../media/blobs/contract.ts';
import { type Config, readConfig } from '../config.ts';
import { attachDatabase } from '../embedded/database.ts';
import { loadMasterKey } from '../secret.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const { unnamedMs, sweepMs, pageLength } = blobLimits;

async function main(): Promise<number> {
  const config = readConfig();
  const masterKey = await presentMasterKey(config);
  const embedded =
    config.databaseUrl === null
      ? await attachDatabase({ dataDir: config.dataDir, log: silent })
      : null;
  const url = embedded?.url ?? config.databaseUrl;
  if (url === null || url === undefined) throw new Error('there is no database to compare with');
  const sql = openPool({ url, purpose: 'general', connectionsMax: 1, statementTimeoutMs: 0 });
  try {
    const findings = await auditBlobs({
      sql,
      blobs: openBlobStore({ config, masterKey, node: 0 }),
      clock: Date.now,
      // A sweep comes once in a while, and takes some time itself.
      unnamedMsMax: unnamedMs + 2 * sweepMs,
      pageLength,
      tellWrong: (line) => console.log(`    ${line}`),
      tellRule: print,
    }).catch((error: unknown) => {
      throw error instanceof BlobFault ? error : new Error(databaseFault(url, error));
    });
    return findings.some(({ broken }) => broken > 0) ? 1 : 0;
  } finally {
    await closePool(sql, 1_000);
    await embedded?.stop();
  }
}

/** A new one would open no object. */
async function presentMasterKey({ dataDir, secret }: Config): Promise<string> {
  if (secret === null && !existsSync(join(dataDir, 'secret'))) {
    throw new Error(`there is no master key in ${dataDir}, and TOLLGATE_SECRET is not set`);
  }
  return await loadMasterKey(dataDir, secret);
}

function print({ rule, checked, broken }: BlobFinding): void {
  const verdict = broken === 0 ? 'right' : `WRONG in ${broken}`;
  console.log(`${rule.padEnd(blobRuleLengthMax)}  ${String(checked).padStart(10)}  ${verdict}`);
}

// Who has read enough may leave; the exit code is for others.
process.stdout.on('error', () => undefined);
try {
  process.exitCode = await main();
} catch (error) {
  console.error(`the blob store cannot be checked: ${(error as Error).message}`);
  process.exitCode = 2;
}
