// An authorization request (RFC 6749, 4.1.1; RFC 7636; RFC 8707). Whom it is from and where the
// answer goes is read first. Everything else is read with an address to answer to.
import type { OAuthClient, OAuthScope } from './client.ts';
import { approvalLimits } from './limits.ts';
import { isChallenge } from './pkce.ts';
import { isRegistered, redirectBytesMax } from './redirect.ts';
import { grantableScopes } from './scopes.ts';

/** A query as it was sent: what was repeated is a list. */
export type Parameters = Readonly<Record<string, string | readonly string[]>>;

export type AuthorizationError =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'login_required'
  | 'interaction_required'
  | 'request_not_supported'
  | 'request_uri_not_supported';

/** An error that the app is told, by a redirect. */
export interface Refusal {
  error: AuthorizationError;
  description: string;
}

/** What the person is asked for the app. */
export interface Asked {
  clientId: string;
  redirectUri: string;
  /** It is given back as it came; null: there was none. */
  state: string | null;
  challenge: string;
  scopes: readonly OAuthScope[];
}

export interface Prompt {
  /** No page may be shown. */
  none: boolean;
  /** The person signs in again. */
  login: boolean;
  /** The person is asked again, whatever it approved before. */
  consent: boolean;
}

const { stateCharactersMax, hintCharactersMax, clientIdCharactersMax } = approvalLimits;

