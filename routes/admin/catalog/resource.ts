// A kind of catalog records as a resource: what its routes are called, take and give.
import * as v from 'valibot';
import { kindsOfRecords, type RecordKind } from '../../../actors/catalog/kinds.ts';
import { withoutSecrets } from '../../../actors/catalog/secrets.ts';
import { revisionSchema } from '../revision.ts';
import { type Entries, recordEntries, updatable } from './members.ts';

export interface Resource {
  kind: RecordKind;
  /** In replies, such as `{"ok":true,"provider":{…}}`. */
  singular: string;
  /** In sentences, such as `a provider`, and many of them. */
  noun: string;
  plural: string;
  /** In operation ids. */
  title: string;
  path: string;
  /** What a new record is given. */
  createSchema: v.GenericSchema;
  updateSchema: v.GenericSchema;
  recordSchema: v.GenericSchema;
  description: string;
  /** What becomes of what runs when it is disabled or enabled. */
  switching: string;
}

const usualSwitching =
  'What runs already ends undisturbed; what begins from now on follows the change.';

/** The members are those of TOLLGATE_CONFIG: their schemas are the same values. */
export function resource(
  kind: RecordKind,
  title: string,
  entries: Entries,
  added: Entries,
  description: string,
): Resource {
  const { singular, nameMember } = kindsOfRecords[kind];
  const shown = withoutSecrets(kind, entries) as Entries;
  const changeable = Object.entries(entries).filter(([name]) => name !== nameMember);
  const updates = changeable.map(([name, entry]) => [name, updatable(entry)]);
  return {
    kind,
    singular,
    noun: `a ${singular}`,
    plural: kind,
    title,
    path: `/api/admin/${kind}`,
    createSchema: v.strictObject(entries),
    updateSchema: v.strictObject({
      ...(Object.fromEntries(updates) as Entries),
      revision: v.optional(revisionSchema),
    }),
    recordSchema: v.pipe(
      v.strictObject({ ...shown, ...added, ...recordEntries }),
      v.title(`Admin${title}`),
    ),
    description,
    switching: usualSwitching,
  };
}
