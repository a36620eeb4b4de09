-- The audit of an organization: a chain of records whose links are the leaves of an RFC 6962 tree.
-- Records go by age; links and checkpoints stay, so that old proofs stay good.

CREATE TABLE organization_audit_heads (
  organization_id integer PRIMARY KEY REFERENCES organizations (id),
  -- Of its checkpoints, for ever.
  origin text NOT NULL,
  -- The last record, its link and its time.
  seq bigint NOT NULL DEFAULT 0,
  link bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
  at timestamptz NOT NULL DEFAULT to_timestamp(0),
  -- The right edge: hashes of the largest perfect subtrees, in the order of their leaves.
  edge bytea NOT NULL DEFAULT '',
  -- The newest checkpoint.
  checkpoint_size bigint NOT NULL DEFAULT 0,
  checkpoint_at timestamptz NOT NULL DEFAULT now(),
  -- Records up to this one are gone.
  pruned_through bigint NOT NULL DEFAULT 0,
  CONSTRAINT audit_head_edge CHECK (octet_length(edge) = 32 * bit_count(seq::bit(64))),
  CONSTRAINT audit_head_pruned CHECK (pruned_through BETWEEN 0 AND greatest(seq - 1, 0))
) WITH (fillfactor = 50);

CREATE TABLE organization_audit_records (
  organization_id integer NOT NULL,
  seq bigint NOT NULL,
  at timestamptz NOT NULL,
  -- Canonical JSON (RFC 8785), as it is hashed.
  record text NOT NULL,
  -- SHA-256 of a zero byte and the record: the leaf of RFC 6962.
  link bytea NOT NULL CHECK (octet_length(link) = 32),
  -- Beside the record, which has their hash; blanked when a person is erased.
  details text,
  salt bytea CHECK (octet_length(salt) = 16),
  address text,
  -- What the record says, for filters and for erasing.
  actor_id text NOT NULL,
  action text NOT NULL,
  target_id text NOT NULL,
  PRIMARY KEY (organization_id, seq),
  CONSTRAINT audit_record_details CHECK ((details IS NULL) = (salt IS NULL))
);
CREATE INDEX organization_audit_records_actor
  ON organization_audit_records (actor_id, organization_id, seq);
CREATE INDEX organization_audit_records_target ON organization_audit_records (target_id);
CREATE INDEX organization_audit_records_address ON organization_audit_records (address)
  WHERE address IS NOT NULL;
CREATE INDEX organization_audit_records_action
  ON organization_audit_records (organization_id, action, seq);
CREATE INDEX organization_audit_records_at ON organization_audit_records (organization_id, at);

-- The links of 256 records each, from the record `tile * 256 + 1` on. The last one is not complete:
-- it has the links of records that are gone.
CREATE TABLE organization_audit_tiles (
  organization_id integer NOT NULL,
  tile bigint NOT NULL,
  links bytea NOT NULL CHECK (octet_length(links) BETWEEN 32 AND 8192),
  -- Of the perfect subtree, once the tile is complete.
  root bytea,
  PRIMARY KEY (organization_id, tile),
  CONSTRAINT audit_tile_root CHECK ((root IS NOT NULL) = (octet_length(links) = 8192))
);

CREATE TABLE organization_audit_checkpoints (
  organization_id integer NOT NULL,
  size bigint NOT NULL CHECK (size > 0),
  root bytea NOT NULL,
  -- The signed note.
  note text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, size)
);

CREATE TABLE organization_audit_keys (
  organization_id integer NOT NULL,
  -- As notes name it: 8 hex characters.
  key_hash text NOT NULL,
  -- The verifier key.
  vkey text NOT NULL,
  -- The seed, sealed under the master key that is named.
  sealed bytea NOT NULL,
  sealed_key_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Since when a newer key signs; this one signs beside it for a while.
  replaced_at timestamptz,
  PRIMARY KEY (organization_id, key_hash)
);

