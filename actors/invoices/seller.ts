// Who sells. The settings of billing say it; in development somebody has to be named without them.

import type { Queryable } from '../../db/driver/sql.ts';
import { findSeller, type SellerRow } from '../../db/purchases/invoices.ts';

const developmentSeller: SellerRow = {
  name: 'tollgate, development mode',
  address: 'Nothing was sold: payments are simulated',
  country: null,
  tax_id: null,
  email: null,
  invoice_prefix: 'DEV',
};

/** Null: nothing is invoiced until the settings name a seller. */
export async function sellerOf(
  sql: Queryable,
  mode: 'dev' | 'production',
): Promise<SellerRow | null> {
  return (await findSeller(sql)) ?? (mode === 'dev' ? developmentSeller : null);
}
