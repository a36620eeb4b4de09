// One change of one record, decided on the catalog as it is stored. Pure: what comes out is what to
// write, or why not. The whole catalog must be right afterwards, not the record alone.
import { strict as assert } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import type { NewAuditEvent } from '../../db/audit-events.ts';
import type { Catalog, ListedRecord } from '../../db/catalog.ts';
import { validateBody } from '../../runtime/http/validate.ts';
import { Problem } from '../../runtime/problem.ts';
import type { CatalogDocument } from './document.ts';
import { documentFaults, type Fault } from './faults.ts';
import { type Definition, kindsOfRecords, nameOf, type RecordKind } from './kinds.ts';
import { credentialIn, credentialLabel, isSealed, serverOf, withoutSecrets } from './secrets.ts';

export type CatalogAction =
  /** With `api_key`, for a provider that needs one. */
  | { verb: 'create'; definition: Definition }
  /** Members replace those of the same name; null removes one, `api_key` too. */
  | { verb: 'update'; patch: Definition }
  | { verb: 'enable' | 'disable' }
  /** A confidential client gets the secret with this SHA-256 (base64). */
  | { verb: 'secret'; secretHash: string }
  | { verb: 'delete' };

export interface CatalogChange {
  /** The account of the administrator. */
  actor: string;
  kind: RecordKind;
  name: string;
  /** The revision that the caller knows; null: whatever it is. */
  revision: number | null;
  action: CatalogAction;
}

export type CatalogRefusal =
  | { status: 'not_found' }
  | { status: 'exists' | 'stale'; revision: number }
  | { status: 'invalid'; path: string; message: string }
  /** A public client: nobody gives it a secret. */
  | { status: 'public' }
  /** The name is that of a record of another kind, such as `model x`. */
  | { status: 'taken'; by: string }
  /** Other records need it: such as `model x`. */
  | { status: 'in_use'; by: string[] };

export type CatalogReply =
  | CatalogRefusal
  /** `record` is as it is now; when it was deleted, as it was. */
  | {
      status: 'changed' | 'unchanged';
      record: ListedRecord;
      contentVersion: string;
      /** Keys that ended with a client, for shards to forget. */
      endedKeys: string[];
    };

/** What a change comes to. */
export interface Decided {
  status: 'decided';
  before: Definition | null;
  /** As it is stored, without the credential; null: it is deleted. */
  after: Definition | null;
  /** The new credential, null to remove it; undefined: it stays as it is. */
  credential: string | null | undefined;
  /** The catalog afterwards. */
  document: CatalogDocument;
}

/** `document` is the catalog that `stored` holds, with its credentials in clear. */
export function decideChange(
  change: CatalogChange,
  stored: Catalog,
  document: CatalogDocument,
): Decided | { status: 'unchanged' } | CatalogRefusal {
  const { kind, name, action } = change;
  const record = stored[kind].find((candidate) => candidate.name === name) ?? null;
  if (action.verb === 'create') {
    if (record !== null) return { status: 'exists', revision: record.revision };
  } else if (record === null) return { status: 'not_found' };
  if (change.revision !== null && record !== null && change.revision !== record.revision) {
    return { status: 'stale', revision: record.revision };
  }
  const current = findIn(document, kind, name);
  if (action.verb === 'secret') return decideSecret(kind, current, document);
  const wanted = wantedDefinition(kind, name, action, current);
  if (wanted !== null && 'status' in wanted) return wanted;
  const next = wanted?.definition ?? null;
  if (isCarriedOff(change, current, next)) {
    const message = 'must be given again with another server: the stored one is not sent there';
    return { status: 'invalid', path: credentialLabel(kind), message };
  }
  const before = current === null ? null : withoutSecrets(kind, current);
  const after = next === null ? null : withoutSecrets(kind, next);
  const isSame = isDeepStrictEqual(current, next);
  if (isSame) return { status: 'unchanged' };
  const changed = replaceIn(document, kind, name, next);
  const [fault, ...others] = documentFaults(changed);
  if (fault !== undefined) return refusalOf(change, changed, [fault, ...others]);
  const credential = next === null ? null : credentialIn(kind, next);
  const isKept = credential === (current === null ? null : credentialIn(kind, current));
  return {
    status: 'decided',
    before,
    after,
    credential: isKept ? undefined : credential,
    document: changed,
  };
}

/** A secret is no member of the definition, which stays as it is. */
function decideSecret(
  kind: RecordKind,
  current: Definition | null,
  document: CatalogDocument,
): Decided | CatalogRefusal {
  if (kind !== 'oauth_clients' || current === null) return { status: 'not_found' };
  if (current.type === 'public') return { status: 'public' };
  return { status: 'decided', before: current, after: current, credential: undefined, document };
}

