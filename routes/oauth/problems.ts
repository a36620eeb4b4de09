// Refusals of the OAuth server by the names that apps know (RFC 6749, section 5.2).
import { networkOf } from '../../runtime/http/address.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

/** RFC 6749, section 5.2, and RFC 8628, section 3.5. */
export type OAuthError =
  | 'invalid_request'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token';

export function oauthProblem(error: OAuthError, message: string): Problem {
  return new Problem('invalid_request', { message, details: { error } });
}

/** Nobody is told whether the client is unknown, disabled, or has another secret. */
export function invalidClient(): Problem {
  return new Problem('unauthenticated', {
    message: 'The client is unknown, or has not shown that it is the one it names.',
    details: { error: 'invalid_client' },
    headers: { 'www-authenticate': 'Basic realm="oauth", charset="UTF-8"' },
  });
}

/** The refusal of whoever fails, or of a network that failed too often. */
export function failed(
  problem: Problem,
  { clientAddress }: Pick<Exchange, 'clientAddress'>,
  { access, limits }: Pick<Services, 'access' | 'limits'>,
): Problem {
  const network = networkOf(clientAddress);
  const refusal = access.failures.take(limits.oauth.failures, network, Date.now());
  return refusal === null ? problem : tooOften(refusal.retryAfterSeconds);
}

export function tooOften(retryAfterSeconds: number): Problem {
  return new Problem('rate_limited', {
    message: 'Too many requests of this kind in a minute.',
    headers: { 'retry-after': `${retryAfterSeconds}` },
  });
}
