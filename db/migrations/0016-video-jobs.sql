-- Video jobs: made with their hold, moved on by whoever has the epoch, ended with the settlement.
-- The videos that they made are rows of their own: those can be removed.

CREATE TABLE video_jobs (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  wallet_id text NOT NULL,
  api_key_id text,
  -- The caller's idempotency key, or one of ours.
  request_id text NOT NULL,
  -- Whether that still names this job.
  keyed boolean NOT NULL DEFAULT true,
  fingerprint text NOT NULL,
  conversation_id text,
  hold_id text NOT NULL,
  instance_id text NOT NULL,
  -- What was asked for, with the defaults filled in.
  prompt text NOT NULL,
  duration_seconds integer NOT NULL,
  aspect_ratio text NOT NULL,
  resolution text NOT NULL,
  generate_audio boolean NOT NULL,
  seed bigint,
  -- Who may make it, in order, each with its price: settled is that of the one that did.
  candidates jsonb NOT NULL,
  status text NOT NULL DEFAULT 'queued'
    CHECK (status IN ('queued', 'submitting', 'running', 'succeeded', 'failed', 'cancelled')),
  -- Who works on it: a write of an older epoch changes nothing.
  epoch bigint NOT NULL DEFAULT 0,
  lease_until timestamptz NOT NULL DEFAULT now(),
  -- The candidate of the submission, from 0, and whether its outcome is open.
  candidate integer,
  attempt_open boolean NOT NULL DEFAULT false,
  -- The provider that has a slot for it; null: none.
  slot_of text,
  provider text,
  upstream_id text,
  progress integer NOT NULL DEFAULT 0,
  usage jsonb,
  -- What the provider says that it cost, in ten-billionths of a dollar.
  cost_ticks bigint,
  -- The stored file with what was found in it, as JSON; null: it is not stored yet.
  file jsonb,
  video_id text,
  charge_micros bigint CHECK (charge_micros >= 0),
  error_code text,
  -- What an administrator gave as the reason.
  note text,
  created_at timestamptz NOT NULL DEFAULT now(),
  submitting_at timestamptz,
  attempt_at timestamptz,
  running_at timestamptz,
  finalizing_at timestamptz,
  stored_at timestamptz,
  completed_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- When its hold ends with it.
  deadline_at timestamptz NOT NULL,
  CONSTRAINT video_job_final CHECK (
    (status IN ('succeeded', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
  CONSTRAINT video_job_charged CHECK ((status = 'succeeded') = (charge_micros IS NOT NULL))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX video_jobs_request ON video_jobs (request_id, account_id) WHERE keyed;
CREATE INDEX video_jobs_account ON video_jobs (account_id, id);
CREATE INDEX video_jobs_open ON video_jobs (id)
  WHERE status IN ('queued', 'submitting', 'running');
CREATE INDEX video_jobs_slot ON video_jobs (slot_of) WHERE slot_of IS NOT NULL;
CREATE INDEX video_jobs_conversation ON video_jobs (account_id, conversation_id, id)
  WHERE conversation_id IS NOT NULL;

CREATE INDEX video_jobs_stored ON video_jobs ((file ->> 'blobId'))
  WHERE completed_at IS NULL AND file IS NOT NULL;

-- Epochs that are over: one row each, so that taking a job over and ending it exclude each other.
CREATE TABLE video_job_epochs (
  job_id text NOT NULL,
  epoch bigint NOT NULL,
  PRIMARY KEY (job_id, epoch)
);

CREATE TABLE generated_videos (
  id text PRIMARY KEY,
  job_id text NOT NULL,
  account_id text NOT NULL,
  -- Null: the file was removed.
  blob_id text,
  title text NOT NULL,
  mime_type text NOT NULL,
  duration_seconds integer NOT NULL,
  aspect_ratio text NOT NULL,
  resolution text NOT NULL,
  size_bytes bigint NOT NULL CHECK (size_bytes > 0),
  sha256 text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  removed_at timestamptz,
  CONSTRAINT generated_video_removed CHECK ((blob_id IS NULL) = (removed_at IS NOT NULL))
);
CREATE INDEX generated_videos_kept ON generated_videos (created_at) WHERE blob_id IS NOT NULL;
CREATE INDEX generated_videos_blob ON generated_videos (blob_id) WHERE blob_id IS NOT NULL;
