// The members that the routes of catalog records add to or change in a definition's own.
import * as v from 'valibot';
import { maxCharacters } from '../../../runtime/http/text.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { unitRateEntries } from '../../models/schema.ts';
import { revisionSchema } from '../revision.ts';
import { declarationSchema } from './declaration.ts';

export type Entries = Record<string, v.GenericSchema>;

const rate = v.nullable(v.number());
const publicRatesSchema = v.pipe(
  v.strictObject({
    credits_per_million_input: rate,
    credits_per_million_cached_input: rate,
    credits_per_million_output: rate,
    pricing_tiers: v.array(
      v.strictObject({
        min_input_tokens: v.number(),
        credits_per_million_input: rate,
        credits_per_million_cached_input: rate,
        credits_per_million_output: rate,
      }),
    ),
    ...unitRateEntries,
  }),
  v.title('PublicRates'),
);

/** What customers are shown of a price, the markup included. */
export const rates: Entries = { public_rates: publicRatesSchema };
/** What may be told of a credential. */
export const credential: Entries = {
  has_credential: v.boolean(),
  credential_key_id: v.nullable(v.string()),
};

/** What may be told of a client's secrets. */
export const secrets: Entries = {
  has_secret: v.boolean(),
  former_secret_until: v.nullable(v.string()),
};

/** Beside the definition's own members. */
export const recordEntries: Entries = {
  declared: v.boolean(),
  declaration: declarationSchema,
  revision: revisionSchema,
  created_at: v.string(),
  updated_at: v.string(),
};

/** Absent: as it was; null: without it, where that is possible. */
export function updatable(entry: v.GenericSchema): v.GenericSchema {
  if (entry.type !== 'optional') return v.optional(entry);
  const { wrapped } = entry as v.OptionalSchema<v.GenericSchema, undefined>;
  return v.optional(v.nullable(wrapped));
}

const body = { kind: 'json' as const, bytesMax: fixedLimits.body.jsonBytesMax };
export const jsonBody = <S extends v.GenericSchema>(schema: S) => ({ ...body, schema });

export const nameParams = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1), maxCharacters(100)),
});
