// Compares rows and blob store both ways, and reads every object. It is right beside a running
// server: what is missing was perhaps removed meanwhile, and is asked for again.
import { createHash } from 'node:crypto';
import { findNamedBlobs, type NamedBlob, namedBlobs } from '../../db/blobs.ts';
import type { Queryable } from '../../db/driver/sql.ts';
import { type BlobFacts, BlobFault, type BlobStore } from '../../media/blobs/contract.ts';

export interface BlobFinding {
  rule: string;
  /** How many were looked at. */
  checked: number;
  broken: number;
}

export interface BlobAudit {
  sql: Queryable;
  blobs: BlobStore;
  clock(): number;
  /** How old an object may be that no row names. */
  unnamedMsMax: number;
  pageLength: number;
  /** Hears of each thing that is wrong as soon as it is known. */
  tellWrong(line: string): void;
  /** Hears of each rule when it was looked at everywhere. */
  tellRule(finding: BlobFinding): void;
}

/** Tells of each thing that it looks at what is wrong with it; null: nothing. */
type Look = AsyncIterable<string | null>;

const rules: readonly (readonly [name: string, look: (audit: BlobAudit) => Look])[] = [
  ['every object that a row names is there, as the row says', lookAtRows],
  ['every object is named by a row, or new', lookAtNames],
  ['every object is read as it was stored', lookAtPieces],
];

/** For whoever tells findings in columns. */
export const blobRuleLengthMax = Math.max(...rules.map(([name]) => name.length));

/** All is right when no finding has `broken` above 0. */
export async function auditBlobs(audit: BlobAudit): Promise<BlobFinding[]> {
  const findings: BlobFinding[] = [];
  for (const [rule, look] of rules) {
    const finding = { rule, checked: 0, broken: 0 };
    for await (const wrong of look(audit)) {
      finding.checked += 1;
      if (wrong === null) continue;
      finding.broken += 1;
      audit.tellWrong(wrong);
    }
    findings.push(finding);
    audit.tellRule(finding);
  }
  return findings;
}

async function* lookAtRows({ sql, blobs, pageLength }: BlobAudit): AsyncGenerator<string | null> {
  for await (const row of namedBlobs(sql, pageLength)) {
    const where = `${row.noun} ${row.rowId}`;
    const found = await faultless(() => blobs.stat(row.blobId));
    if (!(found instanceof BlobFault)) {
      const difference = differenceOf(row, found);
      yield difference === null ? null : `${where}: ${row.blobId} ${difference}`;
    } else if (found.reason !== 'missing' || (await isNamed(sql, row.blobId))) {
      yield `${where}: ${row.blobId} is ${found.reason}`;
    }
  }
}

function differenceOf(row: NamedBlob, object: BlobFacts): string | null {
  if (row.bytes !== null && row.bytes !== object.bytes) {
    return `has ${object.bytes} bytes, the row says ${row.bytes}`;
  }
  const isOther = row.sha256 !== null && row.sha256 !== object.sha256;
  return isOther ? 'has another SHA-256 than the row says' : null;
}

async function isNamed(sql: Queryable, id: string): Promise<boolean> {
  return (await findNamedBlobs(sql, [id])).has(id);
}

async function* lookAtNames(audit: BlobAudit): AsyncGenerator<string | null> {
  const { sql, blobs, clock, unnamedMsMax, pageLength } = audit;
  const nowMs = clock();
  let page: { id: string; storedAtMs: number }[] = [];
  const linesOf = async () => {
    const ids = page.map(({ id }) => id);
    const named = ids.length === 0 ? new Set() : await findNamedBlobs(sql, ids);
    const lines = page.map(({ id, storedAtMs }) => {
      const hours = Math.floor((nowMs - storedAtMs) / 3_600_000);
      const isRight = named.has(id) || nowMs - storedAtMs <= unnamedMsMax;
      return isRight ? null : `${id}: stored ${hours} hours ago, and no row names it`;
    });
    page = [];
    return lines;
  };
  for await (const object of blobs.list()) {
    page.push(object);
    if (page.length === pageLength) yield* await linesOf();
  }
  yield* await linesOf();
}

async function* lookAtPieces({ blobs }: BlobAudit): AsyncGenerator<string | null> {
  for await (const { id } of blobs.list()) {
    const fault = await faultless(() => readWhole(blobs, id));
    if (!(fault instanceof BlobFault)) yield null;
    else if (fault.reason !== 'missing') yield `${id}: ${fault.reason}, ${fault.message}`;
  }
}

/** @throws BlobFault */
async function readWhole(blobs: BlobStore, id: string): Promise<void> {
  const { bytes, sha256 } = await blobs.stat(id);
  const hash = createHash('sha256');
  for await (const piece of blobs.read(id, 0, bytes)) hash.update(piece);
  if (hash.digest('hex') !== sha256) throw new BlobFault('damaged', 'it has another SHA-256');
}

async function faultless<T>(work: () => Promise<T>): Promise<T | BlobFault> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlobFault) return error;
    throw error;
  }
}
