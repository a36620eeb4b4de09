// The secret members of records: sealed as one text, opened for whoever calls there, and shown to
// nobody. A provider has its key alone; a payment provider's secrets are sealed together, as JSON.
import * as v from 'valibot';
import type { SealedKind } from '../../db/catalog.ts';
import type { Definition, RecordKind } from './kinds.ts';

const membersOf: Readonly<Partial<Record<RecordKind, readonly string[]>>> = {
  providers: ['api_key'],
  payment_providers: ['secret_key', 'webhook_secrets'],
};

/** What plans and refusals call the credential of a record. */
const labels: Readonly<Record<SealedKind, string>> = {
  providers: 'api_key',
  payment_providers: 'secret_key',
};

export const sealedKinds = Object.keys(labels) as SealedKind[];

export function isSealed(kind: RecordKind): kind is SealedKind {
  return kind in labels;
}

export function secretMembers(kind: RecordKind): readonly string[] {
  return membersOf[kind] ?? [];
}

/** The member that stands for all of them. */
export function credentialLabel(kind: RecordKind): string {
  return isSealed(kind) ? labels[kind] : 'api_key';
}

/** A definition as it is stored and shown. */
export function withoutSecrets(kind: RecordKind, definition: Definition): Definition {
  const secret = secretMembers(kind);
  return Object.fromEntries(Object.entries(definition).filter(([name]) => !secret.includes(name)));
}

/** All secrets of a record as one text; null: it has none. */
export function credentialIn(kind: RecordKind, definition: Definition): string | null {
  if (!isSealed(kind)) return null;
  if (kind === 'providers') return (definition.api_key as string | undefined) ?? null;
  const { secret_key, webhook_secrets } = definition;
  return JSON.stringify({ secret_key, webhook_secrets });
}

const sealedMembers = v.strictObject({
  secret_key: v.string(),
  webhook_secrets: v.array(v.string()),
});

/** A stored definition with what was sealed of it. @throws Error when that is not understood */
export function withSecrets(
  kind: SealedKind,
  definition: Definition,
  credential: string | null,
): Definition {
  if (credential === null) return definition;
  if (kind === 'providers') return { ...definition, api_key: credential };
  return { ...definition, ...v.parse(sealedMembers, JSON.parse(credential)) };
}

/** Under what a credential is sealed: one that was moved to another record opens for nobody. */
export function sealPurpose(kind: SealedKind, name: string): string {
  return kind === 'providers' ? `provider credential: ${name}` : `${kind} credential: ${name}`;
}

/**
 * Where a record's secrets are sent; null: its address cannot be read. Payment providers without an
 * address are called at their vendor's.
 */
export function serverOf(kind: SealedKind, definition: Definition): string | null {
  const { base_url: address } = definition;
  const isVendors = kind === 'payment_providers' && address === undefined;
  if (isVendors) return String(definition.kind);
  return URL.canParse(String(address)) ? new URL(String(address)).origin : null;
}
