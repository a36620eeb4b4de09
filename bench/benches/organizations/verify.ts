// The verifier on an export of a million records, as a process of its own, as its reader runs it.
import { spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { RightEdge } from '../../../actors/audit/merkle.ts';
import { checkpointText, createNoteSigner, signNote } from '../../../actors/audit/note.ts';
import { firstLink, linkOf } from '../../../actors/audit/record.ts';
import { exportFormat, writeLine } from '../../../actors/audit/verify/lines.ts';
import { prepareRecord } from '../../../db/organization-audit/prepared.ts';
import { compiledFile } from '../../../runtime/files.ts';
import type { Report } from '../../report.ts';
import { median, rounded } from '../../statistics.ts';
import type { Bench, BenchOptions } from '../bench.ts';

const RECORDS = 1_000_000;
const EVERY = 1_000;
const ID = 100_042;
const origin = `tollgate.example/audit/${ID}`;
const signer = createNoteSigner(origin, Buffer.alloc(32, 7));

/** An export as a gateway writes it, without a database. */
async function* lines(count: number): AsyncGenerator<string> {
  const vkeys = [signer.verifier.vkey];
  yield writeLine({
    type: 'header',
    format: exportFormat,
    organization_id: ID,
    origin,
    vkeys,
    from_seq: 1,
    to_seq: count,
    left: [],
  });
  const edge = new RightEdge();
  const noteOf = (size: number) =>
    signNote(checkpointText({ origin, size, root: edge.root() }), [signer]);
  let prev = firstLink;
  for (let seq = 1; seq <= count; seq += 1) {
    const details = { index: seq, before: null, after: 'a name of somebody' };
    const prepared = prepareRecord(ID, {
      actor: { type: 'user', id: 'acc_000000000000000000000007' },
      action: 'settings.update',
      target: { type: 'organization', id: String(ID) },
      result: 'ok',
      details,
    });
    const { beforeAt, beforePrev, beforeSeq, afterSeq, salt } = prepared;
    const at = '2026-11-20T15:00:00.000Z';
    const record = `${beforeAt}${at}${beforePrev}${prev}${beforeSeq}${seq}${afterSeq}`;
    const link = linkOf(record);
    prev = link.toString('hex');
    edge.push(link);
    yield writeLine({ type: 'record', record, details, salt });
    if (seq % EVERY === 0) yield writeLine({ type: 'checkpoint', note: noteOf(seq) });
  }
  yield writeLine({ type: 'end', right: [], note: noteOf(count) });
}

/** What a process says of its own memory as it ends. */
const reporter = `process.on('exit', () =>
  process.stderr.write(String(process.resourceUsage().maxRSS)));`;

async function run(options: BenchOptions): Promise<Report> {
  const count = Math.round(RECORDS * (options.scale ?? 1));
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-verify-'));
  const rates: number[] = [];
  const memories: number[] = [];
  try {
    const file = join(folder, 'export');
    await pipeline(lines(count), createWriteStream(file));
    await writeFile(join(folder, 'reporter.mjs'), reporter);
    const program = fileURLToPath(compiledFile('bundle/tollgate-audit.mjs'));
    const argv = ['--import', join(folder, 'reporter.mjs'), program, 'verify', file];
    for (let round = 0; round < options.runs; round += 1) {
      const startedAt = performance.now();
      const key = ['--key', signer.verifier.vkey];
      const ended = spawnSync(process.execPath, [...argv, ...key], { encoding: 'utf8' });
      if (ended.status !== 0) throw new Error(ended.stdout + ended.stderr);
      rates.push((count * 1_000) / (performance.now() - startedAt));
      memories.push(Number(ended.stderr) / 1_024);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return report(count, median(rates), Math.max(...memories));
}

function report(count: number, rate: number, memoryMb: number): Report {
  return {
    name: 'organizations-verify',
    title: 'The verifier of an audit',
    method: `An export of ${count} records with a checkpoint each ${EVERY}, in one process.`,
    columns: ['records', 'records a second', 'memory MB'],
    rows: [[String(count), rounded(rate), rounded(memoryMb)]],
    bars: [
      { text: 'records a second', limit: 25_000, measured: rate, unit: '', sense: 'least' },
      { text: 'memory', limit: 128, measured: memoryMb, unit: 'MB', sense: 'most' },
    ],
    chart: {
      title: 'The verifier of an audit',
      unit: 'records a second',
      rows: [{ label: 'verifier', value: rate, limit: 25_000, higherIsBetter: true }],
    },
    notes: [],
  };
}

export const organizationsVerify: Bench = { name: 'organizations-verify', run };
