-- People: their addresses and names, how their sessions were begun, and what apps may do for them.

-- 12 hex of milliseconds, 00, 10 of chance: what newId makes on node 0.
CREATE FUNCTION new_id(prefix text) RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT prefix || '_'
    || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '00'
    || left(replace(gen_random_uuid()::text, '-', ''), 10)
$$;

ALTER TABLE accounts
  -- Lower case, its domain in ASCII: as it is compared.
  ADD COLUMN email text CHECK (char_length(email) BETWEEN 3 AND 254),
  -- It proved the address, or an administrator gave it.
  ADD COLUMN email_owned boolean NOT NULL DEFAULT false,
  ADD COLUMN email_verified_at timestamptz,
  ADD COLUMN full_name text CHECK (char_length(full_name) BETWEEN 1 AND 120),
  ADD COLUMN referral_code text NOT NULL
    DEFAULT upper(left(replace(gen_random_uuid()::text, '-', ''), 12)),
  ADD COLUMN referred_by text,
  ADD COLUMN terms_version text,
  ADD COLUMN terms_accepted_at timestamptz,
  -- Since when it is to be erased, which can be undone until the erasing begins.
  ADD COLUMN deleting_at timestamptz,
  ADD COLUMN erasing_at timestamptz,
  ADD COLUMN erased_at timestamptz,
  ADD CONSTRAINT account_erased CHECK (
    (erasing_at IS NULL OR deleting_at IS NOT NULL)
    AND (erased_at IS NULL OR erasing_at IS NOT NULL)),
  ADD CONSTRAINT account_owns_address CHECK (NOT email_owned OR email IS NOT NULL),
  ADD CONSTRAINT account_verified CHECK (email_verified_at IS NULL OR email_owned);
CREATE UNIQUE INDEX accounts_referral_code ON accounts (referral_code);
-- An address belongs to one account; others may only have typed it.
CREATE UNIQUE INDEX accounts_address ON accounts (email) WHERE email_owned;
-- Of any collation: an address is searched by its beginning.
CREATE INDEX accounts_address_typed ON accounts (email text_pattern_ops, id)
  WHERE email IS NOT NULL;
CREATE INDEX accounts_labelled ON accounts (id) WHERE label IS NOT NULL;
CREATE INDEX api_keys_prefix ON api_keys (prefix);
CREATE INDEX accounts_unverified ON accounts (created_at)
  WHERE email IS NOT NULL AND NOT email_owned;
CREATE INDEX accounts_deleting ON accounts (deleting_at)
  WHERE deleting_at IS NOT NULL AND erased_at IS NULL;

-- argon2id in PHC form. An account without a row has no password.
CREATE TABLE account_passwords (
  account_id text PRIMARY KEY,
  hash text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);

-- Whoever asks for a code has a challenge, whose id is told to nobody else. Rows are alike for
-- every address, so that nothing tells which of them has an account.
CREATE TABLE challenges (
  id text PRIMARY KEY,
  address text NOT NULL,
  -- `verify` and `change` are of one account, which proves the address with it.
  aim text NOT NULL CHECK (aim IN ('sign_in', 'verify', 'change', 'reset')),
  account_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Of its newest code.
  expires_at timestamptz NOT NULL,
  guesses integer NOT NULL DEFAULT 0 CHECK (guesses BETWEEN 0 AND 5),
  used_at timestamptz,
  CONSTRAINT challenge_account CHECK (
    (account_id IS NULL) = (aim IN ('sign_in', 'reset')))
);
CREATE INDEX challenges_expiry ON challenges (expires_at);
CREATE INDEX challenges_account ON challenges (account_id, aim, id) WHERE account_id IS NOT NULL;

-- Codes as HMAC-SHA-256 under a key from the master secret. Places are HMACs likewise.
CREATE TABLE codes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  challenge_id text NOT NULL REFERENCES challenges (id) ON DELETE CASCADE,
  address text NOT NULL,
  digest text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  network text NOT NULL,
  -- The place known to the account that pays for it; null: it came from one that is new to it.
  place text,
  -- What was sent; `none` where an address without account was told so already.
  mail text NOT NULL CHECK (mail IN ('code', 'no_account', 'none'))
);
CREATE INDEX codes_challenge ON codes (challenge_id, id);
CREATE INDEX codes_address ON codes (address, created_at);
CREATE INDEX codes_network ON codes (network, created_at);

