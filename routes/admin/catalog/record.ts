// A record of the catalog in a reply: its definition, what of its credential may be told, what
// customers are shown of its price.
import * as v from 'valibot';
import type { PriceMembers } from '../../../actors/catalog/document.ts';
import { type Definition, kindsOfRecords } from '../../../actors/catalog/kinds.ts';
import { readyCard } from '../../../actors/catalog/snapshot.ts';
import {
  publicCallRates,
  publicRates,
  publicUnitRates,
  publicVideoRates,
} from '../../../actors/wallet/public-rates.ts';
import { findRecord, type ListedRecord } from '../../../db/catalog.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import type { Services } from '../../services.ts';
import { recordHeaders } from '../revision.ts';
import { declarationMember } from './declaration.ts';
import type { Resource } from './resources.ts';

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
  const { schema } = kindsOfRecords[kind];
  const definitions = records.map((record) => {
    const parsed = v.safeParse(schema, record.definition);
    return (parsed.success ? parsed.output : record.definition) as Definition;
  });
  const cards = kind === 'models' ? await namedCards(definitions, services) : new Map();
  return records.map((record, index) => {
    const definition = definitions[index] ?? {};
    return {
      ...definition,
      ...(kind === 'providers' ? credentialMembers(record) : {}),
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

async function namedCards(
  models: readonly Definition[],
  { sql }: Pick<Services, 'sql'>,
): Promise<Map<string, PriceMembers>> {
  const names = models.flatMap(({ price }) => (typeof price === 'string' ? [price] : []));
  const cards = [...new Set(names)].map(async (name) => {
    const record = await findRecord(sql, 'prices', name);
    return [name, (record?.definition ?? {}) as PriceMembers] as const;
  });
  return new Map(await Promise.all(cards));
}

function cardOf({ price }: Definition, cards: ReadonlyMap<string, PriceMembers>): PriceMembers {
  return typeof price === 'string' ? (cards.get(price) ?? {}) : (price as PriceMembers);
}

/** What customers are shown of a card. */
function ratesOf(
  card: PriceMembers,
  { catalog }: Pick<Services, 'catalog'>,
): Record<string, unknown> {
  const { creditsPerUsd } = catalog.current().snapshot;
  const ready = readyCard(card, creditsPerUsd);
  const calls = publicCallRates(ready, Object.keys(ready.givenCalls));
  const videos = publicVideoRates(ready);
  const units = {
    ...publicUnitRates(ready),
    ...(videos.length === 0 ? {} : { video_rates: videos }),
  };
  return { public_rates: { ...publicRates(ready), ...units, ...calls } };
}

/** One record as a whole reply. */
export async function recordAnswer(
  status: number,
  resource: Resource,
  record: ListedRecord,
  contentVersion: string,
  services: Pick<Services, 'sql' | 'catalog'>,
): Promise<Reply> {
  const [body] = await withDeadline(recordBodies(resource, [record], services));
  const json = { ok: true, content_version: contentVersion, [resource.singular]: body };
  return { status, headers: recordHeaders(record.revision), json };
}