-- What was pruned, by the record that says so.
CREATE TABLE organization_audit_anchors (
  organization_id integer NOT NULL,
  seq bigint NOT NULL,
  pruned_through bigint NOT NULL,
  -- The transaction that wrote it: this one alone may delete what it covers.
  written_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (organization_id, seq)
);

CREATE FUNCTION refuse_organization_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: an audit is kept as it was written', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER checkpoints_unchanged BEFORE UPDATE OR DELETE ON organization_audit_checkpoints
  FOR EACH ROW EXECUTE FUNCTION refuse_organization_audit_change();
CREATE TRIGGER anchors_unchanged BEFORE UPDATE OR DELETE ON organization_audit_anchors
  FOR EACH ROW EXECUTE FUNCTION refuse_organization_audit_change();
CREATE TRIGGER tiles_stay BEFORE DELETE ON organization_audit_tiles
  FOR EACH ROW EXECUTE FUNCTION refuse_organization_audit_change();
CREATE TRIGGER keys_stay BEFORE DELETE ON organization_audit_keys
  FOR EACH ROW EXECUTE FUNCTION refuse_organization_audit_change();
CREATE TRIGGER heads_stay BEFORE DELETE ON organization_audit_heads
  FOR EACH ROW EXECUTE FUNCTION refuse_organization_audit_change();
CREATE TRIGGER records_stay BEFORE TRUNCATE ON organization_audit_records
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_organization_audit_change();
CREATE TRIGGER checkpoints_stay BEFORE TRUNCATE ON organization_audit_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_organization_audit_change();
CREATE TRIGGER tiles_kept BEFORE TRUNCATE ON organization_audit_tiles
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_organization_audit_change();

-- A tile may grow, no more.
CREATE TRIGGER tiles_grow BEFORE UPDATE ON organization_audit_tiles FOR EACH ROW
  WHEN (NEW.organization_id <> OLD.organization_id OR NEW.tile <> OLD.tile
    OR OLD.root IS NOT NULL
    OR substr(NEW.links, 1, octet_length(OLD.links)) <> OLD.links)
  EXECUTE FUNCTION refuse_organization_audit_change();

-- Details may be blanked, with all that comes of them; nothing else of a record changes.
CREATE TRIGGER records_unchanged BEFORE UPDATE ON organization_audit_records FOR EACH ROW
  WHEN (NEW.details IS NOT NULL OR NEW.address IS NOT NULL
    OR (NEW.organization_id, NEW.seq, NEW.at, NEW.record, NEW.link, NEW.actor_id, NEW.action,
        NEW.target_id)
      IS DISTINCT FROM (OLD.organization_id, OLD.seq, OLD.at, OLD.record, OLD.link,
        OLD.actor_id, OLD.action, OLD.target_id))
  EXECUTE FUNCTION refuse_organization_audit_change();

-- An anchor is of a record that says so, and of this transaction.
CREATE FUNCTION check_audit_anchor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.written_in := pg_current_xact_id();
  PERFORM FROM organization_audit_records r
    WHERE r.organization_id = NEW.organization_id AND r.seq = NEW.seq
      AND r.action = 'audit.anchor' AND NEW.pruned_through < NEW.seq
      AND (r.details::jsonb ->> 'pruned_through')::bigint = NEW.pruned_through;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'an anchor needs its record' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER anchors_recorded BEFORE INSERT ON organization_audit_anchors
  FOR EACH ROW EXECUTE FUNCTION check_audit_anchor();

-- Once for all rows of a delete: the newest of them is covered, so the others are.
CREATE FUNCTION check_audit_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM (SELECT organization_id, max(seq) AS seq FROM gone GROUP BY organization_id) g
    WHERE NOT EXISTS (
      SELECT FROM organization_audit_anchors a
      WHERE a.organization_id = g.organization_id AND a.pruned_through >= g.seq
        AND a.written_in = pg_current_xact_id());
  IF FOUND THEN
    RAISE EXCEPTION 'records go only under an anchor of the same transaction'
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER records_anchored AFTER DELETE ON organization_audit_records
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION check_audit_delete();

