-- What the configuration said of each record of the catalog when it was last applied. A record of
-- which it says the same is left as administrators have made it, removed ones included: so this is
-- no part of the record's own row.
CREATE TABLE declarations (
  kind text NOT NULL CHECK (
    kind IN ('providers', 'models', 'prices', 'routes', 'packages', 'surfaces')
  ),
  name text NOT NULL,
  source text NOT NULL CHECK (source IN ('file', 'environment')),
  -- SHA-256 of what was written, without its credential. Null: an older build kept none.
  definition_hash text,
  -- Keyed: who reads the table cannot try guesses at the credential.
  credential_hash text,
  credential_key_id text,
  -- When an administrator's change began to stand against it.
  overruled_at timestamptz,
  PRIMARY KEY (kind, name),
  CONSTRAINT credential_complete CHECK ((credential_hash IS NULL) = (credential_key_id IS NULL))
);
-- Whether the last start kept its declarations: before the first one that does, the audit trail
-- tells what administrators have changed.
ALTER TABLE exchange_rate ADD COLUMN declarations_kept boolean NOT NULL DEFAULT false;
