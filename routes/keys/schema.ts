// The public form of an API key (decisions.md, section 8; customer.md, section 2). The token itself
// is in no list.
import * as v from 'valibot';
import { scopes } from '../../actors/credentials/scope.ts';
import type { ApiKey } from '../../db/keys.ts';
import { lineOfText } from '../../runtime/http/text.ts';
import { spendLimitSchema, termEntries } from './terms.ts';

const digits = v.pipe(v.string(), v.regex(/^\d+$/));

/** What is counted against the limit. */
export const spentSchema = v.strictObject({
  microcredits: v.pipe(v.number(), v.integer()),
  exact: digits,
  resets_at: v.nullable(v.string()),
});

export const apiKeySchema = v.strictObject({
  id: v.string(),
  label: v.string(),
  environment: v.picklist(['live', 'test']),
  scopes: v.array(v.picklist(scopes)),
  prefix: v.string(),
  status: v.pipe(
    v.picklist(['active', 'disabled', 'expired', 'revoked']),
    v.description('`disabled` by its owner, who may enable it again; `revoked` for good.'),
  ),
  created_at: v.string(),
  last_used_at: v.nullable(v.string()),
  expires_at: v.nullable(v.string()),
  requests_per_minute: v.pipe(v.number(), v.integer()),
  concurrency_max: v.pipe(v.number(), v.integer()),
  allowed_models: v.nullable(v.array(v.string())),
  spend_limit: v.nullable(spendLimitSchema),
  spent: v.pipe(
    v.nullable(spentSchema),
    v.description('What was charged in this period. Null without a limit.'),
  ),
});

/** Of a key that names none (decisions.md, section 3). */
export const defaultScopes = ['models:read', 'models:generate', 'billing:read'] as const;

/** The same as documents say it. */
export const defaultScopesText = defaultScopes.map((scope) => `\`${scope}\``).join(', ');

/** What a new key is given. */
export const newKeyEntries = {
  label: lineOfText(100),
  environment: v.optional(v.picklist(['live', 'test']), 'live'),
  scopes: v.optional(
    v.pipe(v.array(v.picklist(scopes)), v.minLength(1), v.maxLength(scopes.length)),
  ),
  ...termEntries,
};

/** What may be changed of one. */
export const changedKeyEntries = {
  label: v.optional(lineOfText(100)),
  disabled: v.optional(v.boolean()),
  ...termEntries,
};

export const keyIdEntry = { api_key_id: lineOfText(100) };

const graceSecondsMax = 604_800;

/** What another token takes: for how long the former one works on. */
export const rotateEntries = {
  ...keyIdEntry,
  grace_seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(graceSecondsMax)),
    0,
  ),
};

export const keyReplySchema = v.strictObject({ ok: v.literal(true), api_key: apiKeySchema });

export const createdKeySchema = v.strictObject({
  ok: v.literal(true),
  raw_token: v.string(),
  api_key: apiKeySchema,
});

export function apiKeyBody(row: ApiKey): Record<string, unknown> {
  return {
    id: row.id,
    label: row.label,
    environment: row.environment,
    scopes: row.scopes,
    prefix: row.prefix,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
    requests_per_minute: row.requestsPerMinute,
    concurrency_max: row.concurrencyMax,
    allowed_models: row.allowedModels,
    ...spendingBody(row),
  };
}

/** The limit of a key, and what counts against it. */
export function spendingBody({ spendLimit, spent }: Pick<ApiKey, 'spendLimit' | 'spent'>) {
  return {
    spend_limit: spendLimit && {
      amount_microcredits: Number(spendLimit.amountMicros),
      period: spendLimit.period,
    },
    spent: spent && {
      microcredits: Number(spent.spentMicros),
      exact: spent.spentMicros.toString(),
      resets_at: spent.resetsAtMs === null ? null : new Date(spent.resetsAtMs).toISOString(),
    },
  };
}
