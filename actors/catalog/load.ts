// From what is declared and what is stored to the catalog that shards use. A record is written over
// the stored one of the same name where its declaration has changed; all else that is stored stays.
import { insertAuditEvent, type NewAuditEvent } from '../../db/audit-events.ts';
import {
  lockCatalog,
  markDeclared,
  putCreditsPerUsd,
  putRecord,
  putSealed,
  readCatalogWithin,
  readCreditsPerUsd,
  removeClientSecrets,
} from '../../db/catalog.ts';
import {
  forgetDeclarations,
  type KeptDeclaration,
  keepDeclarations,
  readDeclarations,
} from '../../db/declarations.ts';
import type { Sql, Transaction } from '../../db/driver/sql.ts';
import { newAuditId } from '../../runtime/ids.ts';
import type { Sealer } from '../../runtime/seal.ts';
import { changeEvent } from './change.ts';
import { credentialOf, type DeclaredCatalog, hashesOf } from './declaration.ts';
import { type DeclaredOptions, readDeclared } from './declared.ts';
import { assertSound } from './faults.ts';
import { kindsOfRecords, recordKinds } from './kinds.ts';
import {
  creditsPerUsdOf,
  hasLeft,
  isStanding,
  keyOf,
  type OpenCredential,
  type Plan,
  type PlanItem,
  planChanges,
  standingRecords,
} from './plan.ts';
import { credentialLabel, isSealed, sealedKinds } from './secrets.ts';
import { buildSnapshot, type CatalogSnapshot } from './snapshot.ts';
import {
  clientSecrets,
  creationTime,
  openCredential,
  sealCredential,
  storedDocument,
} from './stored.ts';

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
 * Applies what has changed of the declared catalog in one transaction and reads the whole one.
 * Throws with one line on a bad document, and then nothing of it is applied.
 */
export async function loadCatalog(options: LoadOptions): Promise<LoadedCatalog> {
  const { sql, sealer, previousSealer } = options;
  const declared = await readDeclared(options);
  return sql.begin(async (transaction) => {
    await lockCatalog(transaction);
    if (previousSealer !== null) await resealCredentials(transaction, sealer, previousSealer);
    const kept = await readDeclarations(transaction, configurationActor);
    const open: OpenCredential = (kind, record) => openCredential(kind, record, sealer);
    const storedCreditsPerUsd = await readCreditsPerUsd(transaction);
    const plan = planChanges({
      declared,
      stored: await readCatalogWithin(transaction),
      kept,
      storedCreditsPerUsd,
      open,
      sealers: previousSealer === null ? [sealer] : [sealer, previousSealer],
    });
    for (const item of plan.items) await applyItem(transaction, item, declared, sealer);
    const creditsPerUsd = creditsPerUsdOf(declared, storedCreditsPerUsd);
    await applyExchange(transaction, plan, creditsPerUsd);
    await keepDeclared(transaction, declared, { plan, kept, sealer });
    const stored = await readCatalogWithin(transaction);
    const document = storedDocument(stored, open, creditsPerUsd);
    assertSound(document, standingRecords(plan));
    const snapshot = buildSnapshot(document, creationTime(stored), clientSecrets(stored));
    return { snapshot, plan };
  });
}

/** Remembers what is declared now, for the next start. */
async function keepDeclared(
  transaction: Transaction,
  declared: DeclaredCatalog,
  { plan, kept, sealer }: { plan: Plan; kept: readonly KeptDeclaration[]; sealer: Sealer },
): Promise<void> {
  const before = new Map(kept.map((each) => [keyOf(each), each]));
  const standing = new Set(plan.items.filter(isStanding).map(keyOf));
  const now = declared.declarations.map((declaration): KeptDeclaration => {
    const { kind, name, source } = declaration;
    const key = keyOf(declaration);
    const overruledAt = standing.has(key) ? (before.get(key)?.overruledAt ?? new Date()) : null;
    return { kind, name, source, ...hashesOf(declaration, sealer), overruledAt };
  });
  const named = new Set(now.map(keyOf));
  const others = kept.filter((each) => !named.has(keyOf(each)));
  // What left the environment may be back soon: a local runner was not up yet.
  const left = others.filter(({ source }) => source === 'file' && declared.hasFile);
  await forgetDeclarations(transaction, left);
  await keepDeclarations(transaction, [...now, ...others.filter((each) => !left.includes(each))]);
  const stillDeclared = others.filter(({ source }) => !hasLeft(source, declared));
  for (const kind of recordKinds) {
    const records = [...now, ...stillDeclared].filter((each) => each.kind === kind);
    const names = records.map(({ name }) => name);
    await markDeclared(transaction, kind, names);
  }
}

async function applyItem(
  transaction: Transaction,
  item: PlanItem,
  { declarations }: DeclaredCatalog,
  sealer: Sealer,
): Promise<void> {
  const { kind, name, change, after, members } = item;
  if ((change !== 'create' && change !== 'update') || after === null) return;
  let credential: 'kept' | 'set' | 'removed' | null = null;
  if (isSealed(kind)) {
    const declaration = declarations.find((each) => keyOf(each) === keyOf(item));
    const declared = declaration === undefined ? null : credentialOf(declaration);
    const isOther = change === 'create' || members.includes(credentialLabel(kind));
    const sealed = isOther ? { credential: sealCredential(sealer, kind, name, declared) } : {};
    await putSealed(transaction, kind, { name, definition: after, ...sealed });
    if (declared !== null) credential = isOther ? 'set' : 'kept';
    else if (members.includes(credentialLabel(kind))) credential = 'removed';
  } else {
    await putRecord(transaction, kind, name, after);
    if (kind === 'oauth_clients' && after.type === 'public') {
      await removeClientSecrets(transaction, name);
    }
  }
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
  now: number,
): Promise<void> {
  await putCreditsPerUsd(transaction, now);
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
  const stored = await readCatalogWithin(transaction);
  const sealed = sealedKinds.flatMap((kind) => stored[kind].map((record) => ({ kind, record })));
  for (const { kind, record } of sealed) {
    if (record.credential === null || record.credentialKeyId === sealer.keyId) continue;
    const opened = openCredential(kind, record, previousSealer);
    if (opened === undefined || opened === null) continue;
    const { name, definition } = record;
    const credential = sealCredential(sealer, kind, name, opened);
    await putSealed(transaction, kind, { name, definition, credential });
    const { singular } = kindsOfRecords[kind];
    await insertAuditEvent(transaction, {
      id: newAuditId(0),
      accountId: null,
      actor: configurationActor,
      action: `${singular}.reseal`,
      subject: `${singular}:${name}`,
      details: { before: record.credentialKeyId, after: sealer.keyId },
    });
  }
}
