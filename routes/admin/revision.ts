// Revisions of records that administrators change: whoever names the one that was read changes
// nothing that somebody else has changed since. RFC 9110, 13.1.1, but answered with our 409.
import * as v from 'valibot';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';

export const revisionSchema = v.pipe(v.number(), v.integer(), v.minValue(1));

/** The header that a changing route declares. */
export const revisionHeader = {
  'if-match': { description: 'The ETag of the record as it was read: 409 if it has changed.' },
};

/** The body of a change without members of its own. */
export const revisionBody = {
  kind: 'json' as const,
  bytesMax: fixedLimits.body.jsonBytesMax,
  schema: v.optional(v.strictObject({ revision: v.optional(revisionSchema) })),
};

export const revisionAdvice =
  'With `If-Match` or `revision` the change is made only on that revision; else 409 `conflict` ' +
  'with the current one in `details.revision`.';

/** @returns the revision that the caller names; null: any will do. @throws Problem */
export function expectedRevision(
  exchange: { header(name: string): string | undefined },
  body: { revision?: number | undefined } | undefined,
): number | null {
  const named = exchange.header('if-match');
  if (named === undefined || named.trim() === '*') return body?.revision ?? null;
  const match = /^\s*(?:W\/)?"?(\d{1,9})"?\s*$/.exec(named);
  if (match === null) {
    const message = 'If-Match is the ETag of one record.';
    throw new Problem('invalid_request', { message, param: 'if-match' });
  }
  const revision = Number(match[1]);
  if (body?.revision !== undefined && body.revision !== revision) {
    const message = 'If-Match and revision differ.';
    throw new Problem('invalid_request', { message, param: 'revision' });
  }
  return revision;
}

/** What a stale change is answered with. */
export function staleProblem(revision: number): Problem {
  return new Problem('conflict', {
    message: 'Somebody else has changed the record. Read it again.',
    details: { revision },
  });
}

/** Headers of a reply with one record. */
export function recordHeaders(revision: number): Record<string, string> {
  return { 'cache-control': 'no-store', etag: `"${revision}"` };
}
