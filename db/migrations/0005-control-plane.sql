-- What administrators need: one role an account, accounts that can be disabled, an audit trail that
-- can be searched, and catalog records that know where they came from.

ALTER TABLE accounts
  ADD COLUMN disabled_at timestamptz,
  ADD COLUMN revision integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

-- To administer was a right of a session: such a session gets an account with the role, so that
-- the role is the only place where it stands.
CREATE TEMPORARY TABLE raised ON COMMIT DROP AS
  SELECT s.token_hash, s.created_at,
    lpad(to_hex((extract(epoch FROM s.created_at) * 1000)::bigint), 12, '0') || '00'
      || left(encode(s.token_hash, 'hex'), 10) AS suffix
  FROM sessions s JOIN accounts a ON a.id = s.account_id
  WHERE s.admin AND a.role <> 'admin';
INSERT INTO accounts (id, role, created_at)
  SELECT 'acc_' || suffix, 'admin', created_at FROM raised;
INSERT INTO wallets (id, account_id) SELECT 'wal_' || suffix, 'acc_' || suffix FROM raised;
UPDATE sessions s SET account_id = 'acc_' || r.suffix FROM raised r
  WHERE s.token_hash = r.token_hash;
ALTER TABLE sessions DROP COLUMN admin;

-- Names what a repeated request repeats: its event is written once.
ALTER TABLE audit_events ADD COLUMN operation_id text UNIQUE;
CREATE INDEX audit_events_actor ON audit_events (actor, id);
CREATE INDEX audit_events_action ON audit_events (action, id);
CREATE INDEX audit_events_subject ON audit_events (subject, id);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit events do not change' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_unchanged BEFORE UPDATE OR TRUNCATE ON audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- The journal of one wallet is read by time. A block range index costs the hot path next to
-- nothing, which a tree over wallet and time would not.
CREATE INDEX ledger_at ON ledger USING brin (at) WITH (pages_per_range = 32, autosummarize = on);

-- `declared`: the configuration named it when it was last applied.
ALTER TABLE providers ADD COLUMN declared boolean NOT NULL DEFAULT false,
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE models ADD COLUMN declared boolean NOT NULL DEFAULT false,
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE prices ADD COLUMN declared boolean NOT NULL DEFAULT false,
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE routes ADD COLUMN declared boolean NOT NULL DEFAULT false,
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE packages ADD COLUMN declared boolean NOT NULL DEFAULT false,
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE surfaces ADD COLUMN declared boolean NOT NULL DEFAULT false,
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
