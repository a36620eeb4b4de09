// The members of two kinds of records: OAuth clients, and the settings of identity, of which there
// is one.
import * as v from 'valibot';
import { lineOfText } from '../../runtime/http/text.ts';
import { displayName, grants, redirectUris, scopes } from '../oauth/members.ts';

const graceSecondsMax = 60;

/** Beside its name, which is the client id. */
export const oauthClientEntries = {
  display_name: displayName,
  /** A confidential one has a secret, which is made by a route of its own. */
  type: v.picklist(['public', 'confidential']),
  /** Where answers may be sent. A loopback address stands for each of its ports. */
  redirect_uris: v.optional(redirectUris, []),
  grants,
  /** The most that it may be let do. */
  scopes,
  /** For so long a refresh token that was used gives the same pair again. */
  refresh_grace_seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(graceSecondsMax)),
    10,
  ),
  /** One of the service's own programs; people are told so. */
  first_party: v.optional(v.boolean(), false),
  /** A disabled client begins nothing, and what it was let do rests. */
  enabled: v.optional(v.boolean(), true),
};

const hostsMax = 100;
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

const domain = v.pipe(
  v.string(),
  v.maxLength(253),
  v.regex(
    new RegExp(`^(?:${label}\\.)+${label}$`),
    'expected a domain such as example.com, small letters, ASCII',
  ),
);
const host = v.pipe(
  v.string(),
  v.maxLength(260),
  v.regex(
    new RegExp(`^(?:${label}\\.)*${label}(?::[1-9]\\d{0,4})?$`),
    'expected a host such as apps.example.com, small letters, ASCII',
  ),
);
const httpsUrl = v.pipe(
  v.string(),
  v.maxLength(2_000),
  v.regex(
    /^https:\/\/[A-Za-z0-9.-]+(:\d{1,5})?([/?#][\x21-\x7e]*)?$/,
    'expected an https URL in visible ASCII characters',
  ),
);

export const identityEntries = {
  /**
   * Who may make an account. `invited`: addresses that an administrator made accounts for, and open
   * invitations.
   */
  signup: v.optional(v.picklist(['open', 'closed', 'invited']), 'open'),
  /** Domains of addresses that may sign up; none: all of them. */
  email_domains: v.optional(v.pipe(v.array(domain), v.maxLength(hostsMax)), []),
  /** What a new account has to accept; null: nothing. */
  terms_url: v.optional(v.nullable(httpsUrl), null),
  terms_version: v.optional(v.nullable(lineOfText(40)), null),
  /** Whether an app may be known by a document at its client id (an `https` URL). */
  client_documents: v.optional(v.picklist(['off', 'listed', 'any']), 'off'),
  /** Hosts whose documents `listed` admits, with a port where they have one. */
  client_document_hosts: v.optional(v.pipe(v.array(host), v.maxLength(hostsMax)), []),
};

/** The name of the one record of its kind. */
export const identityRecordName = 'settings';
