// The account itself, and what it is entered with.
import { deleting, jsonOf, type PersonalDomain } from './contract.ts';

/** Its row is blanked when everything else is done: erasure.ts. */
export const accountData: PersonalDomain = {
  file: 'account',
  tables: {
    accounts: {
      hold: 'held',
      exported: true,
      fate: { blanked: 'its id is what the books are kept under' },
    },
    account_passwords: { hold: 'exempt', exported: 'a hash is a secret', fate: 'erased' },
  },
  lists: [
    {
      name: 'accounts',
      from: 'accounts a',
      where: 'a.id = $1',
      cursor: 'a.id',
      item: jsonOf(
        'a',
        [
          ...['id', 'role', 'label', 'email', 'email_owned', 'email_verified_at', 'full_name'],
          ...['referral_code', 'referred_by', 'terms_version', 'terms_accepted_at'],
          ...['created_at', 'updated_at', 'disabled_at', 'deleting_at'],
        ],
        {
          password_changed_at:
            '(SELECT p.changed_at FROM account_passwords p WHERE p.account_id = a.id)',
        },
      ),
    },
  ],
  erasing: [deleting('account_passwords', 'account_id')],
};

export const sessionData: PersonalDomain = {
  file: 'sessions',
  tables: { sessions: { hold: 'exempt', exported: true, fate: 'erased' } },
  lists: [
    {
      name: 'sessions',
      from: 'sessions s',
      where: 's.account_id = $1',
      cursor: 's.id',
      item: jsonOf('s', [
        ...['id', 'kind', 'method', 'created_at', 'authenticated_at', 'last_used_at'],
        ...['expires_at', 'user_agent', 'network'],
      ]),
    },
  ],
  erasing: [deleting('sessions', 'id')],
};

const counterCursor = `s.spender || ' ' || s.period || ' ' || s.starts_at::text`;

export const keyData: PersonalDomain = {
  file: 'api_keys',
  tables: {
    api_keys: { hold: 'exempt', exported: true, fate: 'erased' },
    spend: { hold: 'exempt', exported: 'what a key spent stands with each charge', fate: 'erased' },
  },
  lists: [
    {
      name: 'api_keys',
      from: 'api_keys k',
      where: 'k.account_id = $1',
      cursor: 'k.id',
      item: jsonOf('k', [
        ...['id', 'label', 'environment', 'scopes', 'prefix', 'status', 'created_at'],
        ...['last_used_at', 'revoked_at', 'authorization_id', 'limit_micros', 'limit_period'],
        ...['expires_at', 'disabled_at', 'allowed_models'],
      ]),
    },
  ],
  erasing: [
    `WITH page AS (
        SELECT s.ctid, ${counterCursor} AS cursor FROM spend s
        WHERE s.wallet_id IN (SELECT w.id FROM wallets w WHERE w.account_id = $1)
          AND ${counterCursor} > $2
        ORDER BY cursor LIMIT $3 FOR UPDATE),
      gone AS (DELETE FROM spend s USING page p WHERE s.ctid = p.ctid)
      SELECT cursor, NULL::text AS blob_id FROM page ORDER BY cursor`,
    deleting('api_keys', 'id'),
  ],
};

const ownAddress = 'SELECT a.email FROM accounts a WHERE a.id = $1 AND a.email_owned';

