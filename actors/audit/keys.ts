// The keys that sign an organization's checkpoints. A seed is sealed for its organization. A key
// that an earlier master key has sealed is replaced: that master key may be known to others.
import { randomBytes } from 'node:crypto';
import type { Transaction } from '../../db/driver/sql.ts';
import type { AuditHead } from '../../db/organization-audit/head.ts';
import {
  type AuditKey,
  insertAuditKey,
  listAuditKeys,
  putAuditKeySealed,
} from '../../db/organization-audit/keys.ts';
import { createSealer, type Sealer } from '../../runtime/seal.ts';
import { auditLimits } from './limits.ts';
import { createNoteSigner, type NoteSigner } from './note.ts';

export interface AuditSealers {
  now: Sealer;
  /** The master key before made it. */
  before: Sealer | null;
}

/** `previousSecret`: the master key before, while the configuration names it. */
export function auditSealers(now: Sealer, previousSecret: string | null): AuditSealers {
  return { now, before: previousSecret === null ? null : createSealer(previousSecret) };
}

type Audit = Pick<AuditHead, 'organizationId' | 'origin'>;

const seedBytes = 32;
const purposeOf = (organizationId: number) => `key of audit: ${organizationId}`;

/** A new key; the one before signs beside it for a while. */
export async function makeAuditKey(
  transaction: Transaction,
  { organizationId, origin }: Audit,
  sealer: Sealer,
): Promise<NoteSigner> {
  const seed = randomBytes(seedBytes);
  const signer = createNoteSigner(origin, seed);
  const { keyHash, vkey } = signer.verifier;
  const sealed = sealer.seal(seed.toString('base64'), purposeOf(organizationId));
  const key = { keyHash, vkey, sealed, sealedKeyId: sealer.keyId };
  await insertAuditKey(transaction, organizationId, key);
  return signer;
}

/** Null: none of the master keys has sealed it. */
function openKey(
  { organizationId, origin }: Audit,
  { sealed, sealedKeyId }: AuditKey,
  { now, before }: AuditSealers,
): NoteSigner | null {
  const sealer = [now, before].find((each) => each?.keyId === sealedKeyId);
  if (sealer === undefined || sealer === null) return null;
  const seed = sealer.open(sealed, purposeOf(organizationId));
  return createNoteSigner(origin, Buffer.from(seed, 'base64'));
}

/** Whoever signs now, the newest key first. The head is locked. */
export async function signersOf(
  transaction: Transaction,
  audit: Audit,
  sealers: AuditSealers,
): Promise<NoteSigner[]> {
  const { organizationId } = audit;
  const keys = await listAuditKeys(transaction, organizationId);
  const since = Date.now() - auditLimits.keyOverlapMs;
  const signing = keys.filter(
    ({ replacedAt }) => replacedAt === null || replacedAt.getTime() > since,
  );
  const signers: NoteSigner[] = [];
  let newest: NoteSigner | null = null;
  for (const key of signing) {
    const signer = openKey(audit, key, sealers);
    if (signer === null) continue;
    signers.push(signer);
    if (key.sealedKeyId === sealers.now.keyId) {
      if (key.replacedAt === null) newest = signer;
      continue;
    }
    const { seed } = signer;
    const sealed = sealers.now.seal(seed.toString('base64'), purposeOf(organizationId));
    const again = { keyHash: key.keyHash, sealed, sealedKeyId: sealers.now.keyId };
    await putAuditKeySealed(transaction, organizationId, again);
  }
  if (newest === null) signers.unshift(await makeAuditKey(transaction, audit, sealers.now));
  return signers;
}
