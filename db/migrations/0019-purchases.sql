-- Money that comes in. A purchase is made before the provider is asked, and is paid once the
-- provider, asked, says so. Refunds and disputes are facts of it, and each reversal is a step.

ALTER TABLE purchases
  DROP CONSTRAINT purchases_status_check,
  ADD CONSTRAINT purchases_status_check CHECK (status IN
    ('created', 'pending', 'paid', 'completed', 'failed', 'expired', 'refunded')) NOT VALID,
  ADD COLUMN kind text NOT NULL DEFAULT 'checkout' CHECK (kind IN ('checkout', 'auto', 'free')),
  -- The name of the provider's record, and what it was then; null: it is free.
  ADD COLUMN provider text,
  ADD COLUMN provider_kind text CHECK (provider_kind IN ('stripe', 'razorpay')),
  -- The provider's checkout session, order, or intent of a charge without a person.
  ADD COLUMN provider_order_id text,
  -- The payment that was counted.
  ADD COLUMN provider_payment_id text,
  -- What says that two payments come from one purse: a card's fingerprint, an account's digest.
  ADD COLUMN purse text,
  -- What the client needs for paying, as the first reply told it.
  ADD COLUMN checkout jsonb,
  ADD COLUMN return_path text,
  ADD COLUMN save_payment_method boolean NOT NULL DEFAULT false,
  ADD COLUMN idempotency_key text,
  ADD COLUMN fingerprint bytea,
  -- All amounts of money are in minor units of the currency.
  ADD COLUMN paid_cents bigint CHECK (paid_cents >= 0),
  ADD COLUMN tax_cents bigint NOT NULL DEFAULT 0 CHECK (tax_cents >= 0),
  ADD COLUMN refunded_cents bigint NOT NULL DEFAULT 0 CHECK (refunded_cents >= 0),
  ADD COLUMN disputed_cents bigint NOT NULL DEFAULT 0 CHECK (disputed_cents >= 0),
  -- What facts ask to be reversed net, and the number of its last step.
  ADD COLUMN target_micros bigint NOT NULL DEFAULT 0 CHECK (target_micros >= 0),
  ADD COLUMN step integer NOT NULL DEFAULT 0,
  -- What of it the wallet has reversed net, and what it could not take then.
  ADD COLUMN reversed_micros bigint NOT NULL DEFAULT 0 CHECK (reversed_micros >= 0),
  ADD COLUMN debt_micros bigint NOT NULL DEFAULT 0 CHECK (debt_micros >= 0),
  ADD COLUMN dispute_state text CHECK (dispute_state IN ('inquiry', 'open', 'won', 'lost')),
  ADD COLUMN dispute_opened_at timestamptz,
  ADD COLUMN failure_code text,
  ADD COLUMN paid_at timestamptz,
  ADD COLUMN expires_at timestamptz,
  -- When its provider is asked next, and how often it was; null: nobody has to.
  ADD COLUMN next_look_at timestamptz,
  ADD COLUMN looks integer NOT NULL DEFAULT 0,
  -- Each answer of the provider that is applied makes a new one: an older answer is asked for anew.
  ADD COLUMN revision integer NOT NULL DEFAULT 0;

CREATE UNIQUE INDEX purchases_order ON purchases (provider, provider_order_id)
  WHERE provider_order_id IS NOT NULL;
CREATE INDEX purchases_payment ON purchases (provider, provider_payment_id)
  WHERE provider_payment_id IS NOT NULL;
CREATE UNIQUE INDEX purchases_key ON purchases (account_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX purchases_listed ON purchases (account_id, id);
CREATE INDEX purchases_open ON purchases (account_id, created_at)
  WHERE status IN ('created', 'pending');
CREATE INDEX purchases_looks ON purchases (next_look_at) WHERE next_look_at IS NOT NULL;
-- What is paid and not credited yet.
CREATE INDEX purchases_paid ON purchases (paid_at) WHERE status = 'paid';
-- One charge without a person at a time.
CREATE UNIQUE INDEX purchases_auto ON purchases (wallet_id)
  WHERE kind = 'auto' AND status IN ('created', 'pending', 'paid');
CREATE INDEX purchases_debts ON purchases (wallet_id) WHERE debt_micros > 0;
-- A package without a price is given to a person once.
CREATE UNIQUE INDEX purchases_free ON purchases (account_id, package_id) WHERE kind = 'free';

-- Names this installation in the objects of a provider: others may share its account.
CREATE TABLE installation (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  id text NOT NULL DEFAULT 'inst_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 24)
);
INSERT INTO installation DEFAULT VALUES;

-- What facts changed: posted in this order, once each, as `<purchase>.rev.<step>`.
CREATE TABLE purchase_steps (
  purchase_id text NOT NULL,
  step integer NOT NULL CHECK (step > 0),
  wallet_id text NOT NULL,
  -- Above zero: reversed. Below: restored.
  micros bigint NOT NULL CHECK (micros <> 0),
  reason text NOT NULL CHECK (reason IN ('refund', 'dispute', 'restore')),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Set by the ledger's statement.
  posted_at timestamptz,
  PRIMARY KEY (purchase_id, step)
);
CREATE INDEX purchase_steps_open ON purchase_steps (created_at) WHERE posted_at IS NULL;

-- Refunds and disputes as their provider tells of them, each by its id there.
CREATE TABLE payment_facts (
  provider text NOT NULL,
  object_id text NOT NULL,
  purchase_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('refund', 'dispute')),
  -- pending, succeeded, failed; inquiry, open, won, lost.
  state text NOT NULL,
  amount_cents bigint NOT NULL CHECK (amount_cents >= 0),
  opened_at timestamptz NOT NULL,
  -- Our own refund that it is.
  refund_id text,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, object_id)
);
CREATE INDEX payment_facts_purchase ON payment_facts (purchase_id);

