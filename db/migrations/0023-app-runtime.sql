-- What apps tell of themselves and are told, and what people set for the models and servers that
-- they use. No network address stands in any of these tables.

-- Counts the changes of what apps are told, so that of two states the newer one is known.
CREATE TABLE app_board (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  revision bigint NOT NULL DEFAULT 1
);
INSERT INTO app_board DEFAULT VALUES;

CREATE TABLE app_notices (
  id text PRIMARY KEY,
  title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 200),
  body text NOT NULL CHECK (char_length(body) <= 4000),
  level text NOT NULL CHECK (level IN ('info', 'success', 'warning', 'critical')),
  action_url text CHECK (char_length(action_url) <= 2000),
  audience text NOT NULL CHECK (audience IN ('all', 'authenticated', 'admin', 'accounts')),
  -- Empty: every platform, every channel.
  platforms text[] NOT NULL DEFAULT '{}',
  channels text[] NOT NULL DEFAULT '{}',
  app_version_min text,
  app_version_max text,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz,
  dismissible boolean NOT NULL DEFAULT true,
  -- Who wrote it: an administrator, or a domain such as billing.
  origin text NOT NULL DEFAULT 'admin' CHECK (origin IN ('admin', 'billing')),
  -- What is told once has a name: the second notice of the same name is none.
  operation_id text UNIQUE,
  revision integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT app_notice_times CHECK (ends_at IS NULL OR ends_at > starts_at)
);
-- Those that every shard has in memory.
CREATE INDEX app_notices_told ON app_notices (id) WHERE audience <> 'accounts';
CREATE INDEX app_notices_ended ON app_notices (ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX app_notices_origin ON app_notices (created_at) WHERE origin <> 'admin';

CREATE TABLE app_notice_accounts (
  account_id text NOT NULL,
  notice_id text NOT NULL REFERENCES app_notices (id) ON DELETE CASCADE,
  PRIMARY KEY (account_id, notice_id)
);
CREATE INDEX app_notice_accounts_notice ON app_notice_accounts (notice_id);

CREATE TABLE app_notice_reads (
  account_id text NOT NULL,
  notice_id text NOT NULL REFERENCES app_notices (id) ON DELETE CASCADE,
  read_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, notice_id)
);
CREATE INDEX app_notice_reads_notice ON app_notice_reads (notice_id);

CREATE TABLE app_releases (
  id text PRIMARY KEY,
  version text NOT NULL,
  browser text NOT NULL CHECK (browser IN ('chrome', 'firefox', 'edge', 'safari')),
  channel text NOT NULL CHECK (channel IN ('stable', 'beta')),
  -- An archive that was uploaded, or one that is elsewhere; neither: it is to come.
  blob_id text,
  archive_url text,
  sha256 text CHECK (sha256 ~ '^[a-f0-9]{64}$'),
  size_bytes bigint CHECK (size_bytes > 0),
  uploaded_at timestamptz,
  min_browser_version text,
  notes text NOT NULL DEFAULT '' CHECK (char_length(notes) <= 10000),
  -- Null: a draft, which administrators alone see.
  published_at timestamptz,
  revision integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT app_release_version UNIQUE (browser, channel, version),
  CONSTRAINT app_release_archive CHECK (blob_id IS NULL OR archive_url IS NULL),
  CONSTRAINT app_release_known CHECK (
    (blob_id IS NULL AND archive_url IS NULL) = (sha256 IS NULL)
    AND (sha256 IS NULL) = (size_bytes IS NULL)
    AND (blob_id IS NULL) = (uploaded_at IS NULL)),
  CONSTRAINT app_release_published CHECK (published_at IS NULL OR sha256 IS NOT NULL)
);
CREATE INDEX app_releases_blob ON app_releases (blob_id) WHERE blob_id IS NOT NULL;
CREATE INDEX app_releases_told ON app_releases (published_at DESC) WHERE published_at IS NOT NULL;

