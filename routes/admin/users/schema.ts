// An account as administrators see it.
import * as v from 'valibot';
import { parseAddress } from '../../../actors/identity/address.ts';
import type { AccountStatus } from '../../../db/accounts/person.ts';
import type { Account } from '../../../db/accounts.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { Problem } from '../../../runtime/problem.ts';
import { recordHeaders, revisionSchema } from '../revision.ts';

export const accountParams = v.strictObject({
  account_id: lineOfText(100),
});

export const accountStatuses = [
  'unverified',
  'active',
  'disabled',
  'deleting',
  'erased',
] as const satisfies readonly AccountStatus[];

const userSchema = v.pipe(
  v.strictObject({
    account_id: v.string(),
    role: v.picklist(['user', 'admin']),
    label: v.nullable(v.string()),
    email: v.nullable(v.string()),
    email_verified: v.boolean(),
    full_name: v.nullable(v.string()),
    status: v.picklist(accountStatuses),
    wallet_id: v.nullable(v.string()),
    created_at: v.string(),
    updated_at: v.string(),
    disabled_at: v.nullable(v.string()),
    deleting_at: v.nullable(v.string()),
    revision: revisionSchema,
  }),
  v.title('AdminUser'),
);

/** Whom an account is for, such as a customer's name; null: none. */
export const accountLabel = v.nullable(lineOfText(100));

export const addressText = v.pipe(v.string(), v.minLength(3), v.maxLength(254));
export const fullName = v.nullable(lineOfText(120));

export const userListItem = userSchema;

export const userReply = {
  200: {
    description: 'The account.',
    schema: v.strictObject({ ok: v.literal(true), user: userSchema }),
    headers: { etag: 'Its revision.' },
  },
};

export function userBody(account: Account): v.InferOutput<typeof userSchema> {
  return {
    account_id: account.id,
    role: account.role,
    label: account.label,
    email: account.email,
    email_verified: account.emailVerifiedAt !== null,
    full_name: account.fullName,
    status: account.status,
    wallet_id: account.walletId,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    disabled_at: account.disabledAt?.toISOString() ?? null,
    deleting_at: account.deletingAt?.toISOString() ?? null,
    revision: account.revision,
  };
}

export function userAnswer(account: Account, status = 200): Reply {
  const headers = recordHeaders(account.revision);
  return { status, headers, json: { ok: true, user: userBody(account) } };
}

/** @throws Problem invalid_request for what is no address */
export function readAddress(text: string): string {
  const address = parseAddress(text);
  if (address === null) throw fieldProblem('email', 'This is no address of mail.');
  return address;
}

export function addressTaken(): Problem {
  return new Problem('conflict', {
    message: 'The address belongs to another account.',
    param: 'email',
  });
}
