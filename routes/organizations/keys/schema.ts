// A key of an organization's context: as its owner sees it, and whose it is.
import * as v from 'valibot';
import type { ApiKey } from '../../../db/keys.ts';
import type { ContextKey } from '../../../db/organizations/keys.ts';
import { Problem } from '../../../runtime/problem.ts';
import { apiKeyBody, apiKeySchema } from '../../keys/schema.ts';

export const contextKeySchema = v.pipe(
  v.strictObject({
    ...apiKeySchema.entries,
    user_id: v.pipe(
      v.nullable(v.string()),
      v.description('The member whose it is; null: the organization.'),
    ),
  }),
  v.title('OrganizationApiKey'),
);

export const contextKeyReply = v.strictObject({ ok: v.literal(true), api_key: contextKeySchema });

export const createdContextKey = v.strictObject({
  ok: v.literal(true),
  raw_token: v.string(),
  api_key: contextKeySchema,
});

export function contextKeyBody(row: ApiKey, { userId }: Pick<ContextKey, 'userId'>) {
  return { ...apiKeyBody(row), user_id: userId };
}

export const noKey = () => new Problem('not_found', { param: 'api_key_id' });

/** A member's key may be revoked, and is the member's to change. @throws Problem forbidden */
export function requireOwn({ userId }: ContextKey): void {
  if (userId === null) return;
  throw new Problem('forbidden', {
    message: 'It is the key of a member: it may be revoked, and nothing else.',
    details: { reason: 'members_key' },
  });
}
