-- Domains that organizations claim and prove by a TXT record. A claim blocks nobody; of those that
-- are proved, one organization has each.

CREATE TABLE organization_domains (
  organization_id integer NOT NULL REFERENCES organizations (id),
  -- In ASCII (IDNA), small letters. It leaves room for the name of the record in front of it.
  domain text NOT NULL CHECK (
    domain ~ '^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$' AND char_length(domain) <= 238),
  -- What the record has to say: 32 bytes as base64url.
  token text NOT NULL CHECK (token ~ '^[A-Za-z0-9_-]{43}$'),
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'expired', 'verified', 'failing', 'lapsed')),
  revision integer NOT NULL DEFAULT 1,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  -- Until when the claim can be proved.
  expires_at timestamptz NOT NULL,
  verified_at timestamptz,
  -- Since when answers come without the record.
  failing_at timestamptz,
  -- When servers were last asked, and what they said together.
  checked_at timestamptz,
  last_answer text CHECK (last_answer IN ('found', 'absent', 'unknown')),
  PRIMARY KEY (organization_id, domain),
  CONSTRAINT domain_verified CHECK ((status IN ('pending', 'expired')) = (verified_at IS NULL)),
  CONSTRAINT domain_failing CHECK ((status IN ('failing', 'lapsed')) = (failing_at IS NOT NULL)),
  CONSTRAINT domain_checked CHECK ((checked_at IS NULL) = (last_answer IS NULL))
);
CREATE UNIQUE INDEX organization_domains_verified ON organization_domains (domain)
  WHERE status IN ('verified', 'failing');
CREATE INDEX organization_domains_claims ON organization_domains (expires_at)
  WHERE status = 'pending';

-- What members asked for within the hour.
CREATE TABLE organization_domain_checks (
  organization_id integer NOT NULL REFERENCES organizations (id),
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX organization_domain_checks_at ON organization_domain_checks (organization_id, at);
