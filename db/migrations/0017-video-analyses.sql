-- Analyses of videos. They hold no money themselves: the generation under `analysis:<id>` does.
-- What people and models said is JSON text, which may have any character.

CREATE TABLE video_analyses (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  wallet_id text NOT NULL,
  api_key_id text,
  -- The caller's idempotency key, or one of ours.
  request_id text NOT NULL,
  -- Whether that still names this analysis.
  keyed boolean NOT NULL DEFAULT true,
  fingerprint text NOT NULL,
  source_url text NOT NULL,
  -- The generated video that it names; null: a URL of the web.
  video_id text,
  model text NOT NULL,
  prompt text,
  start_seconds double precision,
  end_seconds double precision,
  frames_max integer NOT NULL,
  status text NOT NULL DEFAULT 'queued'
    CHECK (status IN ('queued', 'running', 'completed', 'failed')),
  -- Who works on it: a write of an older epoch changes nothing.
  epoch bigint NOT NULL DEFAULT 0,
  lease_until timestamptz NOT NULL DEFAULT now(),
  -- When it was last chosen: accounts take turns by it.
  taken_at timestamptz,
  progress integer NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
  -- What the source is and which frames were taken, before the model is asked.
  source text,
  result text,
  -- `svc_usage` of what was charged.
  usage text,
  error_code text,
  error_message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  running_at timestamptz,
  completed_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT video_analysis_final CHECK (
    (status IN ('completed', 'failed')) = (completed_at IS NOT NULL)),
  CONSTRAINT video_analysis_result CHECK ((status = 'completed') = (result IS NOT NULL)),
  CONSTRAINT video_analysis_error CHECK ((status = 'failed') = (error_code IS NOT NULL))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX video_analyses_request ON video_analyses (account_id, request_id) WHERE keyed;
CREATE INDEX video_analyses_open ON video_analyses (account_id, id) WHERE completed_at IS NULL;
CREATE INDEX video_analyses_turns ON video_analyses (account_id, taken_at)
  WHERE taken_at IS NOT NULL;
CREATE INDEX video_analyses_kept ON video_analyses (completed_at) WHERE completed_at IS NOT NULL;