-- One document, replaced whole.
CREATE TABLE social_profiles (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  revision integer NOT NULL DEFAULT 0,
  profiles jsonb NOT NULL DEFAULT '[]',
  updated_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO social_profiles DEFAULT VALUES;

CREATE TABLE app_installations (
  id text PRIMARY KEY,
  -- Who was signed in there last.
  account_id text,
  platform text,
  app_version text,
  channel text,
  source text,
  details jsonb NOT NULL DEFAULT '{}',
  first_at timestamptz NOT NULL DEFAULT now(),
  last_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX app_installations_last ON app_installations (last_at DESC, id DESC);
CREATE INDEX app_installations_account ON app_installations (account_id, id)
  WHERE account_id IS NOT NULL;

-- How often an installation or an account was active on a UTC day.
CREATE TABLE app_activity (
  day date NOT NULL,
  -- The account, or the installation where nobody was signed in.
  subject text NOT NULL,
  account_id text,
  platform text,
  app_version text,
  source text,
  count bigint NOT NULL CHECK (count > 0),
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (day, subject)
);
CREATE INDEX app_activity_account ON app_activity (account_id, day) WHERE account_id IS NOT NULL;

-- Errors that are alike are one group. `other` has all beyond the bound.
CREATE TABLE app_errors (
  fingerprint text PRIMARY KEY,
  platform text,
  error_name text,
  error_code text,
  -- As the first of them said it, without what must not be kept.
  message text NOT NULL,
  frames text[] NOT NULL DEFAULT '{}',
  severity text NOT NULL,
  count bigint NOT NULL CHECK (count > 0),
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  resolved_at timestamptz
) WITH (fillfactor = 70);
CREATE INDEX app_errors_last ON app_errors (last_at DESC, fingerprint DESC);

-- The first of a group, and the last.
CREATE TABLE app_error_samples (
  fingerprint text NOT NULL REFERENCES app_errors (fingerprint) ON DELETE CASCADE,
  place text NOT NULL CHECK (place IN ('first', 'last')),
  account_id text,
  installation_id text,
  app_version text,
  message text NOT NULL,
  stack_trace text,
  details jsonb,
  -- Sealed, as it is of use to nobody else.
  email bytea,
  email_key_id text,
  at timestamptz NOT NULL,
  PRIMARY KEY (fingerprint, place)
);
CREATE INDEX app_error_samples_account ON app_error_samples (account_id)
  WHERE account_id IS NOT NULL;

-- How many groups there are: counted here, so that no flood passes the bound.
CREATE TABLE app_error_count (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  groups integer NOT NULL DEFAULT 0 CHECK (groups >= 0)
);
INSERT INTO app_error_count DEFAULT VALUES;

CREATE TABLE app_feedback (
  id text PRIMARY KEY,
  account_id text,
  installation_id text,
  platform text,
  app_version text,
  category text,
  rating smallint CHECK (rating BETWEEN 1 AND 5),
  message text NOT NULL,
  -- Of the message and who gave it.
  digest text NOT NULL,
  count integer NOT NULL DEFAULT 1,
  email bytea,
  email_key_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_at timestamptz NOT NULL DEFAULT now(),
  handled_at timestamptz
);
CREATE INDEX app_feedback_digest ON app_feedback (digest, created_at);
CREATE INDEX app_feedback_account ON app_feedback (account_id, id) WHERE account_id IS NOT NULL;
CREATE INDEX app_feedback_email ON app_feedback (created_at) WHERE email IS NOT NULL;
CREATE INDEX app_feedback_age ON app_feedback (created_at);

CREATE TABLE ai_preferences (
  account_id text PRIMARY KEY,
  default_model text,
  -- Aliases by mode.
  modes jsonb NOT NULL DEFAULT '{}',
  revision integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE mcp_servers (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 60),
  -- Part of the names of its tools, so it stays.
  slug text NOT NULL,
  url text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  trusted boolean NOT NULL DEFAULT true,
  allow_after_reading boolean NOT NULL DEFAULT false,
  allowed_tools text[] NOT NULL DEFAULT '{}',
  auth text NOT NULL DEFAULT 'none' CHECK (auth IN ('none', 'bearer', 'oauth')),
  -- What is sent to it, sealed under the named key.
  authorization_sealed bytea,
  authorization_key_id text,
  state text NOT NULL DEFAULT 'unchecked'
    CHECK (state IN ('unchecked', 'ready', 'auth_required', 'unreachable', 'incompatible')),
  protocol_version text,
  checked_at timestamptz,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT mcp_server_slug UNIQUE (account_id, slug),
  CONSTRAINT mcp_server_bearer CHECK (
    (auth = 'bearer') = (authorization_sealed IS NOT NULL)
    AND (authorization_sealed IS NULL) = (authorization_key_id IS NULL))
);
CREATE INDEX mcp_servers_account ON mcp_servers (account_id, id);
