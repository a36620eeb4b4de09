-- What a dollar was worth when the configuration was last applied, so that a plan can tell that it
-- moves. One row, once there was a start.
CREATE TABLE exchange_rate (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  credits_per_usd integer NOT NULL CHECK (credits_per_usd > 0)
);
