-- Promotional credit: codes, referrals, rewards. First a row claims, then the ledger's statement
-- grants the credits and says so in the row.

-- What the account is. The house is one: it pays for what the service asks models itself.
ALTER TABLE accounts
  ADD COLUMN kind text NOT NULL DEFAULT 'person'
    CONSTRAINT accounts_kind_check CHECK (kind IN ('person', 'house'));
CREATE UNIQUE INDEX accounts_house ON accounts (kind) WHERE kind = 'house';
WITH house AS (
  INSERT INTO accounts (id, kind, label) VALUES (new_id('acc'), 'house', 'House') RETURNING id)
INSERT INTO wallets (id, account_id, type) SELECT new_id('wal'), id, 'personal' FROM house;
-- It has no person in it, and nobody gets in.
ALTER TABLE accounts ADD CONSTRAINT house_is_nobody CHECK (
  kind <> 'house' OR (role = 'user' AND email IS NULL AND deleting_at IS NULL));

-- How often a code was had. It stays when the code is deleted: one of this name is the same.
CREATE TABLE promotion_counts (
  promotion text PRIMARY KEY,
  redeemed integer NOT NULL CHECK (redeemed > 0)
);

CREATE TABLE code_redemptions (
  id text PRIMARY KEY,
  promotion text NOT NULL,
  account_id text NOT NULL,
  wallet_id text NOT NULL,
  micros bigint NOT NULL CHECK (micros > 0),
  -- When the credits end; null: never.
  credits_until timestamptz,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  -- Set by the ledger's statement.
  granted_at timestamptz,
  UNIQUE (account_id, promotion)
);
CREATE INDEX code_redemptions_claimed ON code_redemptions (claimed_at) WHERE granted_at IS NULL;

-- Who brought whom, of sign-up's transaction.
CREATE TABLE referrals (
  id text PRIMARY KEY,
  referee_id text NOT NULL UNIQUE,
  referrer_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The purchase that made it due.
  purchase_id text UNIQUE,
  due_at timestamptz,
  -- That purchase was reversed: nothing more is given, and what is free is taken back.
  reversed_at timestamptz,
  CONSTRAINT referral_due CHECK (
    (purchase_id IS NULL) = (due_at IS NULL) AND (reversed_at IS NULL OR due_at IS NOT NULL))
);
CREATE INDEX referrals_referrer ON referrals (referrer_id, id);
INSERT INTO referrals (id, referee_id, referrer_id, created_at)
  SELECT new_id('ref'), id, referred_by, created_at FROM accounts WHERE referred_by IS NOT NULL;

-- What each side gets. A row is a claim.
CREATE TABLE referral_credits (
  id text PRIMARY KEY,
  referral_id text NOT NULL REFERENCES referrals (id),
  side text NOT NULL CHECK (side IN ('referee', 'referrer')),
  account_id text NOT NULL,
  wallet_id text NOT NULL,
  micros bigint NOT NULL CHECK (micros > 0),
  credits_days integer,
  -- When it is granted.
  due_at timestamptz NOT NULL,
  granted_at timestamptz,
  -- It is not granted, or was taken back as far as it was free.
  ended_at timestamptz,
  taken_micros bigint CHECK (taken_micros >= 0),
  UNIQUE (referral_id, side)
);
CREATE INDEX referral_credits_due ON referral_credits (due_at)
  WHERE granted_at IS NULL AND ended_at IS NULL;
CREATE INDEX referral_credits_account ON referral_credits (account_id, side);

-- Purchases and reversals that were not looked at for a referral yet. Older ones were for none.
ALTER TABLE purchases ADD COLUMN referral_seen boolean NOT NULL DEFAULT true;
ALTER TABLE purchases ALTER COLUMN referral_seen SET DEFAULT false;
CREATE INDEX purchases_referral ON purchases (completed_at)
  WHERE NOT referral_seen AND status = 'completed';
