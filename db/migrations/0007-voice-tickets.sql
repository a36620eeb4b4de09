-- Tickets of browsers that were used: each admits one voice connection. The row is made when it is
-- redeemed, so that handing tickets out writes nothing, and forgotten when it has expired.
CREATE TABLE voice_tickets (
  id text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX voice_tickets_expiry ON voice_tickets (expires_at);
