-- Batches of a wallet overlap: one is decided while the one before it is being written. What it was
-- decided on must not be mistaken for what somebody else has written meanwhile.
COMMENT ON COLUMN wallets.version IS
  'Names the last write, unlike every other: a batch that was decided on another is not written.';