/**
 * A stored credential is never shown. So it must not be sent wherever an address points either. Who
 * names another server says what it may be told (null: nothing).
 */
function isCarriedOff(
  { kind, action }: CatalogChange,
  current: Definition | null,
  next: Definition | null,
): boolean {
  if (!isSealed(kind) || action.verb !== 'update') return false;
  if (credentialLabel(kind) in action.patch || current === null || next === null) return false;
  if (credentialIn(kind, current) === null) return false;
  const server = serverOf(kind, next);
  // What is no address is refused as that.
  return server !== null && serverOf(kind, current) !== server;
}

function wantedDefinition(
  kind: RecordKind,
  name: string,
  action: Exclude<CatalogAction, { verb: 'secret' }>,
  current: Definition | null,
): { definition: Definition } | CatalogRefusal | null {
  const { nameMember, enabledMember, schema } = kindsOfRecords[kind];
  switch (action.verb) {
    case 'delete':
      return null;
    case 'create':
      return checked(schema, action.definition);
    case 'enable':
    case 'disable': {
      if (enabledMember === null) return { status: 'not_found' };
      return checked(schema, { ...current, [enabledMember]: action.verb === 'enable' });
    }
    case 'update': {
      const merged = { ...current, ...action.patch, [nameMember]: name };
      const kept = Object.entries(merged).filter(([, value]) => value !== null);
      return checked(schema, Object.fromEntries(kept));
    }
  }
}

function checked(
  schema: Parameters<typeof validateBody>[0],
  definition: Definition,
): { definition: Definition } | CatalogRefusal {
  try {
    const output = validateBody(schema, definition);
    // As it comes back from the database: without members that are undefined.
    return { definition: JSON.parse(JSON.stringify(output)) as Definition };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { status: 'invalid', path: error.param ?? '', message: error.message };
  }
}

function findIn(document: CatalogDocument, kind: RecordKind, name: string): Definition | null {
  const records = document[kind] as Definition[];
  const found = records.find((record) => nameOf(kind, record) === name);
  return found === undefined ? null : (JSON.parse(JSON.stringify(found)) as Definition);
}

/** The document with the record in its place by name, or without it. */
function replaceIn(
  document: CatalogDocument,
  kind: RecordKind,
  name: string,
  next: Definition | null,
): CatalogDocument {
  const others = (document[kind] as Definition[]).filter((record) => nameOf(kind, record) !== name);
  const records = next === null ? others : [...others, next];
  const sorted = records.sort((left, right) => (nameOf(kind, left) < nameOf(kind, right) ? -1 : 1));
  return { ...document, [kind]: sorted };
}

/**
 * A fault of the record itself has its path; those of others mean that it is needed there. What is
 * referred to is checked first, so the first fault decides. Models and routes share their names.
 */
function refusalOf(
  { kind, name }: CatalogChange,
  document: CatalogDocument,
  faults: [Fault, ...Fault[]],
): CatalogRefusal {
  const [{ kind: kindAtFault, path }] = faults;
  if (kindAtFault === 'routes' && path === 'alias') {
    const owner = kind === 'routes' ? 'models' : 'routes';
    return { status: 'taken', by: `${kindsOfRecords[owner].singular} ${name}` };
  }
  const places = faults.map((fault) => placeOf(document, fault));
  const itself = `${kindsOfRecords[kind].singular} ${name}`;
  const own = faults[places.indexOf(itself)];
  if (own !== undefined) return { status: 'invalid', path: own.path, message: own.message };
  return { status: 'in_use', by: [...new Set(places)] };
}

/** The record at fault, such as `model x`. Of one kind the names differ: they are the key. */
function placeOf(document: CatalogDocument, { kind, index }: Fault): string {
  const record = (document[kind] as Definition[])[index ?? -1];
  assert(record !== undefined, 'of a list as a whole nothing can be wrong');
  return `${kindsOfRecords[kind].singular} ${nameOf(kind, record)}`;
}

/** The audit event of a change of the catalog. */
export function changeEvent(made: {
  id: string;
  actor: string;
  verb: string;
  kind: RecordKind;
  name: string;
  before: Definition | null;
  after: Definition | null;
  /** What became of the credential; null: there was none. */
  credential: 'kept' | 'set' | 'removed' | null;
}): NewAuditEvent {
  const { singular } = kindsOfRecords[made.kind];
  const { before, after, credential } = made;
  return {
    id: made.id,
    accountId: null,
    actor: made.actor,
    action: `${singular}.${made.verb}`,
    subject: `${singular}:${made.name}`,
    details: { before, after, ...(credential === null ? {} : { credential }) },
  };
}
