// The grant of devices (RFC 8628, section 3.4): they ask until somebody has decided.
import { isToken, tokenHash } from '../../actors/credentials/token.ts';
import { answerPoll, type PollAnswer } from '../../actors/oauth/device-poll.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { pollDevice, redeemDevice } from '../../db/oauth/devices.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { newGrant, requireField, type TokenRequest } from './grant.ts';
import { oauthProblem } from './problems.ts';
import { tokenReply } from './reply.ts';

const words: Record<Exclude<PollAnswer, 'redeem'>, string> = {
  authorization_pending: 'Nobody has decided yet.',
  slow_down: 'The device asks too often. It waits 5 seconds longer from now on.',
  access_denied: 'The person has refused.',
  expired_token: 'The device code has expired.',
  invalid_grant: 'The device code is unknown, used, or of another client.',
};

export async function redeemDeviceGrant(request: TokenRequest): Promise<Reply> {
  const { form, client, services, failed } = request;
  const { sql, limits } = services;
  const code = requireField(form, 'device_code');
  const refusal = (answer: keyof typeof words) => oauthProblem(answer, words[answer]);
  if (!isToken('deviceCode', code)) throw failed(refusal('invalid_grant'));
  const hash = tokenHash(code);
  const { deviceSlowDownSeconds } = limits.oauth;
  const polled = await withDeadline(pollDevice(sql, hash, client.id, deviceSlowDownSeconds));
  const answer = answerPoll(polled);
  // Who waits as it was told has not failed.
  if (answer === 'authorization_pending') throw refusal(answer);
  if (answer !== 'redeem') throw failed(refusal(answer));
  const { pair, grant } = newGrant(client, services);
  const granted = await withDeadline(redeemDevice(sql, hash, client.id, grant));
  if (granted === null) throw failed(refusal('invalid_grant'));
  return tokenReply(pair, granted);
}