-- What providers called: stored before the answer, worked on after it. Only ids are kept of it.
CREATE TABLE payment_events (
  provider text NOT NULL,
  event_id text NOT NULL,
  type text NOT NULL,
  objects jsonb NOT NULL,
  purchase_id text,
  received_at timestamptz NOT NULL DEFAULT now(),
  done_at timestamptz,
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, event_id)
);
CREATE INDEX payment_events_open ON payment_events (next_try_at) WHERE done_at IS NULL;
CREATE INDEX payment_events_received ON payment_events (received_at);

-- How far the lists of a provider were read.
CREATE TABLE payment_cursors (
  provider text NOT NULL,
  list text NOT NULL,
  read_until timestamptz NOT NULL,
  PRIMARY KEY (provider, list)
);

-- What was paid and is not credited: somebody has to look at it.
CREATE TABLE payment_anomalies (
  id text PRIMARY KEY,
  provider text NOT NULL,
  -- The provider's object that it is about.
  object_id text NOT NULL,
  kind text NOT NULL,
  purchase_id text,
  details jsonb NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider, object_id, kind)
);

-- Refunds that an administrator asked for. First the credits go, then the money.
CREATE TABLE refunds (
  id text PRIMARY KEY,
  purchase_id text NOT NULL,
  operation_id text NOT NULL UNIQUE,
  amount_cents bigint NOT NULL CHECK (amount_cents > 0),
  reason text NOT NULL,
  actor text NOT NULL,
  state text NOT NULL DEFAULT 'reversing'
    CHECK (state IN ('reversing', 'submitted', 'succeeded', 'failed')),
  provider_refund_id text,
  failure_code text,
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX refunds_purchase ON refunds (purchase_id);
CREATE INDEX refunds_open ON refunds (next_try_at) WHERE state IN ('reversing', 'submitted');

-- What a person decided about its money.
CREATE TABLE billing_settings (
  account_id text PRIMARY KEY,
  profile jsonb,
  auto_enabled boolean NOT NULL DEFAULT false,
  auto_threshold_micros bigint CHECK (auto_threshold_micros >= 0),
  auto_package_slug text,
  auto_per_day_max integer NOT NULL DEFAULT 3,
  auto_month_max_cents bigint,
  -- Null: it is not paused.
  auto_paused_reason text,
  auto_paused_at timestamptz,
  auto_tries integer NOT NULL DEFAULT 0,
  auto_next_at timestamptz,
  -- A card that a checkout saved.
  provider text,
  provider_customer_id text,
  payment_method_id text,
  card_brand text,
  card_last4 text,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX billing_settings_auto ON billing_settings (account_id) WHERE auto_enabled;

ALTER TABLE accounts
  ADD COLUMN billing_restricted_at timestamptz,
  ADD COLUMN billing_restricted_reason text;

-- A purchase's credits that are taken back, given again, and debt that is taken when it can be.
ALTER TABLE ledger DROP CONSTRAINT ledger_kind_check;
ALTER TABLE ledger ADD CONSTRAINT ledger_kind_check CHECK (
  kind IN ('hold', 'extend', 'reduce', 'settle', 'release', 'late', 'grant', 'expire', 'revoke',
    'debit', 'reverse', 'restore', 'collect')
) NOT VALID;
-- The journal of a customer: all but what holds and charges, which is most of it.
CREATE INDEX ledger_rare ON ledger (wallet_id, at, operation_id)
  WHERE kind IN ('grant', 'expire', 'revoke', 'debit', 'reverse', 'restore', 'collect');

-- Kinds of catalog records. The secrets of a payment provider are sealed together, as JSON; the
-- settings of billing are one record.
CREATE TABLE payment_providers (LIKE providers INCLUDING ALL);
CREATE TABLE promotions (LIKE packages INCLUDING ALL);
CREATE TABLE reward_tasks (LIKE packages INCLUDING ALL);
CREATE TABLE billing (
  LIKE packages INCLUDING ALL,
  CONSTRAINT billing_is_one CHECK (name = 'settings')
);
ALTER TABLE declarations DROP CONSTRAINT declarations_kind_check;
ALTER TABLE declarations ADD CONSTRAINT declarations_kind_check CHECK (
  kind IN ('providers', 'models', 'prices', 'routes', 'packages', 'surfaces', 'oauth_clients',
    'identity', 'payment_providers', 'promotions', 'reward_tasks', 'billing'));
