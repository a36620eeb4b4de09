// What applying a declared catalog would change, as data. Pure. A record of which the same is
// declared as the last time stays as it is stored: an administrator's change stands until the
// declaration changes. Records that nothing declares are never deleted.
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { Catalog, CatalogRecord, ProviderRecord, SealedKind } from '../../db/catalog.ts';
import type { KeptDeclaration } from '../../db/declarations.ts';
import type { Sealer } from '../../runtime/seal.ts';
import {
  compareKept,
  credentialOf,
  type Declaration,
  type DeclaredCatalog,
  hasOwnAddress,
  isSimulated,
} from './declaration.ts';
import {
  type Definition,
  kindsOfRecords,
  type RecordKind,
  recordKinds,
  storedSchemaOf,
} from './kinds.ts';
import { credentialLabel, isSealed, withoutSecrets } from './secrets.ts';

export interface PlanItem {
  kind: RecordKind;
  name: string;
  /**
   * `stands`: an administrator has changed it, and that stays. `gone`: an administrator has deleted
   * it, and that stays. `forgotten`: declared the last time, not any more, still stored.
   */
  change: 'create' | 'update' | 'stands' | 'gone' | 'forgotten';
  /** The members that differ; `api_key` or `secret_key` stands for the credential. */
  members: string[];
  /** What is stored; null: nothing is. */
  before: Definition | null;
  /** What is declared, without its credential; null for what is forgotten. */
  after: Definition | null;
  source: 'file' | 'environment';
  /** An administrator's change stood until now, and this ends it. */
  overrules: boolean;
}

export interface Plan {
  items: PlanItem[];
  /** What a dollar is worth, and with it every price; null: as before, or nothing was before. */
  creditsPerUsd: { before: number; after: number } | null;
}

/** The credential in clear; null: there is none; undefined: no key here opens it. */
export type OpenCredential = (
  kind: SealedKind,
  record: ProviderRecord,
) => string | null | undefined;

export interface PlanInput {
  declared: DeclaredCatalog;
  stored: Catalog;
  /** What was declared the last time. */
  kept: readonly KeptDeclaration[];
  /** Null: unknown. */
  storedCreditsPerUsd: number | null;
  open: OpenCredential;
  /** They seal under the current master key and the previous one, as far as there are any. */
  sealers: readonly Sealer[];
}

/** Compares what is declared with what is stored, and with what was declared before. */
export function planChanges(input: PlanInput): Plan {
  const before = input.storedCreditsPerUsd;
  const after = creditsPerUsdOf(input.declared, before);
  const kept = new Map(input.kept.map((each) => [keyOf(each), each]));
  return {
    items: recordKinds.flatMap((kind) => [
      ...input.declared.declarations
        .filter((declaration) => declaration.kind === kind)
        .flatMap((declaration) => planRecord(declaration, kept.get(keyOf(declaration)), input)),
      ...forgottenItems(kind, kept, input),
    ]),
    creditsPerUsd: before === null || before === after ? null : { before, after },
  };
}

/** A start without a file leaves the rate as it is. `stored`: null is unknown. */
export function creditsPerUsdOf(
  { document, hasFile }: DeclaredCatalog,
  stored: number | null,
): number {
  return hasFile ? document.credits_per_usd : (stored ?? document.credits_per_usd);
}

/** An administrator's change stands against what is declared. */
export function isStanding({ change }: PlanItem): boolean {
  return change === 'stands' || change === 'gone';
}

/** Such as `model x`: the records for which an administrator wins. */
export function standingRecords({ items }: Plan): string[] {
  return items
    .filter(isStanding)
    .map(({ kind, name }) => `${kindsOfRecords[kind].singular} ${name}`);
}

/** A record among those of all kinds. */
export function keyOf({ kind, name }: { kind: RecordKind; name: string }): string {
  return `${kind}/${name}`;
}

/** What left the configuration; a start without a file says nothing of what the file declared. */
export function hasLeft(source: 'file' | 'environment', { hasFile }: DeclaredCatalog): boolean {
  return source === 'environment' || hasFile;
}

