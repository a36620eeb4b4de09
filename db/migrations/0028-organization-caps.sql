-- Wallets of organizations count: what all spend, and what each account does, by month. Their caps
-- and counters are read with them.

UPDATE wallets SET counts = true WHERE type = 'organization';
ALTER TABLE wallets ADD CONSTRAINT organization_counts CHECK (type <> 'organization' OR counts);

ALTER TABLE spend
  -- What a key had settled and held of other wallets when this one began to pay for it.
  ADD COLUMN brought_micros bigint NOT NULL DEFAULT 0
    CONSTRAINT spend_brought CHECK (brought_micros BETWEEN 0 AND spent_micros);

-- Who pays where the wallet of the organization refuses; null: nobody.
ALTER TABLE video_analyses ADD COLUMN fallback_wallet_id text;