-- Keeps the links of one tile up to a record that is its last, or is about to go.
CREATE FUNCTION keep_audit_links(
  of_organization integer, of_tile bigint, through bigint, tile_root bytea
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO organization_audit_tiles AS t (organization_id, tile, links, root)
  SELECT of_organization, of_tile,
    coalesce(k.links, '') || string_agg(r.link, ''::bytea ORDER BY r.seq), tile_root
  FROM (VALUES (0)) one
  LEFT JOIN organization_audit_tiles k ON k.organization_id = of_organization
    AND k.tile = of_tile
  JOIN organization_audit_records r ON r.organization_id = of_organization
    AND r.seq > of_tile * 256 + coalesce(octet_length(k.links), 0) / 32 AND r.seq <= through
  GROUP BY k.links
  ON CONFLICT (organization_id, tile) DO UPDATE SET links = excluded.links, root = excluded.root
$$;

-- Appends records in the transaction of their act. Arrays have one element a record. The text of a
-- record is put together of its parts and of what only the head knows: time, link before, place.
CREATE FUNCTION append_organization_audit(
  of_organization integer,
  before_at text[], before_prev text[], before_seq text[], after_seq text[],
  actor_ids text[], actions text[], target_ids text[], addresses text[],
  details_texts text[], salts text[]
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  head organization_audit_heads%ROWTYPE;
  at_text text;
  texts text[] := '{}';
  links bytea[] := '{}';
  first_seq bigint;
  node bytea;
  left_of bigint;
  height integer;
  tile_roots bytea[] := '{}';
  tile_ends bigint[] := '{}';
BEGIN
  SELECT * INTO head FROM organization_audit_heads
    WHERE organization_id = of_organization FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'organization % has no audit', of_organization
      USING ERRCODE = 'foreign_key_violation';
  END IF;
  first_seq := head.seq + 1;
  -- A clock that was set back does not turn the order round.
  head.at := greatest(date_trunc('milliseconds', clock_timestamp()), head.at);
  at_text := to_char(head.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  FOR i IN 1 .. cardinality(before_at) LOOP
    head.seq := head.seq + 1;
    texts[i] := before_at[i] || at_text || before_prev[i] || encode(head.link, 'hex')
      || before_seq[i] || head.seq || after_seq[i];
    head.link := sha256('\x00'::bytea || convert_to(texts[i], 'UTF8'));
    links[i] := head.link;
    node := head.link;
    left_of := head.seq - 1;
    height := 0;
    -- Two perfect subtrees of one height become one of the next.
    WHILE left_of & 1 = 1 LOOP
      node := sha256('\x01'::bytea || substr(head.edge, octet_length(head.edge) - 31) || node);
      head.edge := substr(head.edge, 1, octet_length(head.edge) - 32);
      left_of := left_of >> 1;
      height := height + 1;
      IF height = 8 THEN
        tile_roots := tile_roots || node;
        tile_ends := tile_ends || head.seq;
      END IF;
    END LOOP;
    head.edge := head.edge || node;
  END LOOP;
  INSERT INTO organization_audit_records (organization_id, seq, at, record, link, details, salt,
    address, actor_id, action, target_id)
  SELECT of_organization, first_seq + r.place - 1, head.at, r.record, r.link, r.details,
    decode(r.salt, 'hex'), r.address, r.actor_id, r.action, r.target_id
  FROM unnest(texts, links, details_texts, salts, addresses, actor_ids, actions, target_ids)
    WITH ORDINALITY
    AS r (record, link, details, salt, address, actor_id, action, target_id, place);
  FOR i IN 1 .. cardinality(tile_ends) LOOP
    PERFORM keep_audit_links(
      of_organization, (tile_ends[i] - 1) / 256, tile_ends[i], tile_roots[i]);
  END LOOP;
  UPDATE organization_audit_heads
    SET seq = head.seq, link = head.link, at = head.at, edge = head.edge
    WHERE organization_id = of_organization;
  RETURN head.seq;
END $$;
