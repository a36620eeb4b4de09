// The details of an audit record lie beside it, which has only their salted hash. They can so be
// blanked when a person is erased. The verifier has these rules too.
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../runtime/json/canonical.ts';

export type AuditDetails = Readonly<Record<string, unknown>>;

/** The canonical text has at most so many. */
const bytesMax = 4_096;

/** SHA-256 of salt and canonical text, as hex. */
export function detailsHash(salt: Uint8Array, detailsText: string): string {
  return createHash('sha256').update(salt).update(detailsText).digest('hex');
}

/** What stands for a value that does not fit. */
function summaryOf(value: unknown): { count: number; sha256: string } {
  const sha256 = createHash('sha256').update(canonicalJson(value)).digest('hex');
  if (typeof value === 'string') return { count: value.length, sha256 };
  return { count: Object.keys(Object(value)).length, sha256 };
}

/** The canonical text; its largest members are told by count and hash until all of it fits. */
export function fittingText(details: AuditDetails): string {
  let text = canonicalJson(details);
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const fitting: Record<string, unknown> = { ...details };
  const bySize = Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, length: canonicalJson(value).length }))
    .sort((left, right) => right.length - left.length);
  for (const { name } of bySize) {
    fitting[name] = summaryOf(details[name]);
    text = canonicalJson(fitting);
    if (Buffer.byteLength(text) <= bytesMax) return text;
  }
  return canonicalJson({ members: summaryOf(details) });
}
