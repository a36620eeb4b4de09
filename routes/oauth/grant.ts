// What every grant of the token endpoint is given, and what it makes of it.
import type { OAuthClient } from '../../actors/oauth/client.ts';
import { newPair, pairHashes, type TokenPair } from '../../actors/oauth/pair.ts';
import type { NewGrant } from '../../db/oauth/grant.ts';
import { newAuditId, newId } from '../../runtime/ids.ts';
import type { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';
import { oauthProblem } from './problems.ts';

/** The form of a request for tokens. A field that is empty was not sent (RFC 6749, section 3.2). */
export interface TokenForm {
  grant_type?: string | undefined;
  code?: string | undefined;
  redirect_uri?: string | undefined;
  code_verifier?: string | undefined;
  refresh_token?: string | undefined;
  device_code?: string | undefined;
  scope?: string | undefined;
}

/** What grants use. */
export type GrantServices = Pick<
  Services,
  'sql' | 'sealer' | 'system' | 'bus' | 'mail' | 'access' | 'limits'
>;

export interface TokenRequest {
  form: TokenForm;
  client: OAuthClient;
  services: GrantServices;
  /** The refusal of what is not good, as one failure of the network. */
  failed(problem: Problem): Problem;
}

/** @throws Problem `invalid_request` */
export function requireField(form: TokenForm, name: keyof TokenForm): string {
  const value = form[name];
  if (value !== undefined && value !== '') return value;
  throw oauthProblem('invalid_request', `The parameter ${name} is missing.`);
}

/** A pair that nobody had before, and the authorization that it would belong to. */
export function newGrant(
  { grants, scopes: allowed }: OAuthClient,
  { limits, system }: Pick<Services, 'limits' | 'system'>,
): { pair: TokenPair; grant: NewGrant } {
  const pair = newPair();
  const { accessHash, refreshHash } = pairHashes(pair);
  const mayRefresh = grants.includes('refresh_token');
  const hashes = { accessHash, refreshHash: mayRefresh ? refreshHash : null };
  const authorizationId = newId('auth', system.node);
  const auditId = newAuditId(system.node);
  return { pair, grant: { authorizationId, auditId, pair: hashes, allowed, lives: limits.oauth } };
}
