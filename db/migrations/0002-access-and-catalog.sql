-- Credentials, process instances, the audit trail and the catalog.

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  wallet_id text NOT NULL REFERENCES wallets (id),
  label text NOT NULL,
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  scopes text[] NOT NULL,
  -- SHA-256 of the token: the token itself is nowhere.
  token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  prefix text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked')),
  requests_per_minute integer NOT NULL CHECK (requests_per_minute > 0),
  concurrency_max integer NOT NULL CHECK (concurrency_max > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT key_revoked CHECK ((status = 'revoked') = (revoked_at IS NOT NULL))
);
CREATE INDEX api_keys_account ON api_keys (account_id, id);

CREATE TABLE sessions (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  account_id text NOT NULL REFERENCES accounts (id),
  admin boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_account ON sessions (account_id);

-- One row for every process that ever ran; a lease that has passed means that it is dead.
CREATE TABLE instances (
  id text PRIMARY KEY,
  started_at timestamptz NOT NULL DEFAULT now(),
  lease_expires_at timestamptz NOT NULL,
  -- Set when nothing of it is unfinished any more.
  ended_at timestamptz
);
CREATE INDEX instances_open ON instances (lease_expires_at) WHERE ended_at IS NULL;

CREATE TABLE audit_events (
  id text PRIMARY KEY,
  account_id text,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  details jsonb NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_events_account ON audit_events (account_id, id);

-- How far a sweep has come through a time-ordered table.
CREATE TABLE sweep_positions (
  name text PRIMARY KEY,
  position text NOT NULL
);

-- Records of the catalog: the definition is checked by the program, the revision counts its
-- changes.
CREATE TABLE providers (
  name text PRIMARY KEY,
  definition jsonb NOT NULL,
  -- Encrypted under the key that `credential_key_id` names.
  credential bytea,
  credential_key_id text,
  revision integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT credential_complete CHECK ((credential IS NULL) = (credential_key_id IS NULL))
);
CREATE TABLE models (
  name text PRIMARY KEY,
  definition jsonb NOT NULL,
  revision integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE prices (LIKE models INCLUDING ALL);
CREATE TABLE routes (LIKE models INCLUDING ALL);
CREATE TABLE packages (LIKE models INCLUDING ALL);
CREATE TABLE surfaces (LIKE models INCLUDING ALL);
