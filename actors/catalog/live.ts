// The catalog of this process. To change it is to decide on what is stored, to write that with its
// audit event, and to tell every shard. What cannot be built is refused before it is written.
import { strict as assert } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { insertAuditEvent } from '../../db/audit-events.ts';
import { endAuthorizations } from '../../db/authorizations.ts';
import {
  type Catalog,
  deleteRecord,
  findRecord,
  type ListedRecord,
  lockCatalog,
  putRecord,
  putSealed,
  readCatalog,
  readCatalogStamp,
  readCatalogWithin,
  removeClientSecrets,
  renewClientSecret,
} from '../../db/catalog.ts';
import { overruleDeclaration } from '../../db/declarations.ts';
import type { Sql, Transaction } from '../../db/driver/sql.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import { fitsKind } from '../../media/providers/model-kinds.ts';
import { isId, newAuditId } from '../../runtime/ids.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Sealer } from '../../runtime/seal.ts';
import { clientLimits } from '../oauth/limits.ts';
import {
  type CatalogChange,
  type CatalogReply,
  changeEvent,
  type Decided,
  decideChange,
} from './change.ts';
import type { CatalogDocument } from './document.ts';
import { type Definition, nameOf } from './kinds.ts';
import type { OpenCredential } from './plan.ts';
import { credentialIn, isSealed } from './secrets.ts';
import { buildSnapshot, type CatalogSnapshot } from './snapshot.ts';
import {
  clientSecrets,
  creationTime,
  openCredential,
  sealCredential,
  storedDocument,
} from './stored.ts';
import { surfaceAsEnabled } from './surface/build.ts';
import type { CatalogSurface } from './surface.ts';
import { upstreamTarget } from './target.ts';

/** A snapshot on its way to shards: of two the one with the higher sequence is newer. */
export interface CatalogPublication {
  sequence: number;
  snapshot: CatalogSnapshot;
}

export interface LiveCatalogOptions {
  sql: Sql;
  sealer: Sealer;
  /** As the start found it. */
  snapshot: CatalogSnapshot;
  /** Resolves when every live shard has the snapshot. */
  publish(publication: CatalogPublication): Promise<void>;
  log: Pick<Logger, 'info' | 'warn'>;
}

export interface LiveCatalog {
  current(): CatalogPublication;
  /** Rejects when the database fails; the catalog is as it was then. */
  change(change: CatalogChange): Promise<CatalogReply>;
  /**
   * Takes over what other processes have changed meanwhile. What this one does not understand (a
   * newer version wrote it, or sealed it under another key) it leaves alone, and says so once.
   */
  follow(): Promise<void>;
  /**
   * How to call a provider, also a disabled one, for a test: with a model that it has, or the
   * first that the catalog knows of it. Null: there is no such provider.
   */
  target(provider: string, upstreamModel: string | null): Promise<TestTarget | null>;
  /**
   * A surface for a test, also a disabled one, with all its providers. Null: there is none of this
   * name.
   */
  surface(name: string): Promise<CatalogSurface | null>;
}

export interface TestTarget {
  target: UpstreamTarget;
  /** Whether a model is known that a text can be asked of. */
  hasModel: boolean;
}

export function createLiveCatalog(options: LiveCatalogOptions): LiveCatalog {
  const { sql, sealer, log } = options;
  const { creditsPerUsd } = options.snapshot;
  const open: OpenCredential = (kind, record) => openCredential(kind, record, sealer);
  const readDocument = async () => storedDocument(await readCatalog(sql), open, creditsPerUsd);
  let current: CatalogPublication = { sequence: 1, snapshot: options.snapshot };
  /** The stamp of the catalog that was looked at last. */
  let stamp: string | null = null;

  async function serve(snapshot: CatalogSnapshot): Promise<boolean> {
    if (isDeepStrictEqual(snapshot, current.snapshot)) return false;
    current = { sequence: current.sequence + 1, snapshot };
    await options.publish(current);
    return true;
  }

  function readable(stored: Catalog): CatalogSnapshot | null {
    try {
      return snapshotOf(stored, storedDocument(stored, open, creditsPerUsd));
    } catch (error) {
      log.warn({ err: error }, 'another process changed the catalog to what this one cannot serve');
      return null;
    }
  }

  return {
    current: () => current,

    async change(change) {
      const made = await makeChange(options, open, change);
      // Also where nothing was changed: a change whose commit was never answered is stored, and
      // whoever repeats it is the first to learn so.
      await serve(made.snapshot);
      const { contentVersion } = current.snapshot;
      if (made.refused === null) {
        const { record, endedKeys } = made;
        return { status: 'changed', record, contentVersion, endedKeys };
      }
      if (made.refused.status !== 'unchanged') return made.refused;
      const record = await findRecord(sql, change.kind, change.name);
      if (record === null) return { status: 'not_found' };
      return { status: 'unchanged', record, contentVersion, endedKeys: [] };
    },

    async follow() {
      // Before the catalog: what is written in between is looked at again.
      const found = await readCatalogStamp(sql);
      if (found === stamp) return;
      const stored = await readCatalog(sql);
      stamp = found;
      const snapshot = readable(stored);
      if (snapshot === null || !(await serve(snapshot))) return;
      const { contentVersion } = snapshot;
      log.info({ contentVersion }, 'another process changed the catalog');
    },

    target: async (name, upstreamModel) => testTarget(await readDocument(), name, upstreamModel),

    surface: async (name) => surfaceAsEnabled(await readDocument(), name),
  };
}

