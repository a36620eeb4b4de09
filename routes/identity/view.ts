// A person and a session as they are told to the person (identity.md, section 2).
import * as v from 'valibot';
import { sessionEndMs } from '../../actors/identity/lifetime.ts';
import type { Person } from '../../db/accounts/person.ts';
import type { ListedSession } from '../../db/sessions.ts';
import type { SignedIn } from '../services.ts';

export const userSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    email: v.nullable(v.string()),
    email_verified: v.boolean(),
    full_name: v.nullable(v.string()),
    role: v.picklist(['user', 'admin']),
    status: v.picklist(['unverified', 'active', 'disabled', 'deleting']),
    has_password: v.boolean(),
    referral_code: v.string(),
    created_at: v.string(),
  }),
  v.title('User'),
);

export function userBody(person: Person): v.InferOutput<typeof userSchema> {
  return {
    id: person.id,
    email: person.email,
    email_verified: person.emailVerifiedAt !== null,
    full_name: person.fullName,
    role: person.role,
    status: person.status === 'erased' ? 'deleting' : person.status,
    has_password: person.hasPassword,
    referral_code: person.referralCode,
    created_at: person.createdAt.toISOString(),
  };
}

export const sessionEntries = {
  id: v.string(),
  kind: v.picklist(['browser', 'app', 'oauth']),
  method: v.picklist(['otp', 'password', 'command']),
  created_at: v.string(),
  authenticated_at: v.string(),
  last_used_at: v.string(),
  expires_at: v.string(),
  client_id: v.optional(v.string()),
  scopes: v.optional(v.array(v.string())),
};
export const sessionSchema = v.pipe(v.strictObject(sessionEntries), v.title('Session'));
type SessionBody = v.InferOutput<typeof sessionSchema>;

const timeText = (ms: number) => new Date(ms).toISOString();

export function sessionBody(signedIn: Omit<SignedIn, 'by'>): SessionBody {
  const { id, kind, method, client } = signedIn;
  return {
    id,
    kind,
    method,
    created_at: timeText(signedIn.createdAtMs),
    authenticated_at: timeText(signedIn.authenticatedAtMs),
    last_used_at: timeText(signedIn.lastUsedAtMs),
    expires_at: timeText(signedIn.expiresAtMs),
    ...(client === null ? {} : { client_id: client.id, scopes: [...client.scopes] }),
  };
}

/** A session among others of its account. */
export const listedSessionEntries = {
  ...sessionEntries,
  user_agent: v.nullable(v.string()),
  network: v.nullable(v.pipe(v.string(), v.description('A /24, or a /48 of IPv6.'))),
};

/** As it is listed; null: it has not been used for too long, and is over. */
export function listedSessionBody(session: ListedSession) {
  const expiresAtMs = sessionEndMs(session, session.role);
  if (expiresAtMs <= Date.now()) return null;
  return {
    ...sessionBody({
      id: session.id,
      kind: session.kind ?? 'app',
      method: session.method,
      createdAtMs: session.createdAt.getTime(),
      authenticatedAtMs: session.authenticatedAt.getTime(),
      lastUsedAtMs: session.lastUsedAt.getTime(),
      expiresAtMs,
      client: null,
    }),
    user_agent: session.userAgent,
    network: session.network,
  };
}
