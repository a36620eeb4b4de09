// The kinds of catalog records: what each is called, and which of its members is its name.
import type { GenericSchema } from 'valibot';
import type { CatalogKind } from '../../db/catalog.ts';
import {
  managedRouteSchema,
  modelSchema,
  packageSchema,
  priceSchema,
  providerSchema,
  surfaceSchema,
} from './document.ts';

export type RecordKind = CatalogKind | 'providers';

/** A record's members as JSON, whatever its kind. */
export type Definition = Record<string, unknown>;

export interface KindOfRecord {
  /** As it is called in audit events, plans and replies. */
  singular: string;
  nameMember: string;
  /** The member that disables it; null: it cannot be. */
  enabledMember: string | null;
  schema: GenericSchema;
}

/** In the order in which a document is applied: what is referred to comes first. */
export const kindsOfRecords: Readonly<Record<RecordKind, KindOfRecord>> = {
  providers: {
    singular: 'provider',
    nameMember: 'name',
    enabledMember: 'enabled',
    schema: providerSchema,
  },
  prices: { singular: 'price', nameMember: 'name', enabledMember: null, schema: priceSchema },
  models: {
    singular: 'model',
    nameMember: 'alias',
    enabledMember: 'enabled',
    schema: modelSchema,
  },
  routes: {
    singular: 'route',
    nameMember: 'alias',
    enabledMember: 'enabled',
    schema: managedRouteSchema,
  },
  packages: {
    singular: 'package',
    nameMember: 'slug',
    enabledMember: 'active',
    schema: packageSchema,
  },
  surfaces: {
    singular: 'surface',
    nameMember: 'name',
    enabledMember: 'enabled',
    schema: surfaceSchema,
  },
};

export const recordKinds = Object.keys(kindsOfRecords) as RecordKind[];

/** The name of a record. */
export function nameOf(kind: RecordKind, definition: Definition): string {
  return String(definition[kindsOfRecords[kind].nameMember]);
}
