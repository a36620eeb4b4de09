// What a person may decide about its money, and whether that can be done.
import * as v from 'valibot';
import { soldIn } from '../../actors/payments/packages.ts';
import { autoPerDayDefault, type BillingSettings } from '../../db/billing/settings.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import type { Services } from '../services.ts';
import { profileEntries } from './settings-body.ts';

const autoSchema = v.strictObject({
  enabled: v.boolean(),
  threshold_microcredits: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.maxValue(Number.MAX_SAFE_INTEGER),
  ),
  package_slug: v.pipe(v.string(), v.minLength(1), v.maxLength(120)),
  per_day_max: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)),
    autoPerDayDefault,
  ),
  month_max_cents: v.optional(
    v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000))),
    null,
  ),
});

export const settingsInput = v.strictObject({
  auto_top_up: v.optional(autoSchema),
  profile: v.optional(v.strictObject(profileEntries)),
});

/** @throws Problem invalid_request where no charge could be made */
export function requireChargeable(
  { catalog }: Pick<Services, 'catalog'>,
  { method }: BillingSettings,
  slug: string,
): void {
  const { payments, packages } = catalog.current().snapshot;
  const seller = payments.find(({ name }) => name === method?.provider);
  const field = 'auto_top_up.enabled';
  if (method === null || seller === undefined) {
    throw fieldProblem(field, 'No card is saved: buy credits with save_payment_method first.');
  }
  if (seller.account.kind !== 'stripe' || !seller.enabled || seller.account.automaticTax) {
    throw fieldProblem(field, 'The saved card cannot be charged without you.');
  }
  const found = packages.find((each) => each.slug === slug);
  if (found === undefined || soldIn(found, seller.currencies) === null) {
    throw fieldProblem('auto_top_up.package_slug', 'It is not sold with the saved card.');
  }
}
