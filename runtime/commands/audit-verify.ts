// `tollgate-audit verify FILE --key VKEY [--checkpoint NOTE…] [--json]`: verifies an export of an
// audit, without us: no database, no network. Exit 0: nothing is wrong; 1: a fault; 2: unusable.
import { isUtf8 } from 'node:buffer';
import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { reportText } from '../../actors/audit/verify/report.ts';
import { AuditVerifier } from '../../actors/audit/verify.ts';

const usage =
  'usage: tollgate-audit verify FILE --key VKEY [--checkpoint NOTE…] [--json]\n' +
  '  FILE   an export of an audit, or - for what comes in\n' +
  '  VKEY   the verifier key, from …/audit/keys; may be given again\n' +
  '  NOTE   a file with a checkpoint that you have kept; may be given again\n';

/** No line of an export is longer by far. */
const lineBytesMax = 4 * 1024 * 1024;
const newline = 0x0a;

/** Feeds the lines of a file, one chunk at a time. */
async function feed(file: string, verifier: AuditVerifier): Promise<void> {
  const source = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1 << 16 });
  // Bytes that are no text are a damaged line.
  const take = (bytes: Buffer) => verifier.line(isUtf8(bytes) ? bytes.toString('utf8') : '');
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    let from = 0;
    const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      take(bytes.subarray(from, end));
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (verifier.isOver) return;
    if (rest.length > lineBytesMax) throw new Error('a line is too long for an export');
  }
  if (rest.length > 0) take(rest);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      key: { type: 'string', multiple: true, default: [] },
      checkpoint: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
    },
  });
  const [command, file, ...others] = positionals;
  if (command !== 'verify' || file === undefined || others.length > 0) throw new Error(usage);
  const notes = values.checkpoint.map((path) => readFileSync(path, 'utf8'));
  const verifier = new AuditVerifier({ vkeys: values.key, notes });
  await feed(file, verifier);
  const report = verifier.finish();
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  return report.exit;
}

// Who has read enough may leave; the exit code is for others.
process.stdout.on('error', () => undefined);
try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
