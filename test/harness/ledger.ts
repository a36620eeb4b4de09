// The ledger of the product, for tests that write to it without a wallet.
import { holderRows } from '../../db/ledger/holders.ts';
import { createLedger } from '../../db/ledger.ts';

export const ledger = createLedger(holderRows);
