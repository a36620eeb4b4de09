// The settings of an organization in its row, which its writer has locked.
import type { Transaction } from '../driver/sql.ts';

/** @param stored what differs from the defaults. */
export async function writeSettings(
  transaction: Transaction,
  organizationId: number,
  stored: Readonly<Record<string, unknown>>,
): Promise<void> {
  const text = JSON.stringify(stored);
  await transaction`
    UPDATE organizations SET settings = ${text}::text::jsonb,
      settings_revision = settings_revision + 1
    WHERE id = ${organizationId}`;
}
