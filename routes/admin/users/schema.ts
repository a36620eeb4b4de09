// An account as administrators see it, and what each change of one is answered with.
import * as v from 'valibot';
import { type Account, type AccountChange, changeAccount } from '../../../db/accounts.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { type CredentialChange, credentialTopic } from '../../credentials.ts';
import type { Services } from '../../services.ts';
import { recordHeaders, revisionSchema, staleProblem } from '../revision.ts';

export const accountParams = v.strictObject({
  account_id: lineOfText(100),
});

const userSchema = v.pipe(
  v.strictObject({
    account_id: v.string(),
    role: v.picklist(['user', 'admin']),
    label: v.nullable(v.string()),
    status: v.picklist(['active', 'disabled']),
    wallet_id: v.nullable(v.string()),
    created_at: v.string(),
    updated_at: v.string(),
    disabled_at: v.nullable(v.string()),
    revision: revisionSchema,
  }),
  v.title('AdminUser'),
);

/** Whom an account is for, such as a customer's name; null: none. */
export const accountLabel = v.nullable(lineOfText(100));

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
    status: account.disabledAt === null ? 'active' : 'disabled',
    wallet_id: account.walletId,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    disabled_at: account.disabledAt?.toISOString() ?? null,
    revision: account.revision,
  };
}

export function userAnswer(account: Account, status = 200): Reply {
  const headers = recordHeaders(account.revision);
  return { status, headers, json: { ok: true, user: userBody(account) } };
}

/**
 * Makes the change; every shard has forgotten what the account was allowed before this returns.
 * @throws Problem not_found, conflict, invalid_state
 */
export async function applyAccountChange(
  services: Pick<Services, 'sql' | 'system' | 'bus'>,
  actor: string,
  actionOf: (before: Account, after: Account) => string,
  change: AccountChange,
): Promise<Reply> {
  const changed = await withDeadline(
    changeAccount(services.sql, change, (before, after) => ({
      id: newAuditId(services.system.node),
      accountId: after.id,
      actor,
      action: actionOf(before, after),
      subject: `account:${after.id}`,
      details: { before: standing(before), after: standing(after) },
    })),
  );
  switch (changed.status) {
    case 'not_found':
      throw new Problem('not_found', { param: 'account_id' });
    case 'stale':
      throw staleProblem(changed.revision);
    case 'last_admin':
      throw new Problem('invalid_state', { message: 'The last administrator must stay one.' });
    case 'changed':
    // It may have been changed by a call whose answer was lost, and then nobody was told.
    case 'unchanged': {
      const { id, disabledAt } = changed.account;
      const told: CredentialChange = { accountId: id, isDisabled: disabledAt !== null };
      await services.bus.publish(credentialTopic, told);
      return userAnswer(changed.account);
    }
  }
}

function standing(account: Account): Record<string, unknown> {
  const { role, label, disabledAt, revision } = account;
  return { role, label, status: disabledAt === null ? 'active' : 'disabled', revision };
}
