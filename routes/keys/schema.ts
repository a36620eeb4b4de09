// The public form of an API key (decisions.md, section 8). The token itself is in no list.
import * as v from 'valibot';
import { scopes } from '../../actors/credentials/scope.ts';
import type { ApiKey } from '../../db/keys.ts';
import { lineOfText } from '../../runtime/http/text.ts';

export const apiKeySchema = v.strictObject({
  id: v.string(),
  label: v.string(),
  environment: v.picklist(['live', 'test']),
  scopes: v.array(v.picklist(scopes)),
  prefix: v.string(),
  status: v.picklist(['active', 'revoked']),
  created_at: v.string(),
  last_used_at: v.nullable(v.string()),
  requests_per_minute: v.pipe(v.number(), v.integer()),
  concurrency_max: v.pipe(v.number(), v.integer()),
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
};

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
    requests_per_minute: row.requestsPerMinute,
    concurrency_max: row.concurrencyMax,
  };
}
