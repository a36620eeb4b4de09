// Marks what is charged after it had ended: its process was given up, and came to its end all the
// same. It may have been counted as it was before. No other statement has this part.
import { definePart, type Part } from '../ledger/part.ts';
import { ownedRows } from '../ledger/write.ts';

interface EndRow {
  id: string;
  late: boolean;
}

/** The part of the ledger's statement that marks late ones of these ends. */
export function latePart(ends: string): Part {
  return definePart<EndRow>({
    name: `late_${ends}`,
    rows: (write) => ownedRows<EndRow>(write, ends).filter(({ late }) => late),
    columns: [['id', 'text', ({ id }) => id]],
    text: (rows) => `INSERT INTO usage_late (wallet_id, id)
      SELECT r.wallet_id, r.id FROM ${rows} ON CONFLICT DO NOTHING`,
  });
}
