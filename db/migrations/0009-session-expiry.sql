-- The sweep finds the sessions that have expired, as it does tickets.
CREATE INDEX sessions_expiry ON sessions (expires_at);
