// The catalog as it is stored, turned into a document again: credentials opened, definitions
// checked anew, since an older version may have written them.
import * as v from 'valibot';
import type { Catalog, ProviderRecord, SealedKind } from '../../db/catalog.ts';
import { ConfigError } from '../../runtime/config.ts';
import { pathText } from '../../runtime/http/validate.ts';
import type { Sealer } from '../../runtime/seal.ts';
import { credentialOf, type DeclaredCatalog } from './declaration.ts';
import { type CatalogDocument, catalogDocumentSchema } from './document.ts';
import { type Definition, kindsOfRecords, recordKinds } from './kinds.ts';
import type { CreationTime } from './model.ts';
import { keyOf, type OpenCredential, type Plan } from './plan.ts';
import { isSealed, sealPurpose, withSecrets } from './secrets.ts';
import type { ClientSecrets } from './snapshot.ts';

/** A credential ready to be stored; null: the record has none. */
export function sealCredential(
  sealer: Sealer,
  kind: SealedKind,
  name: string,
  credential: string | null,
) {
  if (credential === null) return null;
  return { sealed: sealer.seal(credential, sealPurpose(kind, name)), keyId: sealer.keyId };
}

/** The credential in clear; null: there is none; undefined: it was sealed under another key. */
export function openCredential(
  kind: SealedKind,
  { name, credential, credentialKeyId }: ProviderRecord,
  sealer: Sealer,
): string | null | undefined {
  if (credential === null) return null;
  if (credentialKeyId !== sealer.keyId) return undefined;
  return sealer.open(credential, sealPurpose(kind, name));
}

/** When the records of the catalog were made. */
export function creationTime(catalog: Catalog): CreationTime {
  const seconds = (records: Catalog['models']) =>
    new Map(records.map(({ name, createdAt }) => [name, Math.floor(createdAt.getTime() / 1_000)]));
  const times = { models: seconds(catalog.models), routes: seconds(catalog.routes) };
  return (kind, name) => times[kind].get(name) ?? 0;
}

/** The secrets of clients by name, the newest first. */
export function clientSecrets(catalog: Catalog): ClientSecrets {
  return new Map(
    catalog.oauth_clients.map(({ name, secretHash, formerSecretHash, formerSecretUntil }) => {
      const newest = secretHash === null ? [] : [{ hash: base64Of(secretHash), untilMs: null }];
      if (formerSecretHash === null || formerSecretUntil === null) return [name, newest];
      const former = { hash: base64Of(formerSecretHash), untilMs: formerSecretUntil.getTime() };
      return [name, [...newest, former]];
    }),
  );
}

function base64Of(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64');
}

/** The catalog after a start that does what is planned. */
export function documentAfter(
  { items }: Plan,
  { document, declarations }: DeclaredCatalog,
  stored: Catalog,
  open: OpenCredential,
): CatalogDocument {
  const applied = items.filter(({ change }) => change === 'create' || change === 'update');
  const names = new Set(applied.map(keyOf));
  const others = { ...stored };
  for (const kind of recordKinds) {
    const kept = stored[kind].filter(({ name }) => !names.has(keyOf({ kind, name })));
    Object.assign(others, { [kind]: kept });
  }
  const after = storedDocument(others, open, document.credits_per_usd);
  for (const item of applied) {
    const declaration = declarations.find((each) => keyOf(each) === keyOf(item));
    const { kind, after: definition } = item;
    const credential = declaration === undefined ? null : credentialOf(declaration);
    const record = isSealed(kind) ? withSecrets(kind, definition ?? {}, credential) : definition;
    (after[kind] as Definition[]).push(record ?? {});
  }
  return after;
}

/** Throws one line when a credential cannot be opened or a definition is not understood. */
export function storedDocument(
  catalog: Catalog,
  open: OpenCredential,
  creditsPerUsd: number,
): CatalogDocument {
  const opened = (kind: SealedKind) =>
    catalog[kind].map((record) => openRecord(kind, record, open));
  const result = v.safeParse(catalogDocumentSchema, {
    credits_per_usd: creditsPerUsd,
    providers: opened('providers'),
    prices: catalog.prices.map((record) => record.definition),
    models: catalog.models.map((record) => record.definition),
    routes: catalog.routes.map((record) => record.definition),
    packages: catalog.packages.map((record) => record.definition),
    surfaces: catalog.surfaces.map((record) => record.definition),
    oauth_clients: catalog.oauth_clients.map((record) => record.definition),
    identity: catalog.identity.map((record) => record.definition),
    payment_providers: opened('payment_providers'),
    promotions: catalog.promotions.map((record) => record.definition),
    reward_tasks: catalog.reward_tasks.map((record) => record.definition),
    billing: catalog.billing.map((record) => record.definition),
    organizations: catalog.organizations.map((record) => record.definition),
  });
  if (result.success) return result.output;
  // Valibot's own error would carry what it read, credentials included, into the log.
  const [issue] = result.issues;
  throw new Error(`the stored catalog is not understood: ${pathText(issue)}: ${issue.expected}`);
}

function openRecord(kind: SealedKind, record: ProviderRecord, open: OpenCredential): Definition {
  const credential = open(kind, record);
  if (credential === undefined) {
    const { singular } = kindsOfRecords[kind];
    const fault = `the credential of ${singular} ${record.name} is sealed under another key`;
    throw new ConfigError(`TOLLGATE_SECRET: ${fault}: TOLLGATE_SECRET_PREVIOUS takes that one`);
  }
  return withSecrets(kind, record.definition as Definition, credential);
}