function forgottenItems(
  kind: RecordKind,
  kept: ReadonlyMap<string, KeptDeclaration>,
  { declared, stored }: PlanInput,
): PlanItem[] {
  const named = new Set(declared.declarations.map(keyOf));
  return stored[kind].flatMap(({ name, definition, declared: wasDeclared }): PlanItem[] => {
    const key = keyOf({ kind, name });
    const source = kept.get(key)?.source ?? 'file';
    if (!wasDeclared || named.has(key) || !hasLeft(source, declared)) return [];
    const before = definition as Definition;
    const change = 'forgotten';
    return [{ kind, name, change, members: [], before, after: null, source, overrules: false }];
  });
}

function planRecord(
  declaration: Declaration,
  kept: KeptDeclaration | undefined,
  input: PlanInput,
): PlanItem[] {
  const { kind, name, source } = declaration;
  const record = input.stored[kind].find((each) => each.name === name) ?? null;
  const credential = compareCredential(declaration, input);
  const { before, after, members } = compare(declaration, record, credential);
  const item = { kind, name, members, before, after, source, overrules: false };
  if (kept !== undefined && doesStand(declaration, kept, { before, credential }, input.sealers)) {
    return record === null
      ? [{ ...item, change: 'gone' }]
      : standing(declaration, item, credential);
  }
  const overrules = (kept?.overruledAt ?? null) !== null;
  if (record === null) return [{ ...item, change: 'create', overrules }];
  return members.length === 0 ? [] : [{ ...item, change: 'update', overrules }];
}

/** `lost`: it is declared, and what is stored can be opened with no key that is here. */
type Credential = 'same' | 'other' | 'lost';

function compareCredential(declaration: Declaration, { stored, open }: PlanInput): Credential {
  const { kind } = declaration;
  if (!isSealed(kind)) return 'same';
  const record = stored[kind].find(({ name }) => name === declaration.name);
  if (record === undefined) return 'same';
  const declared = credentialOf(declaration);
  const found = open(kind, record);
  if (found === undefined && declared !== null) return 'lost';
  return found === declared ? 'same' : 'other';
}

/** Whether what is stored stays, whatever is declared. */
function doesStand(
  declaration: Declaration,
  kept: KeptDeclaration,
  found: { before: Definition | null; credential: Credential },
  sealers: readonly Sealer[],
): boolean {
  const { before, credential } = found;
  // The declared credential is told to no server but the declared one.
  const isElsewhere = (member: string) => before?.[member] !== declaration.definition[member];
  const isCarriedOff = isElsewhere('base_url') || isElsewhere('kind');
  if (credential === 'lost' && isCarriedOff) return false;
  const compared = compareKept(declaration, kept, sealers);
  if (compared !== 'unknown') return compared === 'same';
  // An older build kept no hash: an administrator's change stands where the audit trail has one.
  return kept.definitionHash !== null || kept.overruledAt !== null;
}

/** What stands, and of it what follows the declaration all the same. */
function standing(
  declaration: Declaration,
  item: Omit<PlanItem, 'change'>,
  credential: Credential,
): PlanItem[] {
  const { kind, before, after, members } = item;
  const isMoved = hasOwnAddress(declaration) && isSimulated(kind, before ?? {});
  const follows = (member: string) =>
    (member === 'base_url' && isMoved) ||
    (member === credentialLabel(kind) && credential === 'lost');
  const followed = members.filter(follows);
  const others = members.filter((member) => !follows(member));
  const address = isMoved ? { base_url: after?.base_url } : {};
  const items: PlanItem[] = [];
  if (followed.length > 0) {
    items.push({ ...item, change: 'update', members: followed, after: { ...before, ...address } });
  }
  if (others.length > 0) items.push({ ...item, change: 'stands', members: others });
  return items;
}

function compare(
  { kind, definition }: Declaration,
  record: CatalogRecord | null,
  credential: Credential,
) {
  const after = withoutSecrets(kind, plain(definition));
  if (record === null) return { before: null, after, members: [] };
  // With today's defaults: what an older version did not write is no difference.
  const parsed = v.safeParse(storedSchemaOf(kind), record.definition);
  const before = plain((parsed.success ? parsed.output : record.definition) as Definition);
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const members = [...names].filter((member) => !isDeepStrictEqual(before[member], after[member]));
  if (credential !== 'same') members.push(credentialLabel(kind));
  return { before, after, members };
}

/** As it comes back from the database: without members that are undefined. */
function plain(definition: Definition): Definition {
  return JSON.parse(JSON.stringify(definition)) as Definition;
}
