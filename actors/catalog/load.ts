// From what is declared and what is stored to the catalog that shards use. Declared records are
// written over stored ones of the same name; what else is stored stays: administrators made it.
import { insertAuditEvent, type NewAuditEvent } from '../../db/audit-events.ts';
import {
  lockCatalog,
  markDeclared,
  putCreditsPerUsd,
  putProvider,
  putRecord,
  readCatalogWithin,
  readCreditsPerUsd,
} from '../../db/catalog.ts';
import type { Sql, Transaction } from '../../db/driver/sql.ts';
import { newAuditId } from '../../runtime/ids.ts';
import type { Sealer } from '../../runtime/seal.ts';
import { changeEvent } from './change.ts';
import { type DeclaredOptions, declaredDocument } from './declared.ts';
import type { CatalogDocument } from './document.ts';
import { assertSound } from './faults.ts';
import { type Definition, nameOf, recordKinds } from './kinds.ts';
import { type OpenCredential, type Plan, type PlanItem, planChanges } from './plan.ts';
import { buildSnapshot, type CatalogSnapshot } from './snapshot.ts';
import { creationTime, openCredential, sealCredential, storedDocument } from './stored.ts';

export interface LoadOptions extends DeclaredOptions {
  sql: Sql;
  sealer: Sealer;
  /** Of the key before the current one: what it sealed is sealed anew. */
  previousSealer: Sealer | null;
}

export interface LoadedCatalog {
  snapshot: CatalogSnapshot;
  /** What the configuration changed. */
  plan: Plan;
}

/** Who changes what the configuration declares. */
export const configurationActor = 'configuration';

/**
 * Applies the declared catalog in one transaction and reads the whole one. Throws with one line on
 * a bad document, and then nothing of it is applied.
 */
export async function loadCatalog(options: LoadOptions): Promise<LoadedCatalog> {
  const { sql, sealer, previousSealer } = options;
  const declared = await declaredDocument(options);
  return sql.begin(async (transaction) => {
    await lockCatalog(transaction);
    if (previousSealer !== null) await resealCredentials(transaction, sealer, previousSealer);
    const before = await readCatalogWithin(transaction);
    const open: OpenCredential = (provider) => openCredential(provider, sealer);
    const plan = planChanges(declared, before, await readCreditsPerUsd(transaction), open);
    for (const item of plan.items) await applyItem(transaction, item, declared, sealer);
    await applyExchange(transaction, plan, declared);
    for (const kind of recordKinds) {
      const names = declared[kind].map((record) => nameOf(kind, record as Definition));
      await markDeclared(transaction, kind, names);
    }
    const stored = await readCatalogWithin(transaction);
    const document = storedDocument(stored, open, declared.credits_per_usd);
    assertSound(document);
    return { snapshot: buildSnapshot(document, creationTime(stored)), plan };
  });
}

async function applyItem(
  transaction: Transaction,
  item: PlanItem,
  declared: CatalogDocument,
  sealer: Sealer,
): Promise<void> {
  const { kind, name, change, after, members } = item;
  if (change === 'forgotten' || after === null) return;
  let credential: 'kept' | 'set' | 'removed' | null = null;
  if (kind === 'providers') {
    const apiKey = declared.providers.find((record) => record.name === name)?.api_key ?? null;
    const isOther = change === 'create' || members.includes('api_key');
    const sealed = isOther ? { credential: sealCredential(sealer, name, apiKey) } : {};
    await putProvider(transaction, { name, definition: after, ...sealed });
    if (apiKey !== null) credential = isOther ? 'set' : 'kept';
    else if (members.includes('api_key')) credential = 'removed';
  } else await putRecord(transaction, kind, name, after);
  const event: NewAuditEvent = changeEvent({
    id: newAuditId(0),
    actor: configurationActor,
    verb: change,
    kind,
    name,
    before: item.before,
    after,
    credential,
  });
  await insertAuditEvent(transaction, event);
}

/** Live changes know the rate from the start: it is stored to be compared with. */
async function applyExchange(
  transaction: Transaction,
  { creditsPerUsd }: Plan,
  declared: CatalogDocument,
): Promise<void> {
  await putCreditsPerUsd(transaction, declared.credits_per_usd);
  if (creditsPerUsd === null) return;
  await insertAuditEvent(transaction, {
    id: newAuditId(0),
    accountId: null,
    actor: configurationActor,
    action: 'catalog.update',
    subject: 'catalog:credits_per_usd',
    details: creditsPerUsd,
  });
}

/** After a change of the master key: what the previous one sealed is sealed anew. */
async function resealCredentials(
  transaction: Transaction,
  sealer: Sealer,
  previousSealer: Sealer,
): Promise<void> {
  for (const provider of (await readCatalogWithin(transaction)).providers) {
    if (provider.credential === null || provider.credentialKeyId === sealer.keyId) continue;
    const apiKey = openCredential(provider, previousSealer);
    if (apiKey === undefined || apiKey === null) continue;
    const { name, definition } = provider;
    const credential = sealCredential(sealer, name, apiKey);
    await putProvider(transaction, { name, definition, credential });
    await insertAuditEvent(transaction, {
      id: newAuditId(0),
      accountId: null,
      actor: configurationActor,
      action: 'provider.reseal',
      subject: `provider:${name}`,
      details: { before: provider.credentialKeyId, after: sealer.keyId },
    });
  }
}