-- Wrong guesses for an address that named no challenge.
CREATE TABLE code_guesses (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  address text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX code_guesses_address ON code_guesses (address, created_at);
CREATE INDEX code_guesses_age ON code_guesses (created_at);

-- Networks and browsers from which an account was signed in to.
CREATE TABLE known_places (
  account_id text NOT NULL,
  place text NOT NULL,
  last_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, place)
);
CREATE INDEX known_places_age ON known_places (last_at);

ALTER TABLE sessions
  ADD COLUMN id text NOT NULL DEFAULT new_id('ses'),
  -- Null: of before there was a sign-in, or from a command; good as cookie and as header.
  ADD COLUMN kind text CHECK (kind IN ('browser', 'app')),
  ADD COLUMN method text NOT NULL DEFAULT 'command'
    CHECK (method IN ('otp', 'password', 'command')),
  ADD COLUMN authenticated_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN last_used_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN user_agent text CHECK (char_length(user_agent) <= 300),
  -- Its /24 or /48.
  ADD COLUMN network text,
  ADD COLUMN requests_per_minute integer NOT NULL DEFAULT 600 CHECK (requests_per_minute > 0),
  ADD COLUMN concurrency_max integer NOT NULL DEFAULT 64 CHECK (concurrency_max > 0);
UPDATE sessions SET authenticated_at = created_at;
CREATE UNIQUE INDEX sessions_id ON sessions (id);
-- The newest of an account: by id alone the server reads those of all others between them.
CREATE INDEX sessions_newest ON sessions (account_id, id);
DROP INDEX sessions_account;

-- What one person lets one app do. Its tokens come and go.
CREATE TABLE oauth_authorizations (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  -- The client id: the name of a record, or the URL of a document.
  client text NOT NULL,
  scopes text[] NOT NULL,
  -- How the person who approved it was signed in, and since when.
  method text NOT NULL CHECK (method IN ('otp', 'password', 'command')),
  authenticated_at timestamptz NOT NULL,
  approved_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  revoked_reason text
    CHECK (revoked_reason IN ('user', 'client', 'reuse', 'code_replay', 'account', 'admin')),
  CONSTRAINT authorization_revoked CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
);
CREATE INDEX oauth_authorizations_account ON oauth_authorizations (account_id, client, id);
CREATE INDEX oauth_authorizations_client ON oauth_authorizations (client)
  WHERE revoked_at IS NULL;
-- The end that came first.
CREATE INDEX oauth_authorizations_end ON oauth_authorizations (least(revoked_at, expires_at));

CREATE TABLE oauth_tokens (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  authorization_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
  -- An access token whose app asked for less has it here; null: what the authorization has.
  scopes text[],
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  -- Of a refresh token: when it was used, what came of it, and that pair, sealed under a key that
  -- is derived from the token itself.
  rotated_at timestamptz,
  successor_hash bytea,
  sealed_pair bytea,
  CONSTRAINT token_rotated CHECK (
    (rotated_at IS NULL) = (successor_hash IS NULL) AND (kind = 'refresh' OR rotated_at IS NULL))
);
-- Both tokens of a pair have one moment, which is also when the one before was used.
CREATE INDEX oauth_tokens_authorization ON oauth_tokens (authorization_id, created_at);
CREATE INDEX oauth_tokens_expiry ON oauth_tokens (expires_at);

