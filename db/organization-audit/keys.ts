// The keys that sign checkpoints. Their seeds are sealed; what verifies is public and stays.
import type { Queryable, Transaction } from '../driver/sql.ts';

export interface AuditKey {
  /** As notes name it: 8 hex characters. */
  keyHash: string;
  /** The verifier key. */
  vkey: string;
  sealed: Uint8Array;
  sealedKeyId: string;
  createdAt: Date;
  /** A newer key signs from then on. */
  replacedAt: Date | null;
}

type Row = {
  key_hash: string;
  vkey: string;
  sealed: Uint8Array;
  sealed_key_id: string;
  created_at: Date;
  replaced_at: Date | null;
};

/** The newest first. */
export async function listAuditKeys(sql: Queryable, organizationId: number): Promise<AuditKey[]> {
  const rows = await sql<Row[]>`
    SELECT * FROM organization_audit_keys WHERE organization_id = ${organizationId}
    ORDER BY replaced_at DESC NULLS FIRST, created_at DESC`;
  return rows.map((row) => ({
    keyHash: row.key_hash,
    vkey: row.vkey,
    sealed: row.sealed,
    sealedKeyId: row.sealed_key_id,
    createdAt: row.created_at,
    replacedAt: row.replaced_at,
  }));
}

/** The new key of an organization; the one before is replaced from now on. */
export async function insertAuditKey(
  transaction: Transaction,
  organizationId: number,
  key: Pick<AuditKey, 'keyHash' | 'vkey' | 'sealed' | 'sealedKeyId'>,
): Promise<void> {
  await transaction`
    UPDATE organization_audit_keys SET replaced_at = now()
    WHERE organization_id = ${organizationId} AND replaced_at IS NULL`;
  await transaction`
    INSERT INTO organization_audit_keys (organization_id, key_hash, vkey, sealed, sealed_key_id)
    VALUES (${organizationId}, ${key.keyHash}, ${key.vkey}, ${key.sealed as Buffer},
      ${key.sealedKeyId})`;
}

/** The seed, sealed under another master key. */
export async function putAuditKeySealed(
  transaction: Transaction,
  organizationId: number,
  { keyHash, sealed, sealedKeyId }: Pick<AuditKey, 'keyHash' | 'sealed' | 'sealedKeyId'>,
): Promise<void> {
  await transaction`
    UPDATE organization_audit_keys
    SET sealed = ${sealed as Buffer}, sealed_key_id = ${sealedKeyId}
    WHERE organization_id = ${organizationId} AND key_hash = ${keyHash}`;
}
