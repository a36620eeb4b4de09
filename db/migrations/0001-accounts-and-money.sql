-- Accounts, wallets and the ledger. Amounts are integers in microcredits.
-- The hot tables (ledger, holds, generations) have no foreign keys: each would cost a row lock for
-- every row written. They are written by one statement that joins the wallet row; ledger:check
-- looks for orphans.

CREATE TABLE accounts (
  id text PRIMARY KEY,
  role text NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'admin')),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- The seven running balances of a wallet. `wallet_micros` is what is available.
CREATE TABLE wallets (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  type text NOT NULL DEFAULT 'personal' CHECK (type IN ('personal', 'organization')),
  -- Counts the writes: a batch that was decided on another version is not written.
  version bigint NOT NULL DEFAULT 0,
  wallet_micros bigint NOT NULL DEFAULT 0
    CONSTRAINT wallet_never_negative CHECK (wallet_micros BETWEEN 0 AND 9007199254740991),
  held_micros bigint NOT NULL DEFAULT 0
    CONSTRAINT held_never_negative CHECK (held_micros >= 0),
  revenue_micros bigint NOT NULL DEFAULT 0,
  provider_cost_micros bigint NOT NULL DEFAULT 0,
  promotion_micros bigint NOT NULL DEFAULT 0 CHECK (promotion_micros <= 0),
  purchase_micros bigint NOT NULL DEFAULT 0 CHECK (purchase_micros <= 0),
  shortfall_micros bigint NOT NULL DEFAULT 0 CHECK (shortfall_micros <= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT wallet_balanced CHECK (
    wallet_micros + held_micros + revenue_micros + provider_cost_micros
      + promotion_micros + purchase_micros + shortfall_micros = 0
  )
) WITH (fillfactor = 50);
CREATE INDEX wallets_account ON wallets (account_id);

-- Credits by origin. `remaining` includes what is held. `spent` is a column of its own so that the
-- partial index does not depend on amounts, and their updates stay heap-only.
CREATE TABLE grants (
  id text PRIMARY KEY,
  wallet_id text NOT NULL REFERENCES wallets (id),
  operation_id text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('promotion', 'purchase')),
  note text NOT NULL,
  amount_micros bigint NOT NULL CHECK (amount_micros > 0),
  remaining_micros bigint NOT NULL,
  held_micros bigint NOT NULL DEFAULT 0,
  expires_at timestamptz,
  -- Set when its free part was taken back; what returns to it later is taken back at once.
  expired boolean NOT NULL DEFAULT false,
  spent boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  CONSTRAINT grant_within_bounds
    CHECK (0 <= held_micros AND held_micros <= remaining_micros
      AND remaining_micros <= amount_micros),
  CONSTRAINT grant_spent CHECK (spent = (remaining_micros = 0)),
  CONSTRAINT purchases_never_expire
    CHECK (kind = 'promotion' OR (expires_at IS NULL AND NOT expired))
) WITH (fillfactor = 50);
CREATE INDEX grants_open ON grants (wallet_id) WHERE NOT spent;
CREATE INDEX grants_expiry ON grants (expires_at)
  WHERE NOT spent AND NOT expired AND expires_at IS NOT NULL;

-- Active holds only: a hold that ended is deleted, the ledger keeps its history. One that expired
-- stays with amount 0 until its owner ends, so that the owner of every running generation is found.
CREATE TABLE holds (
  wallet_id text NOT NULL,
  id text NOT NULL,
  amount_micros bigint NOT NULL CHECK (amount_micros >= 0),
  -- Which grants it earmarks, in spending order: [{"grant": id, "micros": "123"}].
  legs jsonb NOT NULL,
  owner_kind text NOT NULL,
  owner_id text NOT NULL,
  instance_id text NOT NULL,
  -- Whether the owner is a row of `generations` that ends with the hold.
  claimed boolean NOT NULL,
  -- Who told its caller that it is held: one whose own write stayed in doubt clears up only that.
  attempt bigint NOT NULL DEFAULT 0,
  -- The last extension and what it added: its repetition gets the same answer.
  step integer NOT NULL DEFAULT 0,
  step_micros bigint NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL,
  expired boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (wallet_id, id),
  CONSTRAINT expired_holds_nothing CHECK (NOT expired OR amount_micros = 0)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0);
CREATE INDEX holds_expiry ON holds (expires_at) WHERE NOT expired;

-- The journal: one row an operation, its transfers as columns. Operation ids name what happened
-- (`<hold>.hold`, `<hold>.x1`, `<hold>.end`, `<hold>.late`), so twice is a constraint violation.
CREATE TABLE ledger (
  operation_id text PRIMARY KEY,
  wallet_id text NOT NULL,
  kind text NOT NULL
    CHECK (kind IN ('hold', 'extend', 'settle', 'release', 'late', 'grant', 'expire')),
  -- Why a release: failed, cancelled, expired, recovered.
  reason text,
  wallet_micros bigint NOT NULL,
  held_micros bigint NOT NULL,
  revenue_micros bigint NOT NULL,
  provider_cost_micros bigint NOT NULL,
  promotion_micros bigint NOT NULL,
  purchase_micros bigint NOT NULL,
  shortfall_micros bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT ledger_balanced CHECK (
    wallet_micros + held_micros + revenue_micros + provider_cost_micros
      + promotion_micros + purchase_micros + shortfall_micros = 0
  )
);
CREATE INDEX ledger_releases ON ledger (wallet_id, at) WHERE kind = 'release';

CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append only' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

-- Running and finished generations. A row grows about threefold when it ends: that much room is
-- kept on its page, so that the final update is heap-only.
CREATE TABLE generations (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  wallet_id text NOT NULL,
  api_key_id text,
  route text NOT NULL,
  -- Null: none was given, or it may be used again.
  idempotency_key text,
  fingerprint text NOT NULL,
  model text NOT NULL,
  instance_id text NOT NULL,
  hold_id text NOT NULL,
  status text NOT NULL DEFAULT 'running'
    CHECK (status IN ('running', 'completed', 'incomplete', 'failed', 'cancelled')),
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  -- JSON as it was written: the answer is replayed byte by byte.
  answer text,
  problem text,
  usage jsonb,
  -- What was settled; null: nothing was.
  charge_micros bigint CHECK (charge_micros >= 0),
  CONSTRAINT generation_finished CHECK ((status = 'running') = (finished_at IS NULL))
) WITH (fillfactor = 35);
CREATE UNIQUE INDEX generations_key ON generations (account_id, route, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX generations_account ON generations (account_id, id);

-- Filled by the purchase routes of a later issue; the billing summary lists it already.
CREATE TABLE purchases (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  wallet_id text NOT NULL REFERENCES wallets (id),
  package_id text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
  credits_micros bigint NOT NULL CHECK (credits_micros > 0),
  price_cents bigint NOT NULL CHECK (price_cents >= 0),
  currency text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz
);
CREATE INDEX purchases_account ON purchases (account_id, created_at);