-- What a person approved, until the app fetches it: once.
CREATE TABLE oauth_codes (
  code_hash bytea PRIMARY KEY CHECK (length(code_hash) = 32),
  account_id text NOT NULL,
  client text NOT NULL,
  scopes text[] NOT NULL,
  method text NOT NULL CHECK (method IN ('otp', 'password', 'command')),
  authenticated_at timestamptz NOT NULL,
  redirect_uri text NOT NULL,
  -- S256 of RFC 7636.
  challenge text NOT NULL CHECK (char_length(challenge) = 43),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- When it was shown first. It is used up then, also by whoever may not have it.
  redeemed_at timestamptz,
  authorization_id text,
  CONSTRAINT code_redeemed CHECK (authorization_id IS NULL OR redeemed_at IS NOT NULL)
);
CREATE INDEX oauth_codes_account ON oauth_codes (account_id);
CREATE INDEX oauth_codes_expiry ON oauth_codes (expires_at);

-- Approval pages that were decided: each is so once.
CREATE TABLE oauth_decisions (
  request_id text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX oauth_decisions_expiry ON oauth_decisions (expires_at);

-- What a device without a browser asks for.
CREATE TABLE oauth_devices (
  id text PRIMARY KEY,
  device_code_hash bytea NOT NULL UNIQUE CHECK (length(device_code_hash) = 32),
  -- HMAC: eight letters could be guessed from a plain hash.
  user_code_digest text NOT NULL UNIQUE,
  client text NOT NULL,
  scopes text[] NOT NULL,
  -- Its /24 or /48.
  network text,
  asked_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  interval_seconds integer NOT NULL DEFAULT 5,
  polled_at timestamptz,
  decided_at timestamptz,
  -- The account that approved it; null where it was denied.
  account_id text,
  granted_scopes text[],
  method text CHECK (method IN ('otp', 'password', 'command')),
  authenticated_at timestamptz,
  redeemed_at timestamptz,
  authorization_id text,
  CONSTRAINT device_decided CHECK (account_id IS NULL OR decided_at IS NOT NULL),
  CONSTRAINT device_approved CHECK ((account_id IS NULL) = (granted_scopes IS NULL)
    AND (account_id IS NULL) = (method IS NULL)
    AND (account_id IS NULL) = (authenticated_at IS NULL)),
  CONSTRAINT device_redeemed CHECK ((redeemed_at IS NULL) = (authorization_id IS NULL)
    AND (redeemed_at IS NULL OR account_id IS NOT NULL))
);
CREATE INDEX oauth_devices_account ON oauth_devices (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX oauth_devices_expiry ON oauth_devices (expires_at);

-- What a person let an app do before: the page need not ask for it again.
CREATE TABLE oauth_approvals (
  account_id text NOT NULL,
  client text NOT NULL,
  scopes text[] NOT NULL,
  approved_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, client)
);

-- The authorization through which a key was made: it ends with it.
ALTER TABLE api_keys ADD COLUMN authorization_id text;
CREATE INDEX api_keys_authorization ON api_keys (authorization_id)
  WHERE authorization_id IS NOT NULL;

-- Two kinds of catalog records more. A client's secrets are SHA-256, and the former one is good
-- until its time; the settings of identity are one record.
CREATE TABLE oauth_clients (
  LIKE models INCLUDING ALL,
  secret_hash bytea CHECK (length(secret_hash) = 32),
  former_secret_hash bytea CHECK (length(former_secret_hash) = 32),
  former_secret_until timestamptz,
  CONSTRAINT client_former_secret CHECK (
    (former_secret_hash IS NULL) = (former_secret_until IS NULL)
    AND (former_secret_hash IS NULL OR secret_hash IS NOT NULL))
);
CREATE TABLE identity (
  LIKE models INCLUDING ALL,
  CONSTRAINT identity_is_one CHECK (name = 'settings')
);
ALTER TABLE declarations DROP CONSTRAINT declarations_kind_check;
ALTER TABLE declarations ADD CONSTRAINT declarations_kind_check CHECK (
  kind IN ('providers', 'models', 'prices', 'routes', 'packages', 'surfaces', 'oauth_clients',
    'identity'));

-- The service's own programs are clients from the beginning. Administrators may change them.
INSERT INTO oauth_clients (name, definition) VALUES
  ('svc-desktop', '{
    "name": "svc-desktop", "display_name": "Desktop app", "type": "public",
    "redirect_uris": ["http://127.0.0.1/callback", "http://[::1]/callback",
      "http://localhost/callback", "svc-desktop:/callback"],
    "grants": ["authorization_code", "refresh_token"],
    "scopes": ["profile", "email", "offline_access", "app"],
    "refresh_grace_seconds": 10, "first_party": true, "enabled": true}'),
  ('svc-cli', '{
    "name": "svc-cli", "display_name": "Command line", "type": "public",
    "redirect_uris": ["http://127.0.0.1/callback", "http://[::1]/callback",
      "http://localhost/callback"],
    "grants": ["authorization_code", "refresh_token",
      "urn:ietf:params:oauth:grant-type:device_code"],
    "scopes": ["profile", "email", "offline_access", "app"],
    "refresh_grace_seconds": 10, "first_party": true, "enabled": true}');
INSERT INTO identity (name, definition) VALUES ('settings', '{
  "name": "settings", "signup": "open", "email_domains": [], "client_documents": "off",
  "client_document_hosts": []}');

-- What is written to people. To whom, and with what in it, is sealed, and gone when it is over.
CREATE TABLE mails (
  id text PRIMARY KEY,
  account_id text,
  template text NOT NULL,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sent', 'failed')),
  -- Address and variables as JSON, under the key with this id.
  sealed bytea,
  key_id text,
  -- What is in it is worth nothing after this: it is not sent any more.
  expires_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  -- Attempts of which nobody knows whether the server took the mail: it may have a copy of each.
  doubts integer NOT NULL DEFAULT 0 CHECK (doubts BETWEEN 0 AND attempts),
  -- When the next attempt is due; while one is under way, when it is over in any case.
  next_at timestamptz NOT NULL DEFAULT now(),
  -- The instance whose attempt is under way.
  taken_by text,
  -- A class, with a status of SMTP; never what the server said.
  last_error text,
  last_error_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  CONSTRAINT mail_ended CHECK ((state = 'queued') = (ended_at IS NULL)),
  CONSTRAINT mail_sealed CHECK (
    (state = 'queued') = (sealed IS NOT NULL) AND (sealed IS NULL) = (key_id IS NULL))
);
CREATE INDEX mails_due ON mails (next_at) WHERE state = 'queued';
CREATE INDEX mails_ended ON mails (ended_at, state) WHERE state <> 'queued';
CREATE INDEX mails_errors ON mails (last_error_at) WHERE last_error_at IS NOT NULL;
CREATE INDEX mails_account ON mails (account_id) WHERE account_id IS NOT NULL;

-- Copies of all that is known of a person, made by whoever has the epoch.
CREATE TABLE account_exports (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  status text NOT NULL DEFAULT 'queued'
    CHECK (status IN ('queued', 'running', 'ready', 'failed')),
  epoch bigint NOT NULL DEFAULT 0,
  lease_until timestamptz NOT NULL DEFAULT now(),
  blob_id text,
  size_bytes bigint CHECK (size_bytes > 0),
  sha256 text,
  created_at timestamptz NOT NULL DEFAULT now(),
  ready_at timestamptz,
  -- When the row goes, with its file.
  expires_at timestamptz NOT NULL,
  CONSTRAINT account_export_ready CHECK ((status = 'ready') = (blob_id IS NOT NULL)
    AND (blob_id IS NULL) = (size_bytes IS NULL) AND (blob_id IS NULL) = (sha256 IS NULL)
    AND (blob_id IS NULL) = (ready_at IS NULL))
);
CREATE INDEX account_exports_account ON account_exports (account_id, id);
CREATE INDEX account_exports_open ON account_exports (id) WHERE status IN ('queued', 'running');
CREATE INDEX account_exports_expiry ON account_exports (expires_at);
CREATE INDEX account_exports_blob ON account_exports (blob_id) WHERE blob_id IS NOT NULL;

-- What an export and an erasing read of one account.
CREATE INDEX responses_account ON responses (account_id, generation_id);
CREATE INDEX generated_videos_account ON generated_videos (account_id, id);
CREATE INDEX video_analyses_account ON video_analyses (account_id, id);
CREATE INDEX grants_wallet ON grants (wallet_id, id);
