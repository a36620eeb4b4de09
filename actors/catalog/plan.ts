// What applying a declared catalog would change, as data and as lines for people. Pure. Records
// that the configuration does not name are never deleted: administrators may have made them.
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { Catalog, CatalogRecord, ProviderRecord } from '../../db/catalog.ts';
import type { CatalogDocument } from './document.ts';
import { type Definition, kindsOfRecords, nameOf, type RecordKind, recordKinds } from './kinds.ts';

export interface PlanItem {
  kind: RecordKind;
  name: string;
  /** `forgotten`: declared the last time, not any more, still stored. */
  change: 'create' | 'update' | 'forgotten';
  /** The members that differ; `api_key` stands for the credential. */
  members: string[];
  before: Definition | null;
  /** Without its credential; null for what is forgotten. */
  after: Definition | null;
}

export interface Plan {
  items: PlanItem[];
  /** What a dollar is worth, and with it every price; null: as before, or nothing was before. */
  creditsPerUsd: { before: number; after: number } | null;
}

/** The credential in clear; null: there is none; undefined: no key here opens it. */
export type OpenCredential = (provider: ProviderRecord) => string | null | undefined;

/** Compares what is declared with what is stored. */
export function planChanges(
  declared: CatalogDocument,
  stored: Catalog,
  /** Null: unknown. */
  storedCreditsPerUsd: number | null,
  open: OpenCredential,
): Plan {
  const before = storedCreditsPerUsd;
  const after = declared.credits_per_usd;
  return {
    items: planItems(declared, stored, open),
    creditsPerUsd: before === null || before === after ? null : { before, after },
  };
}

function planItems(declared: CatalogDocument, stored: Catalog, open: OpenCredential): PlanItem[] {
  return recordKinds.flatMap((kind) => {
    const records = new Map(stored[kind].map((record) => [record.name, record]));
    const definitions = declared[kind] as Definition[];
    const names = new Set(definitions.map((definition) => nameOf(kind, definition)));
    const changes = definitions.flatMap((definition) => {
      const name = nameOf(kind, definition);
      const item = compare(kind, name, definition, records.get(name) ?? null);
      if (kind === 'providers' && item !== null) compareCredential(item, definition, stored, open);
      return item === null || (item.change === 'update' && item.members.length === 0) ? [] : [item];
    });
    const forgotten = stored[kind].filter((record) => record.declared && !names.has(record.name));
    return [
      ...changes,
      ...forgotten.map(({ name, definition }): PlanItem => {
        const before = definition as Definition;
        return { kind, name, change: 'forgotten', members: [], before, after: null };
      }),
    ];
  });
}

function compare(
  kind: RecordKind,
  name: string,
  definition: Definition,
  record: CatalogRecord | null,
): PlanItem {
  const { api_key: _credential, ...after } = plain(definition);
  if (record === null) {
    return { kind, name, change: 'create', members: [], before: null, after };
  }
  // With today's defaults: what an older version did not write is no difference.
  const parsed = v.safeParse(kindsOfRecords[kind].schema, record.definition);
  const before = plain((parsed.success ? parsed.output : record.definition) as Definition);
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const members = [...names].filter((member) => !isDeepStrictEqual(before[member], after[member]));
  return { kind, name, change: 'update', members, before, after };
}

/** As it comes back from the database: without members that are undefined. */
function plain(definition: Definition): Definition {
  return JSON.parse(JSON.stringify(definition)) as Definition;
}

function compareCredential(
  item: PlanItem,
  definition: Definition,
  stored: Catalog,
  open: OpenCredential,
): void {
  const record = stored.providers.find(({ name }) => name === item.name);
  if (record === undefined) return;
  if (open(record) !== (definition.api_key ?? null)) item.members.push('api_key');
}

/** The plan as lines; secrets are in none. */
export function planLines({ items, creditsPerUsd }: Plan): string[] {
  const lines = items.map(({ kind, name, change, members }) => {
    const { singular } = kindsOfRecords[kind];
    if (change === 'create') return `+ ${singular} ${name}`;
    if (change === 'update') return `~ ${singular} ${name}: ${members.join(', ')}`;
    return `? ${singular} ${name}: declared before, not any more; it stays until it is deleted`;
  });
  if (creditsPerUsd !== null) {
    const { before, after } = creditsPerUsd;
    return [`~ credits_per_usd: from ${before} to ${after}`, ...lines];
  }
  const isIdle = items.every(({ change }) => change === 'forgotten');
  return isIdle ? ['= nothing to change', ...lines] : lines;
}
