// What replies tell of an audit: records, checkpoints and keys.
import * as v from 'valibot';
import { readAuditRecord } from '../../../actors/audit/record.ts';
import type { StoredCheckpoint } from '../../../db/organization-audit/checkpoints.ts';
import type { AuditKey } from '../../../db/organization-audit/keys.ts';
import type { StoredRecord } from '../../../db/organization-audit/records.ts';

const integer = v.pipe(v.number(), v.integer());
const named = v.strictObject({ type: v.string(), id: v.string() });

export const recordSchema = v.strictObject({
  seq: v.pipe(integer, v.description('Its place, from 1, without a gap.')),
  at: v.string(),
  actor: v.pipe(named, v.description('`type`: user, key, operator, system or scim.')),
  action: v.pipe(v.string(), v.description('Such as `member.remove`.')),
  target: named,
  result: v.pipe(v.string(), v.description('ok, blocked or failed.')),
  details: v.pipe(
    v.nullable(v.looseObject({})),
    v.description('Null once they were blanked, when their person was erased.'),
  ),
  salt: v.pipe(v.nullable(v.string()), v.description('Of the hash of the details, in hex.')),
  record: v.pipe(v.string(), v.description('Canonical JSON (RFC 8785), as it is hashed.')),
  link: v.pipe(
    v.string(),
    v.description('SHA-256 of a zero byte and `record`, in hex: the leaf of RFC 6962.'),
  ),
});

export function recordBody({ seq, record, link, details, salt }: StoredRecord) {
  const read = readAuditRecord(record);
  if (read === null) throw new Error(`the stored record ${seq} of an audit is damaged`);
  const { at, actor, action, target, result } = read;
  return {
    ...{ seq, at, actor, action, target, result },
    details: details === null ? null : JSON.parse(details),
    salt: salt === null ? null : salt.toString('hex'),
    record,
    link: link.toString('hex'),
  };
}

export const checkpointSchema = v.strictObject({
  size: v.pipe(integer, v.description('How many records it has: the `seq` of the last one.')),
  root: v.pipe(v.string(), v.description('Of the tree (RFC 6962), in base64.')),
  note: v.pipe(v.string(), v.description('The signed note (c2sp.org/tlog-checkpoint).')),
  created_at: v.string(),
});

export function checkpointBody({ size, root, note, at }: StoredCheckpoint) {
  return { size, root: root.toString('base64'), note, created_at: at.toISOString() };
}

export const keySchema = v.strictObject({
  key_hash: v.pipe(v.string(), v.description('As notes name it.')),
  vkey: v.pipe(v.string(), v.description('The verifier key (c2sp.org/signed-note).')),
  created_at: v.string(),
  replaced_at: v.pipe(
    v.nullable(v.string()),
    v.description('Since when a newer key signs; for 90 days this one signs beside it.'),
  ),
});

export function keyBody({ keyHash, vkey, createdAt, replacedAt }: AuditKey) {
  return {
    key_hash: keyHash,
    vkey,
    created_at: createdAt.toISOString(),
    replaced_at: replacedAt?.toISOString() ?? null,
  };
}
