// An audit record as it goes to the database: its canonical text without what only the head knows.
// The database fills in time, place and the link before, and hashes the whole.
import { randomBytes } from 'node:crypto';
import { detailsHash, fittingText } from './details.ts';
import type { NewRecord } from './record.ts';

export interface PreparedRecord {
  beforeAt: string;
  beforePrev: string;
  beforeSeq: string;
  afterSeq: string;
  actorId: string;
  action: string;
  targetId: string;
  /** An address in the details: they are blanked when its person is erased. */
  address: string | null;
  details: string;
  salt: string;
}

const saltBytes = 16;

/** Canonical as it is: the members are known, and in order. */
function named({ id, type }: { id: string; type: string }): string {
  return `{"id":${JSON.stringify(id)},"type":${JSON.stringify(type)}}`;
}

/** The names of a record in canonical order: action, actor, at, details, org, prev, result, … */
export function prepareRecord(
  organizationId: number,
  { actor, action, target, result, details }: NewRecord,
  salt: Uint8Array = randomBytes(saltBytes),
): PreparedRecord {
  const text = fittingText(details);
  const hash = detailsHash(salt, text);
  const { email } = details;
  return {
    beforeAt: `{"action":${JSON.stringify(action)},"actor":${named(actor)},"at":"`,
    beforePrev: `","details":"${hash}","org":${organizationId},"prev":"`,
    beforeSeq: `","result":"${result}","seq":`,
    afterSeq: `,"target":${named(target)},"v":1}`,
    actorId: actor.id,
    action,
    targetId: target.id,
    address: typeof email === 'string' ? email.toLowerCase() : null,
    details: text,
    salt: Buffer.from(salt).toString('hex'),
  };
}
