-- What was used, added up: by quarters of an hour, and over them by days. All of it follows from
-- the rows that were charged, and counts a request where its id says that it began, in UTC.

CREATE TABLE usage_quarters (
  wallet_id text NOT NULL,
  -- The quarter's first moment.
  at timestamptz NOT NULL,
  account_id text NOT NULL,
  -- Empty: it was no key's.
  api_key_id text NOT NULL,
  kind text NOT NULL,
  model text NOT NULL,
  -- Empty where the row does not say it.
  provider text NOT NULL,
  -- All that ended; those of them that failed; those that were settled.
  requests bigint NOT NULL,
  failed bigint NOT NULL,
  settled bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  search_calls bigint NOT NULL,
  milliseconds bigint NOT NULL,
  characters bigint NOT NULL,
  charge_micros bigint NOT NULL,
  PRIMARY KEY (wallet_id, at, account_id, api_key_id, kind, model, provider)
) WITH (fillfactor = 80);
CREATE INDEX usage_quarters_at ON usage_quarters (at);

CREATE TABLE usage_days (
  wallet_id text NOT NULL,
  day date NOT NULL,
  account_id text NOT NULL,
  api_key_id text NOT NULL,
  kind text NOT NULL,
  model text NOT NULL,
  requests bigint NOT NULL,
  failed bigint NOT NULL,
  settled bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  search_calls bigint NOT NULL,
  milliseconds bigint NOT NULL,
  characters bigint NOT NULL,
  charge_micros bigint NOT NULL,
  PRIMARY KEY (wallet_id, day, account_id, api_key_id, kind, model)
);

-- Which rows of a kind of holder the quarters have: ids from `since_id`, below `until_id`.
CREATE TABLE usage_progress (
  holder text PRIMARY KEY,
  since_id text NOT NULL,
  until_id text NOT NULL
);

-- Which quarters the days have, and up to when they were compared. Whoever writes any of these
-- tables counts `turn` up first: two never do so from what both have seen.
CREATE TABLE usage_state (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  turn bigint NOT NULL DEFAULT 0,
  closed_from timestamptz NOT NULL,
  closed_until timestamptz NOT NULL,
  repaired_until timestamptz NOT NULL
);

-- Charged after they had ended: the quarters may have them as they were before.
CREATE TABLE usage_late (
  wallet_id text NOT NULL,
  id text NOT NULL,
  PRIMARY KEY (wallet_id, id)
);

-- Counting begins here, with what began after all that still runs; old rows are added backwards.
INSERT INTO usage_progress (holder, since_id, until_id)
  SELECT h.holder, f.id, f.id
  FROM (VALUES ('generation', 'req_'), ('voice_session', 'vs_'), ('video_job', 'vjob_'))
      AS h (holder, prefix),
    LATERAL (SELECT least(
      h.prefix || lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - 60000), 12, '0'),
      (SELECT min(o.owner_id) FROM holds o
        WHERE o.claimed AND o.owner_kind = h.holder)) AS id) AS f;
INSERT INTO usage_state (closed_from, closed_until, repaired_until)
  SELECT t.today, t.today, t.today FROM (SELECT date_trunc('day', now(), 'UTC') AS today) AS t;
