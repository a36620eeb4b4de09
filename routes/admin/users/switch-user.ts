// POST /api/admin/users/{account_id}/disable and /enable. A disabled account's keys and sessions
// work on no shard any more when this is answered; its voice sessions are ended, all is settled.
import { type AppRoute, defineRoute } from '../../define.ts';
import { expectedRevision, revisionAdvice, revisionBody, revisionHeader } from '../revision.ts';
import { applyAccountChange } from './change.ts';
import { accountParams, userReply } from './schema.ts';

export const disableUser = switchRoute('disable', true, 'Disable an account');
export const enableUser = switchRoute('enable', false, 'Enable an account again');

function switchRoute(verb: 'disable' | 'enable', disabled: boolean, summary: string): AppRoute {
  return defineRoute({
    method: 'POST',
    path: `/api/admin/users/{account_id}/${verb}`,
    operationId: `${verb}User`,
    summary,
    description:
      'Keys and sessions of a disabled account are refused; enabled again, they work again. Its ' +
      'voice sessions are ended; what else runs ends by itself, and all of it is settled. Doing ' +
      `it twice changes nothing. ${revisionAdvice}`,
    tag: 'Administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    headers: revisionHeader,
    params: accountParams,
    body: revisionBody,
    replies: userReply,
    problems: ['not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
    handle({ params, body, caller, services, exchange }) {
      const actor = caller.accountId;
      return applyAccountChange(services, actor, () => `account.${verb}`, {
        accountId: params.account_id,
        revision: expectedRevision(exchange, body),
        disabled,
      });
    },
  });
}
