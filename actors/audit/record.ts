// A record of an audit as a reader takes it: canonical JSON with these members and no other. Its
// link is the leaf of the tree. Pure; the verifier has these rules too.
import { leafHash } from './merkle.ts';

/** The first record names it. */
export const firstLink = '0'.repeat(64);

export interface AuditRecord {
  v: 1;
  org: number;
  seq: number;
  at: string;
  actor: { type: string; id: string };
  action: string;
  target: { type: string; id: string };
  result: string;
  /** The hash of the details. */
  details: string;
  /** The link before, in hex. */
  prev: string;
}

const members = 'action,actor,at,details,org,prev,result,seq,target,v';
const hash = /^[0-9a-f]{64}$/;
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Canonical JSON of a record: its members are known, so nothing has to be sorted. */
function canonicalText(record: AuditRecord): string {
  const { actor, target } = record;
  const text = JSON.stringify;
  return (
    `{"action":${text(record.action)},` +
    `"actor":{"id":${text(actor.id)},"type":${text(actor.type)}},` +
    `"at":${text(record.at)},"details":${text(record.details)},"org":${record.org},` +
    `"prev":${text(record.prev)},"result":${text(record.result)},"seq":${record.seq},` +
    `"target":{"id":${text(target.id)},"type":${text(target.type)}},"v":1}`
  );
}

function isNamed(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type } = value as Record<string, unknown>;
  return (
    Object.keys(value).join() === 'id,type' && typeof id === 'string' && typeof type === 'string'
  );
}

/** Null: it is no record, or not in its canonical form. */
export function readAuditRecord(text: string): AuditRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const record = value as AuditRecord;
  const isRecord =
    Object.keys(record).join() === members &&
    record.v === 1 &&
    Number.isSafeInteger(record.org) &&
    Number.isSafeInteger(record.seq) &&
    moment.test(record.at) &&
    hash.test(record.details) &&
    hash.test(record.prev) &&
    isNamed(record.actor) &&
    isNamed(record.target);
  return isRecord && canonicalText(record) === text ? record : null;
}

/** The leaf of the tree: RFC 6962 of the record's text. */
export const linkOf = (recordText: string) => leafHash(recordText);