/** Codes and wrong guesses: rows of a day, by the account or by the address that is its own. */
export const challengeData: PersonalDomain = {
  file: null,
  tables: {
    challenges: { hold: 'exempt', exported: 'it is gone within a day', fate: 'erased' },
    codes: { hold: 'exempt', exported: 'a code is a secret', fate: 'erased' },
    code_guesses: { hold: 'exempt', exported: 'it is gone within a day', fate: 'erased' },
    known_places: {
      hold: 'exempt',
      exported: 'a place is a digest that nobody can read',
      fate: 'erased',
    },
  },
  lists: [],
  erasing: [
    `WITH page AS (
        SELECT h.id FROM challenges h
        WHERE (h.account_id = $1 OR h.id IN (
          SELECT c.challenge_id FROM codes c WHERE c.address = (${ownAddress})))
          AND h.id > $2 ORDER BY h.id LIMIT $3 FOR UPDATE),
      sent AS (DELETE FROM codes c USING page p WHERE c.challenge_id = p.id),
      gone AS (DELETE FROM challenges h USING page p WHERE h.id = p.id)
      SELECT id AS cursor, NULL::text AS blob_id FROM page ORDER BY id`,
    `WITH page AS (
        SELECT g.id, lpad(g.id::text, 20, '0') AS cursor FROM code_guesses g
        WHERE g.address = (${ownAddress}) AND lpad(g.id::text, 20, '0') > $2
        ORDER BY g.id LIMIT $3 FOR UPDATE),
      gone AS (DELETE FROM code_guesses g USING page p WHERE g.id = p.id)
      SELECT cursor, NULL::text AS blob_id FROM page ORDER BY id`,
    deleting('known_places', 'place'),
  ],
};

export const authorizationData: PersonalDomain = {
  file: 'authorizations',
  tables: {
    oauth_authorizations: { hold: 'exempt', exported: true, fate: 'erased' },
    oauth_approvals: { hold: 'exempt', exported: true, fate: 'erased' },
    oauth_devices: { hold: 'exempt', exported: true, fate: 'erased' },
    oauth_codes: { hold: 'exempt', exported: 'a code is a secret', fate: 'erased' },
    oauth_tokens: { hold: 'exempt', exported: 'tokens are secrets', fate: 'erased' },
  },
  lists: [
    {
      name: 'authorizations',
      from: 'oauth_authorizations o',
      where: 'o.account_id = $1',
      cursor: 'o.id',
      item: jsonOf('o', [
        ...['id', 'client', 'scopes', 'method', 'approved_at', 'last_used_at', 'expires_at'],
        ...['revoked_at', 'revoked_reason'],
      ]),
    },
    {
      name: 'approvals',
      from: 'oauth_approvals p',
      where: 'p.account_id = $1',
      cursor: 'p.client',
      item: jsonOf('p', ['client', 'scopes', 'approved_at']),
    },
    {
      name: 'devices',
      from: 'oauth_devices d',
      where: 'd.account_id = $1',
      cursor: 'd.id',
      item: jsonOf('d', [
        ...['client', 'granted_scopes', 'network', 'asked_at', 'decided_at', 'redeemed_at'],
        ...['authorization_id'],
      ]),
    },
  ],
  erasing: [
    `WITH page AS (
        SELECT o.id FROM oauth_authorizations o
        WHERE o.account_id = $1 AND o.id > $2 ORDER BY o.id LIMIT $3 FOR UPDATE),
      tokens AS (DELETE FROM oauth_tokens t USING page p WHERE t.authorization_id = p.id),
      gone AS (DELETE FROM oauth_authorizations o USING page p WHERE o.id = p.id)
      SELECT id AS cursor, NULL::text AS blob_id FROM page ORDER BY id`,
    `WITH page AS (
        SELECT c.code_hash, encode(c.code_hash, 'hex') AS cursor FROM oauth_codes c
        WHERE c.account_id = $1 AND encode(c.code_hash, 'hex') > $2
        ORDER BY cursor LIMIT $3 FOR UPDATE),
      gone AS (DELETE FROM oauth_codes c USING page p WHERE c.code_hash = p.code_hash)
      SELECT cursor, NULL::text AS blob_id FROM page ORDER BY cursor`,
    deleting('oauth_devices', 'id'),
    deleting('oauth_approvals', 'client'),
  ],
};

/** To whom and with what in it is sealed, and gone once it is over. */
export const mailData: PersonalDomain = {
  file: 'mails',
  tables: { mails: { hold: 'exempt', exported: true, fate: 'erased' } },
  lists: [
    {
      name: 'mails',
      from: 'mails m',
      where: 'm.account_id = $1',
      cursor: 'm.id',
      item: jsonOf('m', ['id', 'template', 'state', 'created_at', 'ended_at']),
    },
  ],
  erasing: [deleting('mails', 'id')],
};
