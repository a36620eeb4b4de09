// Who wins where the configuration declares what an administrator changes, and until when.
import * as v from 'valibot';
import type { ListedRecord } from '../../../db/catalog.ts';

/** The member `declaration` of a record; null: nothing declares it, so the record stays. */
export const declarationSchema = v.pipe(
  v.nullable(
    v.strictObject({
      source: v.picklist(['file', 'environment']),
      wins: v.picklist(['declaration', 'administrator']),
      until: v.picklist(['administrator_changes', 'declaration_changes']),
      overruled_at: v.nullable(v.string()),
    }),
  ),
  v.title('Declaration'),
  v.description(
    'What declares the record: the file of `TOLLGATE_CONFIG`, or in development mode the ' +
      "environment. Null: nothing does, and the record is the administrators' alone. `wins` says " +
      'whose record is served. The declaration wins until an administrator changes the record ' +
      '(`administrator_changes`). From then on (`overruled_at`) the administrator wins, until a ' +
      'start finds that the declaration of this record has changed (`declaration_changes`).',
  ),
);

export const changedAdvice =
  'A change of a declared record outlives every start, until the file says something else of ' +
  'this record: `declaration` says so.';
export const deletedAdvice =
  'A declared record that is deleted stays so, until the file says something else of it: then ' +
  'the next start makes it again. `declaration` says so.';

/** As `declarationSchema` has it. */
export function declarationMember(record: ListedRecord): Record<string, unknown> | null {
  const { declared, source, overruledAt } = record;
  if (!declared) return null;
  const isOverruled = overruledAt !== null;
  return {
    // Without one an older build has read it, which knows nothing of sources.
    source: source ?? 'file',
    wins: isOverruled ? 'administrator' : 'declaration',
    until: isOverruled ? 'declaration_changes' : 'administrator_changes',
    overruled_at: overruledAt?.toISOString() ?? null,
  };
}
