-- Managed routes: which model a conversation had last, and how a generation's model was chosen.

CREATE TABLE conversations (
  account_id text NOT NULL,
  -- The client's own name for it.
  conversation_id text NOT NULL CHECK (length(conversation_id) BETWEEN 1 AND 160),
  route text NOT NULL,
  model text NOT NULL,
  -- To the hour: a turn that changes nothing else does not write.
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, conversation_id, route)
);
CREATE INDEX conversations_age ON conversations (updated_at);

-- `svc_routing`; null where the client named an exact model.
ALTER TABLE generations ADD COLUMN routing jsonb;
