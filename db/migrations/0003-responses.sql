-- Stored responses (POST /v1/responses with `store`): what the client sent, beside its generation,
-- which has the answer. The public id is the generation's under another prefix. No foreign keys:
-- the row is written while the generation's own is on its way, and means nothing without it.

CREATE TABLE responses (
  generation_id text PRIMARY KEY,
  account_id text NOT NULL,
  -- The generation of the response that this one continues.
  previous_id text,
  background boolean NOT NULL,
  -- JSON as it came: the request without its input, and the input. Empty when deleted.
  request text NOT NULL,
  input text NOT NULL,
  input_bytes integer NOT NULL CHECK (input_bytes >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Until then it can be read and continued.
  expires_at timestamptz NOT NULL,
  -- When the sweep looks at it again: what others continue is kept for them.
  kept_until timestamptz NOT NULL,
  -- Deleted by its owner; the row stays, so that a late writer cannot bring it back.
  deleted_at timestamptz
);
CREATE INDEX responses_previous ON responses (previous_id) WHERE previous_id IS NOT NULL;
CREATE INDEX responses_kept ON responses (kept_until);
