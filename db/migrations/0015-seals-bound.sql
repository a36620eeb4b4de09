-- Since when what clients carry for providers is sealed for their account. The seals before, which
-- are bound to nobody, are taken for a while from then on. One row.
CREATE TABLE seals (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  bound_since timestamptz NOT NULL DEFAULT now()
);
INSERT INTO seals DEFAULT VALUES;
