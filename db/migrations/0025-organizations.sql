-- Organizations: who belongs to them, who pays, and what their settings are. A membership is an
-- account of its own: what is scoped to an account is so apart by context.

ALTER TABLE accounts
  -- Of a membership: whose it is.
  ADD COLUMN person_id text REFERENCES accounts (id),
  -- Of a membership, and of an organization's own account.
  ADD COLUMN organization_id integer,
  -- Of a person: the context of requests that name none.
  ADD COLUMN default_organization_id integer,
  DROP CONSTRAINT accounts_kind_check,
  ADD CONSTRAINT accounts_kind_check
    CHECK (kind IN ('person', 'house', 'member', 'organization')),
  ADD CONSTRAINT account_context CHECK (
    (kind = 'member') = (person_id IS NOT NULL)
    AND (kind IN ('member', 'organization')) = (organization_id IS NOT NULL)
    AND (kind = 'person' OR default_organization_id IS NULL)
    AND (kind IN ('person', 'house') OR (role = 'user' AND email IS NULL)));
CREATE UNIQUE INDEX accounts_membership ON accounts (person_id, organization_id)
  WHERE kind = 'member';
CREATE UNIQUE INDEX accounts_organization ON accounts (organization_id)
  WHERE kind = 'organization';

CREATE TABLE organizations (
  -- Random, from 100,000: a number says nothing about how many there are.
  id integer PRIMARY KEY CHECK (id >= 100000),
  -- Its own account, which owns its wallet and its keys.
  account_id text NOT NULL UNIQUE REFERENCES accounts (id),
  wallet_id text NOT NULL UNIQUE REFERENCES wallets (id),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 120),
  slug text UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{1,39}$'),
  -- The canonical owner; null once that person is erased.
  owner_user_id text REFERENCES accounts (id),
  billing_user_id text REFERENCES accounts (id),
  allowed_domain text,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'closed')),
  -- What an operator suspended, an operator activates.
  suspended_by text CHECK (suspended_by IN ('owner', 'operator')),
  closed_at timestamptz,
  -- Since when nothing of its content is left.
  erased_at timestamptz,
  -- Members and pending invitations.
  seats_taken integer NOT NULL DEFAULT 1,
  seat_limit integer NOT NULL CHECK (seat_limit >= 1),
  -- What differs from the defaults.
  settings jsonb NOT NULL DEFAULT '{}',
  settings_revision bigint NOT NULL DEFAULT 1,
  revision integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT organization_seats CHECK (seats_taken BETWEEN 0 AND seat_limit),
  CONSTRAINT organization_suspended CHECK ((status = 'suspended') = (suspended_by IS NOT NULL)),
  CONSTRAINT organization_closed CHECK ((status = 'closed') = (closed_at IS NOT NULL)),
  CONSTRAINT organization_erased CHECK (erased_at IS NULL OR closed_at IS NOT NULL)
);
CREATE INDEX organizations_owner ON organizations (owner_user_id);
CREATE INDEX organizations_closed ON organizations (closed_at)
  WHERE closed_at IS NOT NULL AND erased_at IS NULL;
ALTER TABLE accounts
  ADD FOREIGN KEY (organization_id) REFERENCES organizations (id) DEFERRABLE INITIALLY DEFERRED,
  ADD FOREIGN KEY (default_organization_id) REFERENCES organizations (id);

CREATE TABLE organization_members (
  organization_id integer NOT NULL REFERENCES organizations (id),
  -- The person.
  user_id text NOT NULL REFERENCES accounts (id),
  -- The membership's account.
  account_id text NOT NULL UNIQUE REFERENCES accounts (id),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'billing', 'manager', 'member')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'removed', 'left')),
  managed_by text NOT NULL DEFAULT 'manual'
    CHECK (managed_by IN ('manual', 'domain', 'sso', 'scim')),
  -- Its own monthly cap; null: the organization's default for members.
  cap_micros bigint CHECK (cap_micros >= 0),
  joined_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- Since when nothing private of the membership is left.
  erased_at timestamptz,
  PRIMARY KEY (organization_id, user_id),
  CONSTRAINT member_ended CHECK ((status = 'active') = (ended_at IS NULL)),
  CONSTRAINT member_erased CHECK (erased_at IS NULL OR ended_at IS NOT NULL)
);
CREATE INDEX organization_members_user ON organization_members (user_id)
  WHERE status = 'active';
CREATE INDEX organization_members_ended ON organization_members (ended_at)
  WHERE ended_at IS NOT NULL AND erased_at IS NULL;

-- They carry no secret: whoever proved the address accepts.
CREATE TABLE organization_invitations (
  id text PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id),
  email text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'billing', 'manager', 'member')),
  group_ids text[] NOT NULL DEFAULT '{}',
  cap_micros bigint CHECK (cap_micros >= 0),
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'accepted', 'declined', 'revoked', 'expired')),
  -- The person who sent it.
  invited_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  CONSTRAINT invitation_ended CHECK ((status = 'pending') = (ended_at IS NULL))
);
CREATE UNIQUE INDEX organization_invitations_pending
  ON organization_invitations (organization_id, email) WHERE status = 'pending';
CREATE INDEX organization_invitations_newest ON organization_invitations (organization_id, id);
CREATE INDEX organization_invitations_address ON organization_invitations (email)
  WHERE status = 'pending';
CREATE INDEX organization_invitations_expiry ON organization_invitations (expires_at)
  WHERE status = 'pending';

CREATE TABLE organization_groups (
  id text PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 60),
  revision integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, name)
);
CREATE TABLE organization_group_members (
  group_id text NOT NULL REFERENCES organization_groups (id) ON DELETE CASCADE,
  user_id text NOT NULL,
  PRIMARY KEY (group_id, user_id)
);
CREATE INDEX organization_group_members_user ON organization_group_members (user_id);

-- What new organizations get, and who may make them: one record, as the settings of identity.
CREATE TABLE organization_defaults (
  LIKE models INCLUDING ALL,
  CONSTRAINT organization_defaults_is_one CHECK (name = 'settings')
);
INSERT INTO organization_defaults (name, definition) VALUES ('settings', '{
  "name": "settings", "creation": "users", "seat_limit": 25}');
