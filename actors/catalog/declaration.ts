// What a start declares, record by record, and whether it is what the last start declared. Compared
// is what was written, not what the schema makes of it: a default that a later version brings is no
// change of the file.
import { createHash } from 'node:crypto';
import type { KeptDeclaration } from '../../db/declarations.ts';
import { jsonPieces } from '../../runtime/http/json-pieces.ts';
import type { Sealer } from '../../runtime/seal.ts';
import type { CatalogDocument } from './document.ts';
import { type Definition, nameOf, type RecordKind, recordKinds } from './kinds.ts';
import { credentialIn, withoutSecrets } from './secrets.ts';

export interface Declaration {
  kind: RecordKind;
  name: string;
  /** `environment`: development mode makes it of the simulator, of keys and of local runners. */
  source: 'file' | 'environment';
  /** As the schema gives it, with `api_key`. */
  definition: Definition;
  /** As it was written. */
  written: Definition;
}

export interface DeclaredCatalog {
  document: CatalogDocument;
  declarations: Declaration[];
  /** Without a file nothing has left it. */
  hasFile: boolean;
}

/** Records as JSON has them, by kind. */
export type WrittenRecords = Partial<Record<RecordKind, readonly Definition[]>>;

/** `written` is what the file has: the first records of each kind. The others are made here. */
export function declaredCatalog(
  document: CatalogDocument,
  written: WrittenRecords | null,
): DeclaredCatalog {
  const declarations = recordKinds.flatMap((kind) =>
    (document[kind] as Definition[]).map((definition, index): Declaration => {
      const inFile = written?.[kind]?.[index];
      const source = inFile === undefined ? 'environment' : 'file';
      const name = nameOf(kind, definition);
      return { kind, name, source, definition, written: inFile ?? definition };
    }),
  );
  return { document, declarations, hasFile: written !== null };
}

/** The simulator's address is new with each start: it is no part of what is compared. */
export function hasOwnAddress({ kind, source, definition }: Declaration): boolean {
  return source === 'environment' && isSimulated(kind, definition);
}

/** Payment providers of the environment have no other address; one that is made by hand may. */
export function isSimulated(kind: RecordKind, { simulated, base_url }: Definition): boolean {
  if (kind !== 'payment_providers') return simulated === true;
  return String(base_url ?? '').startsWith(simulatorOrigin);
}

const simulatorOrigin = 'http://127.0.0.1:';

type Hashes = Pick<KeptDeclaration, 'definitionHash' | 'credentialHash' | 'credentialKeyId'>;

/** What is kept of a declaration. */
export function hashesOf(declaration: Declaration, sealer: Sealer): Hashes {
  const credential = credentialOf(declaration);
  return {
    definitionHash: definitionHashOf(declaration),
    credentialHash: credential === null ? null : sealer.digest(credential, purposeOf(declaration)),
    credentialKeyId: credential === null ? null : sealer.keyId,
  };
}

/**
 * Whether it is declared as it was. `unknown`: nobody here has the key of its credential's hash, or
 * an older build has kept none. `sealers` are those of the current master key and the previous one.
 */
export function compareKept(
  declaration: Declaration,
  kept: KeptDeclaration,
  sealers: readonly Sealer[],
): 'same' | 'changed' | 'unknown' {
  if (kept.definitionHash === null) return 'unknown';
  if (kept.definitionHash !== definitionHashOf(declaration)) return 'changed';
  const credential = credentialOf(declaration);
  if (credential === null || kept.credentialHash === null) {
    return credential === null && kept.credentialHash === null ? 'same' : 'changed';
  }
  const sealer = sealers.find(({ keyId }) => keyId === kept.credentialKeyId);
  if (sealer === undefined) return 'unknown';
  const isSame = sealer.digest(credential, purposeOf(declaration)) === kept.credentialHash;
  return isSame ? 'same' : 'changed';
}

/** The credential that is declared; null: none. */
export function credentialOf({ kind, definition }: Declaration): string | null {
  return credentialIn(kind, definition);
}

function purposeOf({ kind, name }: Declaration): string {
  const of = kind === 'providers' ? '' : ` of ${kind}`;
  return `declared credential${of}: ${name}`;
}

const pieceCharacters = 32 * 1_024;

/** Hex SHA-256 of the canonical JSON: the order of members is no part of it. */
function definitionHashOf(declaration: Declaration): string {
  const written = withoutSecrets(declaration.kind, declaration.written);
  if (hasOwnAddress(declaration)) delete written.base_url;
  const hash = createHash('sha256');
  const sortedNames = (members: Definition) => Object.keys(members).sort();
  for (const piece of jsonPieces(written, pieceCharacters, sortedNames)) hash.update(piece);
  return hash.digest('hex');
}
