// The device whose code a person has typed: looked for within the bound of wrong codes, and decided
// about once.
import type { OAuthClient, OAuthScope } from '../../actors/oauth/client.ts';
import { wrongUserCodeRule } from '../../actors/oauth/limits.ts';
import { resolveClient } from '../../actors/oauth/resolve.ts';
import { readUserCode, userCodeDigest } from '../../actors/oauth/user-code.ts';
import { audited } from '../../db/audit-events.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { type AskingDevice, decideDevice, findDevice } from '../../db/oauth.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services, UserCaller } from '../services.ts';
import { approvalOf, type Decision, decisionEvent } from './approval.ts';

export interface FoundDevice {
  device: AskingDevice;
  client: OAuthClient;
  /** What it asks for of what its client may be given at this moment. */
  scopes: OAuthScope[];
  digest: string;
}

/**
 * The device that waits with this code.
 * @throws Problem invalid_request, rate_limited
 */
export async function requireDevice(
  services: Pick<Services, 'access' | 'catalog' | 'sealer' | 'sql'>,
  typed: string,
  accountId: string,
): Promise<FoundDevice> {
  const { failures } = services.access;
  const refusal = failures.peek(wrongUserCodeRule, accountId, Date.now());
  if (refusal !== null) {
    throw new Problem('rate_limited', {
      message: 'Too many wrong codes. Wait a few minutes.',
      headers: { 'retry-after': `${refusal.retryAfterSeconds}` },
    });
  }
  const code = readUserCode(typed);
  const digest = code === null ? null : userCodeDigest(services.sealer, code);
  const device = digest === null ? null : await withDeadline(findDevice(services.sql, digest));
  if (digest === null || device === null) {
    failures.take(wrongUserCodeRule, accountId, Date.now());
    throw unknownCode();
  }
  const client = device.status === 'pending' ? await resolveClient(services, device.client) : null;
  const scopes = client?.scopes.filter((scope) => device.scopes.includes(scope)) ?? [];
  if (client === null || scopes.length === 0) throw unknownCode();
  return { device, client, scopes, digest };
}

/** @throws Problem invalid_request: somebody was quicker, or its time is over */
export async function decideFound(
  { sql, system }: Pick<Services, 'sql' | 'system'>,
  { device, scopes, digest }: FoundDevice,
  decision: Decision,
  caller: UserCaller,
): Promise<void> {
  const approval = approvalOf(caller, device.client, scopes);
  const decided = audited(sql, async (transaction) => {
    const allowed = decision === 'approve' ? approval : null;
    const result = await decideDevice(transaction, digest, allowed);
    const event = decisionEvent(system.node, approval, decision, 'device');
    return { result, event: result === 'decided' ? event : null };
  });
  if ((await withDeadline(decided)) === 'gone') throw unknownCode();
}

function unknownCode(): Problem {
  const message = 'No device waits with this code. It may have expired.';
  return new Problem('invalid_request', { message, param: 'user_code' });
}
