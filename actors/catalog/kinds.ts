// The kinds of catalog records: what each is called, and which of its members is its name.
import * as v from 'valibot';
import type { CatalogKind } from '../../db/catalog.ts';
import { organizationDefaultsName } from '../organization/defaults.ts';
import {
  billingRecordSchema,
  identityRecordSchema,
  managedRouteSchema,
  modelSchema,
  oauthClientSchema,
  organizationDefaultsRecordSchema,
  packageSchema,
  paymentProviderSchema,
  priceSchema,
  promotionSchema,
  providerSchema,
  rewardTaskSchema,
  surfaceSchema,
} from './document.ts';
import { identityRecordName } from './identity-members.ts';
import { billingRecordName } from './promotions/members.ts';

export type RecordKind = CatalogKind | 'providers';

/** A record's members as JSON, whatever its kind. */
export type Definition = Record<string, unknown>;

export interface KindOfRecord {
  /** As it is called in audit events, plans and replies. */
  singular: string;
  nameMember: string;
  /** The member that disables it; null: it cannot be. */
  enabledMember: string | null;
  schema: v.GenericSchema;
  /** Where its secrets are members that it must have: the others. */
  storedSchema?: v.GenericSchema;
  /** Settings: there is one record, of this name, which a file has without a list around it. */
  onlyName?: string;
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
  oauth_clients: {
    singular: 'oauth_client',
    nameMember: 'name',
    enabledMember: 'enabled',
    schema: oauthClientSchema,
  },
  identity: {
    singular: 'identity',
    nameMember: 'name',
    enabledMember: null,
    onlyName: identityRecordName,
    schema: identityRecordSchema,
  },
  payment_providers: {
    singular: 'payment_provider',
    nameMember: 'name',
    enabledMember: 'enabled',
    schema: paymentProviderSchema,
    storedSchema: v.omit(paymentProviderSchema, ['secret_key', 'webhook_secrets']),
  },
  promotions: {
    singular: 'promotion',
    nameMember: 'name',
    enabledMember: 'enabled',
    schema: promotionSchema,
  },
  reward_tasks: {
    singular: 'reward_task',
    nameMember: 'name',
    enabledMember: 'enabled',
    schema: rewardTaskSchema,
  },
  billing: {
    singular: 'billing',
    nameMember: 'name',
    enabledMember: null,
    onlyName: billingRecordName,
    schema: billingRecordSchema,
  },
  organizations: {
    singular: 'organization_defaults',
    nameMember: 'name',
    enabledMember: null,
    onlyName: organizationDefaultsName,
    schema: organizationDefaultsRecordSchema,
  },
};

export const recordKinds = Object.keys(kindsOfRecords) as RecordKind[];

/** The name of a record. */
export function nameOf(kind: RecordKind, definition: Definition): string {
  return String(definition[kindsOfRecords[kind].nameMember]);
}

/** What a record is beside its secrets: as it is stored. */
export function storedSchemaOf(kind: RecordKind): v.GenericSchema {
  return kindsOfRecords[kind].storedSchema ?? kindsOfRecords[kind].schema;
}