/** The one value of a parameter. An empty one is none (RFC 6749, 3.1), and a repeated one too. */
function single(parameters: Parameters, name: string): string | null {
  const value = parameters[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The client that the request names; null: none that anybody has. */
export function readClientId(parameters: Parameters): string | null {
  const clientId = single(parameters, 'client_id');
  return clientId === null || clientId.length > clientIdCharactersMax ? null : clientId;
}

/** Where the client lets its answers be sent; null: the request names no such place. */
export function readRedirect(
  parameters: Parameters,
  { redirectUris }: Pick<OAuthClient, 'redirectUris'>,
): string | null {
  const uri = single(parameters, 'redirect_uri');
  if (uri === null || uri.length > redirectBytesMax) return null;
  return isRegistered(redirectUris, uri) ? uri : null;
}

/** What goes back with every answer, errors too; of two nobody knows which one. */
export function readState(parameters: Parameters): string | null {
  const state = single(parameters, 'state');
  return state === null || state.length > stateCharactersMax ? null : state;
}

/** Reads what is left of a request whose client and redirect are known. */
export function readRequest(
  parameters: Parameters,
  client: OAuthClient,
  redirectUri: string,
  baseUrl: string,
): { ok: true; asked: Asked; prompt: Prompt } | ({ ok: false } & Refusal) {
  const fault = faultOf(parameters, client, baseUrl);
  if (fault !== null) return { ok: false, ...fault };
  const scopes = grantableScopes(single(parameters, 'scope') ?? undefined, client);
  if (scopes === null) return refused('invalid_scope', 'None of the scopes can be given.');
  const prompt = readPrompt(parameters);
  if (prompt === null) return refused('invalid_request', 'The prompt none stands alone.');
  const state = readState(parameters);
  const challenge = single(parameters, 'code_challenge') ?? '';
  return {
    ok: true,
    asked: { clientId: client.id, redirectUri, state, challenge, scopes },
    prompt,
  };
}

function refused(error: AuthorizationError, description: string) {
  return { ok: false, error, description } as const;
}

function faultOf(parameters: Parameters, client: OAuthClient, baseUrl: string): Refusal | null {
  const repeated = Object.keys(parameters).find((name) => typeof parameters[name] !== 'string');
  // Its name is not told: a description has few characters, and a name may have all.
  if (repeated !== undefined) return invalid('A parameter is repeated.');
  const { state, login_hint: hint } = parameters;
  if (isLonger(state, stateCharactersMax)) return invalid('The state is too long.');
  if (isLonger(hint, hintCharactersMax)) return invalid('The login_hint is too long.');
  if (single(parameters, 'request') !== null) {
    return { error: 'request_not_supported', description: 'Request objects are not understood.' };
  }
  if (single(parameters, 'request_uri') !== null) {
    const description = 'Request objects are not fetched.';
    return { error: 'request_uri_not_supported', description };
  }
  const responseType = single(parameters, 'response_type');
  if (responseType === null) return invalid('The response_type is missing.');
  if (responseType !== 'code') {
    return { error: 'unsupported_response_type', description: 'The response_type is code.' };
  }
  if (!client.grants.includes('authorization_code')) {
    const description = 'The client has no grant for codes.';
    return { error: 'unauthorized_client', description };
  }
  if ((single(parameters, 'response_mode') ?? 'query') !== 'query') {
    return invalid('The response_mode is query.');
  }
  const resource = single(parameters, 'resource');
  if (resource !== null && !isBelow(resource, baseUrl)) {
    return { error: 'invalid_target', description: 'The resource is the base URL or below it.' };
  }
  return challengeFault(parameters);
}

/** RFC 9700, 2.1.1: every client, and `plain` (the default of RFC 7636) is none. */
function challengeFault(parameters: Parameters): Refusal | null {
  const challenge = single(parameters, 'code_challenge');
  if (challenge === null) return invalid('The code_challenge is missing.');
  if (single(parameters, 'code_challenge_method') !== 'S256') {
    return invalid('The code_challenge_method is S256.');
  }
  return isChallenge(challenge) ? null : invalid('The code_challenge is not one of S256.');
}

function invalid(description: string): Refusal {
  return { error: 'invalid_request', description };
}

function isLonger(value: string | readonly string[] | undefined, charactersMax: number): boolean {
  return typeof value === 'string' && value.length > charactersMax;
}

/** Values that nobody here knows mean nothing; null: `none` stands beside another one. */
function readPrompt(parameters: Parameters): Prompt | null {
  const words = (single(parameters, 'prompt') ?? '').split(' ').filter((word) => word !== '');
  const none = words.includes('none');
  if (none && words.length > 1) return null;
  return { none, login: words.includes('login'), consent: words.includes('consent') };
}

/** RFC 8707, 2: an absolute URI without a fragment, which is this service or a part of it. */
function isBelow(resource: string, baseUrl: string): boolean {
  if (resource.includes('#') || !URL.canParse(resource)) return false;
  const { origin, pathname, username, password } = new URL(resource);
  const base = new URL(baseUrl);
  if (origin !== base.origin || username !== '' || password !== '') return false;
  const path = base.pathname.replace(/\/$/, '');
  return pathname === path || pathname.startsWith(`${path}/`);
}

/** The moment after which the person has to have signed in, where a request asked for that. */
const signedInAfter = 'signed_in_after';

/**
 * The request as it comes back after the person has signed in. What asks for a new sign-in is in it
 * no more: the moment stands there instead, which this sign-in comes after.
 */
export function queryAfterSignIn(parameters: Parameters, { login }: Prompt, nowMs: number): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (name === signedInAfter || (login && name === 'prompt')) continue;
    for (const each of [value].flat()) fields.append(name, each);
  }
  if (!login) return fields.toString();
  const others = (single(parameters, 'prompt') ?? '').split(' ').filter((word) => word !== 'login');
  if (others.length > 0) fields.set('prompt', others.join(' '));
  fields.set(signedInAfter, `${Math.floor(nowMs / 1_000)}`);
  return fields.toString();
}

/** The database's clock and ours may differ by this. */
const clocksDifferMs = 5_000;

/** Whether the person has to sign in again before it is asked. */
export function needsNewSignIn(
  parameters: Parameters,
  { login }: Prompt,
  authenticatedAtMs: number,
): boolean {
  if (login) return true;
  const after = single(parameters, signedInAfter) ?? '';
  return /^\d{1,12}$/.test(after) && authenticatedAtMs + clocksDifferMs < Number(after) * 1_000;
}

/** What an answer to the app has besides its code or error (RFC 6749, 4.1.2; RFC 9207). */
export function answerMembers(
  result: { code: string } | Refusal,
  state: string | null,
  issuer: string,
): Record<string, string> {
  const told: Record<string, string> =
    'code' in result
      ? { code: result.code }
      : { error: result.error, error_description: result.description };
  return { ...told, ...(state === null ? {} : { state }), iss: issuer };
}
