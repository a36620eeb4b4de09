// A record of the catalog in a reply: its definition, what of its credential may be told, what
// customers are shown of its price.
import * as v from 'valibot';
import type { PriceMembers } from '../../../actors/catalog/document.ts';
import { type Definition, kindsOfRecords, storedSchemaOf } from '../../../actors/catalog/kinds.ts';
import { isSealed } from '../../../actors/catalog/secrets.ts';
import type { ListedRecord } from '../../../db/catalog.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import type { Services } from '../../services.ts';
import { recordHeaders } from '../revision.ts';
import { declarationMember } from './declaration.ts';
import { cardOf, namedCards, ratesOf } from './rates.ts';
import type { Resource } from './resource.ts';

/** The reply that carries one record. */
export function recordReply(resource: Resource, description: string) {
  return {
    description,
    schema: v.strictObject({
      ok: v.literal(true),
      content_version: v.string(),
      [resource.singular]: resource.recordSchema,
    }),
    headers: { etag: 'The revision of the record.' },
  };
}

/** Records as replies have them; named price cards are looked up once each. */
export async function recordBodies(
  { kind }: Resource,
  records: readonly ListedRecord[],
  services: Pick<Services, 'sql' | 'catalog'>,
): Promise<Record<string, unknown>[]> {
  const schema = storedSchemaOf(kind);
  const definitions = records.map((record) => {
    const parsed = v.safeParse(schema, record.definition);
    const known = (parsed.success ? parsed.output : record.definition) as Definition;
    // There is one such record: its name is told to nobody.
    const { name: _name, ...settings } = known;
    return kindsOfRecords[kind].onlyName === undefined ? known : settings;
  });
  const cards = kind === 'models' ? await namedCards(definitions, services) : new Map();
  return records.map((record, index) => {
    const definition = definitions[index] ?? {};
    return {
      ...definition,
      ...(isSealed(kind) ? credentialMembers(record) : {}),
      ...(kind === 'oauth_clients' ? secretMembers(record) : {}),
      ...(kind === 'prices' ? ratesOf(definition as PriceMembers, services) : {}),
      ...(kind === 'models' ? ratesOf(cardOf(definition, cards), services) : {}),
      declared: record.declared,
      declaration: declarationMember(record),
      revision: record.revision,
      created_at: record.createdAt.toISOString(),
      updated_at: record.updatedAt.toISOString(),
    };
  });
}

function credentialMembers({ credentialKeyId }: ListedRecord): Record<string, unknown> {
  return { has_credential: credentialKeyId !== null, credential_key_id: credentialKeyId };
}

function secretMembers(record: ListedRecord): Record<string, unknown> {
  const { hasSecret, formerSecretUntil: until } = record;
  const isGood = until !== null && until.getTime() > Date.now();
  return { has_secret: hasSecret, former_secret_until: isGood ? until.toISOString() : null };
}

interface RecordAnswer {
  status: number;
  headers: Record<string, string>;
  json: Record<string, unknown>;
}

/** One record as a whole reply. */
export async function recordAnswer(
  status: number,
  resource: Resource,
  record: ListedRecord,
  contentVersion: string,
  services: Pick<Services, 'sql' | 'catalog'>,
): Promise<RecordAnswer> {
  const [body] = await withDeadline(recordBodies(resource, [record], services));
  const json = { ok: true, content_version: contentVersion, [resource.singular]: body };
  return { status, headers: recordHeaders(record.revision), json };
}
