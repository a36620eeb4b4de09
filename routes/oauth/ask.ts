// What a person who may be signed in is asked for an app, where it is asked at all.
import type { OAuthClient } from '../../actors/oauth/client.ts';
import { redirectKindOf, shownRedirect } from '../../actors/oauth/redirect.ts';
import {
  type Asked,
  needsNewSignIn,
  type Parameters,
  type Prompt,
  queryAfterSignIn,
  type Refusal,
} from '../../actors/oauth/request.ts';
import { sealRequest } from '../../actors/oauth/sealed-request.ts';
import { findPerson } from '../../db/accounts/person.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { findRemembered } from '../../db/oauth.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { renderApproval } from '../pages/identity/approval.ts';
import type { AnonymousCaller, Services, UserCaller } from '../services.ts';
import { answerUrl, seeOther, signInPath } from './answer.ts';
import { approvalOf, newCode } from './approval.ts';
import { clientBody } from './client-body.ts';

export type AskServices = Pick<Services, 'config' | 'limits' | 'sealer' | 'sql'>;

/** One request of one app. */
export interface Asking {
  client: OAuthClient;
  asked: Asked;
  prompt: Prompt;
  parameters: Parameters;
}

/** The page, or an answer to the app without it, or the way to sign in first. */
export async function ask(
  services: AskServices,
  asking: Asking,
  caller: UserCaller | AnonymousCaller,
): Promise<Reply> {
  const { asked, prompt, parameters } = asking;
  const answer = (result: { code: string } | Refusal) =>
    seeOther(answerUrl({ ...asked, result }, services.config.baseUrl));
  const isSignedIn = caller.kind === 'user';
  if (!isSignedIn || needsNewSignIn(parameters, prompt, caller.signedIn.authenticatedAtMs)) {
    if (!prompt.none) return signInFirst(asking, isSignedIn);
    return answer({ error: 'login_required', description: 'The person must sign in.' });
  }
  if (caller.isUnverified) {
    const description = 'The account has not proved its address.';
    return answer({ error: 'access_denied', description });
  }
  if (await isRemembered(services, asking, caller)) {
    const approval = approvalOf(caller, asked.clientId, asked.scopes);
    const issuing = newCode(services.sql, asked, approval, services.limits.oauth);
    const code = await withDeadline(issuing);
    if (code !== null) return answer({ code });
    if (!prompt.none) return signInFirst(asking, true);
    return answer({ error: 'login_required', description: 'The person must sign in.' });
  }
  if (!prompt.none) return page(services, asking, caller);
  return answer({ error: 'interaction_required', description: 'The person must decide.' });
}

/** The same request comes back when the person has signed in. */
function signInFirst({ parameters, prompt }: Asking, again: boolean): Reply {
  const query = queryAfterSignIn(parameters, prompt, Date.now());
  return seeOther(signInPath(`/oauth/authorize?${query}`, { again }));
}

/**
 * Nobody but its owner answers at an `https` address. A loopback port or a scheme may be anybody's
 * (RFC 8252, 8.6), so a person clicks each time.
 */
async function isRemembered(
  { sql }: AskServices,
  { asked, prompt }: Asking,
  { accountId }: UserCaller,
): Promise<boolean> {
  if (prompt.consent || redirectKindOf(asked.redirectUri) !== 'https') return false;
  const approved = await withDeadline(findRemembered(sql, accountId, asked.clientId));
  return approved !== null && asked.scopes.every((scope) => approved.includes(scope));
}

async function page(
  { sealer, sql }: AskServices,
  { client, asked }: Asking,
  { accountId, signedIn }: UserCaller,
): Promise<Reply> {
  const person = await withDeadline(findPerson(sql, accountId));
  const { email = null, fullName = null } = person ?? {};
  const reader = { accountId, sessionId: signedIn.id };
  return renderApproval({
    request: sealRequest(sealer, asked, reader, Date.now()),
    client: clientBody(client),
    scopes: [...asked.scopes],
    account: { email, full_name: fullName, id: accountId },
    redirect: shownRedirect(asked.redirectUri),
  });
}
