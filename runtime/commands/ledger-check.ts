// `npm run ledger:check`: audits the books beside a running server, or alone, when it starts the
// embedded database for as long as it takes. Exit 0: right; 1: wrong, with the difference; 2: no
// answer.
import { auditLedger, type Finding, ruleLengthMax } from '../../db/audit.ts';
import { databaseFault } from '../../db/driver/reach.ts';
import { closePool, openPool } from '../../db/driver/sql.ts';
import { readConfig } from '../config.ts';
import { attachDatabase } from '../embedded/database.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function main(): Promise<number> {
  const config = readConfig();
  const embedded =
    config.databaseUrl === null
      ? await attachDatabase({ dataDir: config.dataDir, log: silent })
      : null;
  const url = embedded?.url ?? config.databaseUrl;
  if (url === null || url === undefined) throw new Error('there is no database to check');
  const sql = openPool({
    url,
    purpose: 'general',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  try {
    const findings = await auditLedger(sql, print).catch((error: unknown) => {
      throw new Error(databaseFault(url, error));
    });
    return findings.some((finding) => finding.broken > 0n) ? 1 : 0;
  } finally {
    await closePool(sql, 1_000);
    await embedded?.stop();
  }
}

function print({ rule, checked, broken, examples }: Finding): void {
  const verdict = broken === 0n ? 'right' : `WRONG in ${broken}`;
  console.log(`${rule.padEnd(ruleLengthMax)}  ${String(checked).padStart(10)}  ${verdict}`);
  for (const line of examples) console.log(`    ${line}`);
  if (broken > BigInt(examples.length)) {
    console.log(`    and ${broken - BigInt(examples.length)} more`);
  }
}

// Who has read enough may leave; the exit code is for others.
process.stdout.on('error', () => undefined);
try {
  process.exitCode = await main();
} catch (error) {
  console.error(`the ledger cannot be checked: ${(error as Error).message}`);
  process.exitCode = 2;
}
