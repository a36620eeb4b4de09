-- What a key may spend, with whom, until when. A wallet that counts has counters beside its
-- balances: rows of the same write, under the same version.

ALTER TABLE api_keys
  -- Null: it spends what the wallet has.
  ADD COLUMN limit_micros bigint CHECK (limit_micros >= 0),
  ADD COLUMN limit_period text CHECK (limit_period IN ('total', 'day', 'week', 'month')),
  ADD COLUMN expires_at timestamptz,
  -- Set while its owner lets it rest.
  ADD COLUMN disabled_at timestamptz,
  -- Null: all.
  ADD COLUMN allowed_models text[]
    CHECK (array_length(allowed_models, 1) BETWEEN 1 AND 100),
  -- The token before the last rotation, and until when it works beside the new one.
  ADD COLUMN former_token_hash bytea CHECK (length(former_token_hash) = 32),
  ADD COLUMN former_until timestamptz,
  ADD CONSTRAINT key_limited CHECK ((limit_micros IS NULL) = (limit_period IS NULL)),
  ADD CONSTRAINT key_rotated CHECK ((former_token_hash IS NULL) = (former_until IS NULL));
CREATE UNIQUE INDEX api_keys_former ON api_keys (former_token_hash)
  WHERE former_token_hash IS NOT NULL;
CREATE INDEX api_keys_limited ON api_keys (wallet_id, revoked_at) WHERE limit_micros IS NOT NULL;

-- Its caps and counters are read with it. Set with the first cap, and never taken back.
ALTER TABLE wallets ADD COLUMN counts boolean NOT NULL DEFAULT false;

-- What a spender has spent and holds in one period, in UTC. Total began with the epoch.
CREATE TABLE spend (
  wallet_id text NOT NULL,
  -- A key.
  spender text NOT NULL,
  period text NOT NULL CHECK (period IN ('total', 'day', 'week', 'month')),
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  spent_micros bigint NOT NULL CONSTRAINT spent_never_negative CHECK (spent_micros >= 0),
  held_micros bigint NOT NULL CONSTRAINT spend_held_never_negative CHECK (held_micros >= 0),
  PRIMARY KEY (wallet_id, spender, period, starts_at),
  CHECK (starts_at < ends_at)
) WITH (fillfactor = 50);
CREATE INDEX spend_ended ON spend (ends_at);

-- Settlements that charged more than could be taken, which are few.
CREATE INDEX ledger_shortfalls ON ledger (wallet_id)
  WHERE kind IN ('settle', 'late') AND shortfall_micros < 0;
