// POST /oauth/authorize/decision: what the person decides on the approval page. The page goes where
// the answer leads: Chromium applies `form-action` to every redirect behind a form.
import * as v from 'valibot';
import { approvalLimits } from '../../actors/oauth/limits.ts';
import { isRegistered } from '../../actors/oauth/redirect.ts';
import type { Asked } from '../../actors/oauth/request.ts';
import { resolveClient } from '../../actors/oauth/resolve.ts';
import { type OpenedRequest, openRequest } from '../../actors/oauth/sealed-request.ts';
import { audited } from '../../db/audit-events.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { takeDecision } from '../../db/oauth/decisions.ts';
import { remember } from '../../db/oauth.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { requireVerified } from '../identity/sign-in.ts';
import type { Services, UserCaller } from '../services.ts';
import { type Answer, answerUrl } from './answer.ts';
import { approvalOf, type Decision, decisionEvent, decisionSchema, newCode } from './approval.ts';

export const decideAuthorization = defineRoute({
  method: 'POST',
  path: '/oauth/authorize/decision',
  operationId: 'decideAuthorization',
  summary: 'Decide what an app asked for on the approval page',
  description:
    '`request` is what the page was given: it is good for ten minutes, for this session alone, ' +
    'and once. `decision` is `approve` or `deny`; the app is told either at `redirect_to`.',
  tag: 'OAuth',
  documents: ['account'],
  access: { kind: 'cookie' },
  cors: 'none',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject({
      request: v.pipe(v.string(), v.minLength(1), v.maxLength(approvalLimits.requestCharactersMax)),
      decision: decisionSchema,
    }),
  },
  replies: {
    200: {
      description: 'It is decided: the page goes to `redirect_to`.',
      schema: v.strictObject({ ok: v.literal(true), redirect_to: v.string() }),
    },
  },
  problems: ['forbidden', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    requireVerified(caller);
    const reader = { accountId: caller.accountId, sessionId: caller.signedIn.id };
    const opened = openRequest(services.sealer, body.request, reader, Date.now());
    if (opened === null || !(await mayStillAsk(services, opened.asked))) throw overProblem();
    const { redirectUri, state } = opened.asked;
    const result = await decide(services, opened, body.decision, caller);
    if (result === null) throw overProblem();
    const url = answerUrl({ redirectUri, state, result }, services.config.baseUrl);
    const headers = { 'cache-control': 'no-store' };
    return { status: 200, headers, json: { ok: true, redirect_to: url } };
  },
});

/** Whether the client is still what it was when the page was shown. */
async function mayStillAsk(services: Pick<Services, 'catalog'>, asked: Asked): Promise<boolean> {
  const client = await resolveClient(services, asked.clientId);
  return (
    client?.grants.includes('authorization_code') === true &&
    isRegistered(client.redirectUris, asked.redirectUri) &&
    asked.scopes.every((scope) => client.scopes.includes(scope))
  );
}

/** Null: it was decided before, or the session has ended meanwhile. */
async function decide(
  { sql, limits, system }: Pick<Services, 'sql' | 'limits' | 'system'>,
  { id, expiresAtMs, asked }: OpenedRequest,
  decision: Decision,
  caller: UserCaller,
): Promise<Answer['result'] | null> {
  const approval = approvalOf(caller, asked.clientId, asked.scopes);
  const decided = audited<Answer['result'] | null>(sql, async (transaction) => {
    const isFirst = await takeDecision(transaction, id, new Date(expiresAtMs));
    if (!isFirst) return { result: null, event: null };
    const event = decisionEvent(system.node, approval, decision, 'page');
    if (decision === 'deny') {
      const description = 'The person said no.';
      return { result: { error: 'access_denied', description }, event };
    }
    const code = await newCode(transaction, asked, approval, limits.oauth);
    if (code === null) return { result: null, event: null };
    await remember(transaction, approval.accountId, approval.client, approval.scopes);
    return { result: { code }, event };
  });
  return withDeadline(decided);
}

/** One text for all: whoever sends what is not its own learns nothing of it. */
function overProblem(): Problem {
  const message = 'This request is over, or was made for another sign-in. Begin again in the app.';
  return new Problem('invalid_request', { message });
}