function testTarget(
  { providers, models }: CatalogDocument,
  name: string,
  upstreamModel: string | null,
): TestTarget | null {
  const provider = providers.find((record) => record.name === name);
  if (provider === undefined) return null;
  const routes = models.flatMap((model) => model.routes);
  const known = routes.find((route) => route.provider === name)?.upstream_model ?? null;
  const model = upstreamModel ?? known;
  const hasModel = model !== null && fitsKind(provider.family, 'generation');
  return { target: upstreamTarget(provider, model ?? ''), hasModel };
}

function snapshotOf(stored: Catalog, document: CatalogDocument): CatalogSnapshot {
  return buildSnapshot(document, creationTime(stored), clientSecrets(stored));
}

/** Decides on what is stored and writes it, in one transaction. */
function makeChange(
  { sql, sealer, snapshot: { creditsPerUsd } }: LiveCatalogOptions,
  open: OpenCredential,
  change: CatalogChange,
) {
  return sql.begin(async (transaction) => {
    await lockCatalog(transaction);
    const stored = await readCatalogWithin(transaction);
    const document = storedDocument(stored, open, creditsPerUsd);
    const decided = decideChange(change, stored, document);
    if (decided.status !== 'decided') {
      return { refused: decided, snapshot: snapshotOf(stored, document) };
    }
    const written = await write(transaction, change, decided, sealer);
    // One that cannot be built ends the transaction. Read again: a new record has its time.
    const snapshot = snapshotOf(await readCatalogWithin(transaction), decided.document);
    return { refused: null, snapshot, ...written };
  });
}

/** The record as it is then, or as it was before it was deleted. */
async function write(
  transaction: Transaction,
  change: CatalogChange,
  decided: Decided,
  sealer: Sealer,
): Promise<{ record: ListedRecord; endedKeys: string[] }> {
  const { kind, name, actor, action } = change;
  const { before, after } = decided;
  const last = after === null ? await findRecord(transaction, kind, name) : null;
  const endedKeys = await writeRecord(transaction, change, decided, sealer);
  const credential = credentialChange(change, decided);
  const id = newAuditId(0);
  const { verb } = action;
  const event = changeEvent({ id, actor, verb, kind, name, before, after, credential });
  await insertAuditEvent(transaction, event);
  const record = last ?? (await findRecord(transaction, kind, name));
  assert(record !== null, 'it was written in this transaction');
  return { record, endedKeys };
}

/** The ids of keys that ended with the record. */
async function writeRecord(
  transaction: Transaction,
  { kind, name, action }: CatalogChange,
  { after, credential }: Decided,
  sealer: Sealer,
): Promise<string[]> {
  if (action.verb === 'secret') {
    const secretHash = Buffer.from(action.secretHash, 'base64');
    const formerUntil = new Date(Date.now() + clientLimits.formerSecretMs);
    await renewClientSecret(transaction, name, { secretHash, formerUntil });
    return [];
  }
  await overruleDeclaration(transaction, kind, name);
  if (after === null) {
    await deleteRecord(transaction, kind, name);
    if (kind !== 'oauth_clients') return [];
    // A client of this name that is made later is another one.
    const ended = await endAuthorizations(transaction, { client: name }, 'admin');
    return ended.filter((id) => isId(id, 'key'));
  }
  if (isSealed(kind)) {
    const isKept = credential === undefined;
    const sealed = isKept ? {} : { credential: sealCredential(sealer, kind, name, credential) };
    await putSealed(transaction, kind, { name, definition: after, ...sealed });
    return [];
  }
  await putRecord(transaction, kind, name, after);
  if (kind === 'oauth_clients' && after.type === 'public') {
    await removeClientSecrets(transaction, name);
  }
  return [];
}

/** What the audit event says of the credential; null: there is none. */
function credentialChange(
  { kind, name, action }: CatalogChange,
  { credential, document }: Decided,
): 'kept' | 'set' | 'removed' | null {
  if (action.verb === 'secret') return 'set';
  if (credential !== undefined) return credential === null ? 'removed' : 'set';
  if (!isSealed(kind)) return null;
  const record = (document[kind] as Definition[]).find((each) => nameOf(kind, each) === name);
  return record === undefined || credentialIn(kind, record) === null ? null : 'kept';
}
