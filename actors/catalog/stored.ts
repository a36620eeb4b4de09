// The catalog as it is stored, turned into a document again: credentials opened, definitions
// checked anew, since an older version may have written them.
import * as v from 'valibot';
import type { Catalog, ProviderRecord as StoredProvider } from '../../db/catalog.ts';
import { ConfigError } from '../../runtime/config.ts';
import { pathText } from '../../runtime/http/validate.ts';
import type { Sealer } from '../../runtime/seal.ts';
import { apiKeyOf, type DeclaredCatalog } from './declaration.ts';
import { type CatalogDocument, catalogDocumentSchema, type ProviderRecord } from './document.ts';
import { type Definition, recordKinds } from './kinds.ts';
import type { CreationTime } from './model.ts';
import { keyOf, type OpenCredential, type Plan } from './plan.ts';

/** A credential ready to be stored; null: the provider has none. */
export function sealCredential(sealer: Sealer, provider: string, apiKey: string | null) {
  if (apiKey === null) return null;
  return { sealed: sealer.seal(apiKey, purpose(provider)), keyId: sealer.keyId };
}

/** The credential in clear; null: there is none; undefined: it was sealed under another key. */
export function openCredential(
  provider: StoredProvider,
  sealer: Sealer,
): string | null | undefined {
  if (provider.credential === null) return null;
  if (provider.credentialKeyId !== sealer.keyId) return undefined;
  return sealer.open(provider.credential, purpose(provider.name));
}

function purpose(provider: string): string {
  return `provider credential: ${provider}`;
}

/** When the records of the catalog were made. */
export function creationTime(catalog: Catalog): CreationTime {
  const seconds = (records: Catalog['models']) =>
    new Map(records.map(({ name, createdAt }) => [name, Math.floor(createdAt.getTime() / 1_000)]));
  const times = { models: seconds(catalog.models), routes: seconds(catalog.routes) };
  return (kind, name) => times[kind].get(name) ?? 0;
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
    const apiKey = declaration === undefined ? null : apiKeyOf(declaration);
    const record = { ...item.after, ...(apiKey === null ? {} : { api_key: apiKey }) };
    (after[item.kind] as Definition[]).push(record);
  }
  return after;
}

/** Throws one line when a credential cannot be opened or a definition is not understood. */
export function storedDocument(
  catalog: Catalog,
  open: OpenCredential,
  creditsPerUsd: number,
): CatalogDocument {
  const providers = catalog.providers.map((provider): ProviderRecord => {
    const credential = open(provider);
    if (credential === undefined) {
      const fault = `the credential of provider ${provider.name} is sealed under another key`;
      throw new ConfigError(`TOLLGATE_SECRET: ${fault}: TOLLGATE_SECRET_PREVIOUS takes that one`);
    }
    const definition = provider.definition as ProviderRecord;
    return { ...definition, ...(credential === null ? {} : { api_key: credential }) };
  });
  const result = v.safeParse(catalogDocumentSchema, {
    credits_per_usd: creditsPerUsd,
    providers,
    prices: catalog.prices.map((record) => record.definition),
    models: catalog.models.map((record) => record.definition),
    routes: catalog.routes.map((record) => record.definition),
    packages: catalog.packages.map((record) => record.definition),
    surfaces: catalog.surfaces.map((record) => record.definition),
  });
  if (result.success) return result.output;
  // Valibot's own error would carry what it read, credentials included, into the log.
  const [issue] = result.issues;
  throw new Error(`the stored catalog is not understood: ${pathText(issue)}: ${issue.expected}`);
}