ALTER TABLE purchase_steps ADD COLUMN referral_seen boolean NOT NULL DEFAULT false;
CREATE INDEX purchase_steps_referral ON purchase_steps (created_at) WHERE NOT referral_seen;
CREATE INDEX purchases_purse ON purchases (account_id, purse) WHERE purse IS NOT NULL;

-- What people hand in for a task. One an account and task, for ever.
CREATE TABLE reward_submissions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  account_id text NOT NULL,
  wallet_id text NOT NULL,
  task text NOT NULL,
  -- The task as it was begun: what was promised is what is given.
  title text NOT NULL,
  method text NOT NULL CHECK (method IN ('public_content_ai', 'social_follow_review')),
  target_url text,
  micros bigint NOT NULL CHECK (micros > 0),
  credits_days integer,
  -- What has to stand in the content; null: nothing.
  challenge_code text UNIQUE,
  state text NOT NULL DEFAULT 'draft'
    CHECK (state IN ('draft', 'verifying', 'needs_review', 'approved', 'rejected')),
  evidences integer NOT NULL DEFAULT 0 CHECK (evidences BETWEEN 0 AND 3),
  evidence_url text,
  evidence_notes text,
  -- New with each evidence: what a model is asked follows from it, and nobody can guess it.
  nonce uuid,
  -- The page as it was found, without what does not name it.
  page_url text,
  -- Of its words, as 64 bits.
  page_print bigint,
  -- Pages that were tried to fetch, and processes that began.
  fetches integer NOT NULL DEFAULT 0,
  starts integer NOT NULL DEFAULT 0,
  next_at timestamptz,
  epoch bigint NOT NULL DEFAULT 0,
  lease_until timestamptz NOT NULL DEFAULT now(),
  confidence double precision CHECK (confidence BETWEEN 0 AND 1),
  summary text,
  checks jsonb,
  review_notes text,
  reviewed_by text,
  reviewed_at timestamptz,
  -- It will be approved: nothing else becomes of it.
  claimed_at timestamptz,
  -- Set by the ledger's statement, which approves it.
  granted_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, task),
  CONSTRAINT reward_granted CHECK ((state = 'approved') = (granted_at IS NOT NULL)),
  CONSTRAINT reward_claimed CHECK (
    claimed_at IS NULL OR state IN ('verifying', 'needs_review', 'approved')),
  CONSTRAINT reward_evidence CHECK ((state = 'draft') = (evidences = 0))
);
-- A page wins once.
CREATE UNIQUE INDEX reward_submissions_page ON reward_submissions (page_url)
  WHERE page_url IS NOT NULL AND state IN ('verifying', 'needs_review', 'approved');
CREATE INDEX reward_submissions_open ON reward_submissions (next_at)
  WHERE state = 'verifying' AND claimed_at IS NULL;
CREATE INDEX reward_submissions_claimed ON reward_submissions (claimed_at)
  WHERE claimed_at IS NOT NULL AND granted_at IS NULL;
CREATE INDEX reward_submissions_review ON reward_submissions (state, updated_at, id);
CREATE INDEX reward_submissions_newest ON reward_submissions (created_at, id);

-- Near an approved text: of two prints that differ in 3 bits at most, one of four parts is equal.
CREATE TABLE reward_prints (
  part smallint NOT NULL CHECK (part BETWEEN 0 AND 3),
  bits integer NOT NULL,
  submission_id uuid NOT NULL,
  print bigint NOT NULL,
  PRIMARY KEY (part, bits, submission_id)
);

-- What is given without an administrator, by UTC day.
CREATE TABLE reward_days (
  day date PRIMARY KEY,
  micros bigint NOT NULL CHECK (micros >= 0)
);

-- Tries of an account within an hour.
CREATE TABLE promotion_tries (
  account_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('code', 'evidence')),
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX promotion_tries_account ON promotion_tries (account_id, kind, at);
CREATE INDEX promotion_tries_age ON promotion_tries (at);

-- The settings of billing: nothing is invoiced, and an administrator looks at all evidence.
INSERT INTO billing (name, definition) VALUES
  ('settings', '{"name": "settings", "seller": null, "referral": null, "rewards": null}');
