-- Voice sessions: made with their hold, ended with its settlement. What the provider has reported
-- so far is written now and then, so that a session whose process died is charged for that.

CREATE TABLE voice_sessions (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  wallet_id text NOT NULL,
  api_key_id text,
  model text NOT NULL,
  voice_id text NOT NULL,
  instance_id text NOT NULL,
  hold_id text NOT NULL,
  state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'ended')),
  -- Why it ended, as the client was told, or `recovered`.
  reason text,
  -- Where the usage comes from; null while it lives.
  source text CHECK (source IN ('reported', 'estimated', 'none')),
  input_speech_tokens bigint NOT NULL DEFAULT 0 CHECK (input_speech_tokens >= 0),
  input_text_tokens bigint NOT NULL DEFAULT 0 CHECK (input_text_tokens >= 0),
  output_speech_tokens bigint NOT NULL DEFAULT 0 CHECK (output_speech_tokens >= 0),
  output_text_tokens bigint NOT NULL DEFAULT 0 CHECK (output_text_tokens >= 0),
  search_calls bigint NOT NULL DEFAULT 0 CHECK (search_calls >= 0),
  -- What the usage so far costs, with the provider's part of it.
  due_micros bigint NOT NULL DEFAULT 0 CHECK (due_micros >= due_provider_micros),
  due_provider_micros bigint NOT NULL DEFAULT 0 CHECK (due_provider_micros >= 0),
  -- What was settled; null: nothing was.
  charge_micros bigint CHECK (charge_micros >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  CONSTRAINT voice_session_ended CHECK ((state = 'ended') = (ended_at IS NOT NULL))
) WITH (fillfactor = 60);
CREATE INDEX voice_sessions_account ON voice_sessions (account_id, id);
CREATE INDEX voice_sessions_live ON voice_sessions (id) WHERE state = 'live';
