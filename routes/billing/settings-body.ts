// What a person decided about its money, as the API shows it.
import * as v from 'valibot';
import type { BillingSettings } from '../../db/billing/settings.ts';
import { lineOfText, maxCharacters } from '../../runtime/http/text.ts';
import { amount } from './amounts.ts';
import { exact, micros } from './micros.ts';

const nullableMicros = v.nullable(micros);

export const profileEntries = {
  name: v.optional(v.nullable(lineOfText(200))),
  address: v.optional(v.nullable(v.pipe(v.string(), maxCharacters(1_000)))),
  country: v.optional(
    v.nullable(
      v.pipe(
        v.string(),
        v.regex(/^[A-Z]{2}$/, 'expected two capital letters of ISO 3166, such as GB'),
      ),
    ),
  ),
  tax_id: v.optional(v.nullable(lineOfText(60))),
};

export const autoTopUpSchema = v.strictObject({
  enabled: v.boolean(),
  threshold_microcredits: nullableMicros,
  threshold_exact: v.nullable(exact),
  package_slug: v.nullable(v.string()),
  per_day_max: v.pipe(v.number(), v.integer()),
  month_max_cents: v.nullable(v.pipe(v.number(), v.integer())),
  state: v.picklist(['off', 'active', 'paused']),
  paused_reason: v.nullable(v.picklist(['needs_person', 'declined', 'unsellable'])),
  card_brand: v.nullable(v.string()),
  card_last4: v.nullable(v.string()),
});

const text = v.nullable(v.string());

export const settingsSchema = v.strictObject({
  ok: v.literal(true),
  auto_top_up: autoTopUpSchema,
  profile: v.strictObject({ name: text, address: text, country: text, tax_id: text }),
});

/** An account that may not be charged has it off, whatever it decided. */
export function autoTopUpBody(
  { auto, method }: BillingSettings,
  isChargeable: boolean,
): Record<string, unknown> {
  const { thresholdMicros, pausedReason, monthMaxCents } = auto;
  const isOn = auto.enabled && isChargeable;
  const threshold =
    thresholdMicros === null
      ? { threshold_microcredits: null, threshold_exact: null }
      : amount('threshold', thresholdMicros);
  return {
    enabled: auto.enabled,
    ...threshold,
    package_slug: auto.packageSlug,
    per_day_max: auto.perDayMax,
    month_max_cents: monthMaxCents === null ? null : Number(monthMaxCents),
    state: isOn ? (pausedReason === null ? 'active' : 'paused') : 'off',
    paused_reason: isOn ? pausedReason : null,
    card_brand: method?.brand ?? null,
    card_last4: method?.last4 ?? null,
  };
}

export function settingsBody(
  settings: BillingSettings,
  isChargeable: boolean,
): Record<string, unknown> {
  const { name = null, address = null, country = null, tax_id = null } = settings.profile ?? {};
  return {
    ok: true,
    auto_top_up: autoTopUpBody(settings, isChargeable),
    profile: { name, address, country, tax_id },
  };
}
